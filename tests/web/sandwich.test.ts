// One function between its callers and its callees.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameRows } from "../../clients/web/src/data/layouts/flame_layout";
import type { Profile } from "../../clients/web/src/data/profile";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Look } from "../../clients/web/src/worker/messages";
import { functionOf, profileOf } from "./samples";

const ALL: Look = { filter: {}, transforms: [], group: "" };

/** Row by row: name@x+width. */
function told(profile: Profile, boxes: FlameRows): string[] {
  return [...boxes.rows.slice(0, -1)].map((start, row) => {
    const words = [];
    for (let box = start; box < boxes.rows[row + 1]; box++)
      words.push(`${profile.functions[boxes.fn[box]].name}@${boxes.x[box]}+${boxes.width[box]}`);
    return words.join(" ");
  });
}

const ask = (profile: Profile, fn: number, look: Partial<Look> = {}) =>
  new Answers(profile).answer("sandwich", { ...ALL, ...look, fn, order: "name" });

const CALLS = [
  "main a f",
  { stack: "main a f x", times: 2 },
  { stack: "main b f y", times: 3 },
  { stack: "main b z", times: 5 },
];

test("callers and callees of a function are both as wide as its total", async () => {
  const profile = profileOf(CALLS);
  const { callers, callees, self, total, whole } = await ask(profile, functionOf(profile, "f"));
  assert.deepEqual({ self, total, whole }, { self: 1, total: 6, whole: 11 });
  assert.deepEqual([callers.whole, callees.whole], [6, 6]);
  assert.deepEqual(told(profile, callers), ["a@0+3 b@3+3", "main@0+3 main@3+3"]);
  assert.deepEqual(told(profile, callees), ["x@0+2 y@2+3"]); // what is left is its own
  assert.equal(callers.self.length, 0);
});

test("a function that recurs counts once, and stands among its callees again", async () => {
  const profile = profileOf(["main f g f x", "main f"]);
  const { callers, callees, self, total } = await ask(profile, functionOf(profile, "f"));
  assert.deepEqual({ self, total }, { self: 1, total: 2 });
  assert.deepEqual(told(profile, callers), ["main@0+2"]);
  assert.deepEqual(told(profile, callees), ["g@0+1", "f@0+1", "x@0+1"]);
});

test("where nobody calls it there is a gap beside those who do", async () => {
  const profile = profileOf(["f x", "main f x"]);
  const { callers } = await ask(profile, functionOf(profile, "f"));
  assert.equal(callers.whole, 2);
  assert.deepEqual(told(profile, callers), ["main@0+1"]);
});

test("no function asked for: the heaviest by self, in the unit that is shown", async () => {
  const profile = profileOf([{ stack: "m often", times: 3, cpu_ns: 1 }, { stack: "m slow", cpu_ns: 9 }]);
  assert.equal((await ask(profile, -1)).fn, functionOf(profile, "often"));
  assert.equal((await ask(profile, -1, { unit: "time" })).fn, functionOf(profile, "slow"));
  assert.equal((await ask(profileOf([]), -1)).fn, -1);
});

test("filters hold, groups call nobody, and what a filter leaves out weighs nothing", async () => {
  const profile = profileOf([...CALLS, { stack: "main b f y", tid: 2 }]);
  const f = functionOf(profile, "f");
  const one = await ask(profile, f, { filter: { threads: [2] }, group: "thread" });
  assert.deepEqual(told(profile, one.callers), ["b@0+1", "main@0+1"]);
  const z = await ask(profile, functionOf(profile, "z"), { filter: { threads: [2] } });
  assert.deepEqual([z.total, z.whole, z.callers.node.length], [0, 1, 0]);
});

test("colours by kind of code are those of its boxes", async () => {
  const profile = profileOf(CALLS);
  const fn = functionOf(profile, "f");
  const { callees } = await new Answers(profile).answer("sandwich", {
    ...{ ...ALL, fn, order: "name", colour: "kind" },
  });
  assert.equal(callees.slots?.length, callees.fn.length);
});
