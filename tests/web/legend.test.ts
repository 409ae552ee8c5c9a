// What the worker says of colours: shares of the legend, and the slots of functions, calls and lanes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColourBy } from "../../clients/web/src/data/colour_keys";
import { OTHERS } from "../../clients/web/src/data/colour_slots";
import { weigh } from "../../clients/web/src/data/filter";
import { LANES_START } from "../../clients/web/src/data/layouts/lanes";
import type { Profile } from "../../clients/web/src/data/profile";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Look } from "../../clients/web/src/worker/messages";
import { functionOf, profileOf } from "./samples";

const ALL: Look = { filter: {}, transforms: [], group: "", unit: "samples" };

const legend = (profile: Profile, colour: ColourBy, look: Partial<Look> = {}) =>
  new Answers(profile).answer("legend", { ...ALL, ...look, colour });

const shares = ({ entries }: Awaited<ReturnType<typeof legend>>) =>
  Object.fromEntries(entries.map(({ key, self }) => [key, self]));

test("the legend has the self of each library, also of those that are filtered out by it", async () => {
  const profile = profileOf([
    { stack: "main libc.so!read", times: 3 },
    { stack: "main", times: 2, tid: 2 },
    { stack: "main libz.so!inflate libc.so!read" },
  ]);
  assert.deepEqual(shares(await legend(profile, "library")), { "libc.so": 4, app: 2, "libz.so": 0 });
  const filtered = await legend(profile, "library", { filter: { libraries: ["app"] } });
  assert.deepEqual(shares(filtered), { "libc.so": 4, app: 2, "libz.so": 0 });
  const thread = await legend(profile, "library", { filter: { threads: [2] } });
  assert.deepEqual(shares(thread), { app: 2 });
});

test("a selection changes no colour", async () => {
  const profile = profileOf([{ stack: "main libc.so!read", times: 3 }, { stack: "main", tid: 2 }]);
  const all = await legend(profile, "library");
  const part = await legend(profile, "library", { filter: { threads: [2] } });
  assert.deepEqual(part.slots, all.slots);
  assert.notEqual(all.slots[functionOf(profile, "main")], all.slots[functionOf(profile, "libc.so!read")]);
});

test("what is folded into its callers is theirs in the legend", async () => {
  const profile = profileOf([{ stack: "main libc.so!read", times: 3 }, "main"]);
  const folded = await legend(profile, "library", { transforms: [{ kind: "hide-system" }] });
  assert.deepEqual(shares(folded), { app: 4 });
  const { folded: told } = await new Answers(profile).answer("summary", ALL);
  assert.deepEqual(told["hide-system"], { samples: 3, time_ns: 3e6 });
});

test("a call has the colour of the thread that has most of it, also in groups", async () => {
  const profile = profileOf([
    { stack: "main a", times: 3, tid: 1 },
    { stack: "main b", times: 2, tid: 2 },
    { stack: "main a", times: 2, tid: 2 },
  ]);
  const { entries } = await legend(profile, "thread");
  const slot = (tid: number) => entries.find(({ key }) => key === String(tid))!.slot;
  assert.notEqual(slot(1), slot(2));
  const flame = async (group: Look["group"]) => {
    const args = { ...ALL, group, order: "name" as const, colour: "thread" as const };
    const boxes = await new Answers(profile).answer("flame", args);
    const name = (fn: number) => profile.functions[fn]?.name ?? "group";
    return Array.from(boxes.fn, (fn, box) => [name(fn), boxes.slots![box]]);
  };
  assert.deepEqual(await flame(""), [["main", slot(2)], ["a", slot(1)], ["b", slot(2)]]);
  assert.deepEqual(
    (await flame("thread")).map(([, of]) => of).sort(),
    [slot(1), slot(1), slot(1), slot(2), slot(2), slot(2), slot(2)].sort(),
  );
});

test("heat is one order from nothing to the hottest", async () => {
  const profile = profileOf([{ stack: "main hot", times: 96 }, { stack: "main warm", times: 4 }]);
  const { slots, hottest, entries } = await legend(profile, "heat");
  assert.deepEqual(entries, []);
  assert.equal(hottest, 96);
  const step = (name: string) => slots[functionOf(profile, name)];
  assert.deepEqual([step("main"), step("warm"), step("hot")], [0, 2, 6]);
});

test("each step of a lane has the colour of most that ran in it", async () => {
  const profile = profileOf([
    { stack: "main libc.so!read", times: 7 },
    { stack: "main", times: 3 },
    { stack: "main", times: 10 },
  ]);
  const answers = new Answers(profile);
  const args = { range_us: [0, 20_000] as [number, number], maxSteps: 2, maxLanes: 9, choice: LANES_START };
  const { lanes } = (await answers.answer("overview", args))!;
  const { slots } = await legend(profile, "library");
  const [libc, app] = ["libc.so!read", "main"].map((name) => slots[functionOf(profile, name)]);
  assert.deepEqual([...lanes[0].slots].slice(0, 2), [libc, app]);
  assert.ok(libc < OTHERS && app < OTHERS);
});

test("samples are filtered by the package and the kind of their leaf", () => {
  const profile = profileOf(["main area", "main sort", { stack: "main", times: 2 }]);
  Object.assign(profile.functions[functionOf(profile, "area")], { name: "geo::area" });
  Object.assign(profile.functions[functionOf(profile, "sort")], { name: "std::sort", kind: "Jit" });
  const count = (filter: Look["filter"]) => weigh(profile, filter).count;
  assert.equal(count({ packages: ["geo", "app"] }), 3);
  assert.equal(count({ kinds: ["JIT"] }), 1);
  assert.equal(count({ packages: ["geo"], kinds: ["JIT"] }), 0);
});
