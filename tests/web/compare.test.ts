// Comparison, what can be filtered by, stacks as text, pictures: what the page computes of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { facets } from "../../clients/web/src/data/sums/facets";
import { weigh } from "../../clients/web/src/data/filter";
import { groupOf } from "../../clients/web/src/data/group";
import { heaviestStack } from "../../clients/web/src/data/sums/heaviest_stack";
import type { Profile } from "../../clients/web/src/data/profile";
import { Shaper } from "../../clients/web/src/data/shape";
import { count } from "../../clients/web/src/data/totals";
import { escaped, flameSvg, type Picture } from "../../clients/web/src/views/flame/flame_svg";
import { points } from "../../clients/web/src/views/compare/diff_colours";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Before, Look } from "../../clients/web/src/worker/messages";
import { functionOf, profileOf } from "./samples";

const ALL: Look = { filter: {}, transforms: [], group: "" };

async function compared(answers: Answers, look: Look, before: Before) {
  const result = await answers.answer("compare", { ...look, before, unit: "samples" });
  assert.ok(result);
  const shares = result.keys.map((key, fn): [string, number[]] => [
    key,
    [
      result.before.self[fn],
      result.before.total[fn],
      result.after.self[fn],
      result.after.total[fn],
    ],
  ]);
  return { result, shares: Object.fromEntries(shares) };
}

test("two windows are compared as shares of each", async () => {
  const answers = new Answers(
    profileOf([{ stack: "main a", times: 4 }, "main b", { stack: "main c", times: 3 }]),
  );
  const { result, shares } = await compared(
    answers,
    { ...ALL, filter: { window_us: [4000, 8000] } },
    { kind: "window", window_us: [0, 4000] },
  );
  assert.deepEqual(shares, {
    "app!main": [0, 1, 0, 1],
    "app!a": [1, 1, 0, 0],
    "app!b": [0, 0, 0.25, 0.25],
    "app!c": [0, 0, 0.75, 0.75],
  });
  assert.deepEqual(result.samples, [4, 4]);
  // What is on one side only has its place: children fill their caller.
  assert.deepEqual([...result.boxes.width], [1, 0.5, 0.125, 0.375]);
  assert.deepEqual([...result.boxBefore], [1, 1, 0, 0]);
  assert.deepEqual([...result.boxAfter], [1, 0, 0.25, 0.75]);
});

test("a file is compared by names, and is not filtered by times and threads that are not its own", async () => {
  const shown = new Answers(
    profileOf([
      { stack: "main a", tid: 5, times: 2 },
      { stack: "main b", tid: 6 },
    ]),
  );
  const look = { ...ALL, filter: { threads: [5], window_us: [0, 9e6] as [number, number] } };
  assert.equal(
    await shown.answer("compare", { ...look, before: { kind: "file" }, unit: "samples" }),
    null,
  );
  shown.other = new Answers(
    profileOf(["x", "main b", { stack: "main a", time_us: 1e9, times: 2 }]),
  );
  const { shares } = await compared(shown, look, { kind: "file" });
  assert.deepEqual(shares["app!a"], [0.5, 0.5, 1, 1]);
  assert.deepEqual(shares["app!x"], [0.25, 0.25, 0, 0]);
});

test("with nothing to compare there is no comparison", async () => {
  const answers = new Answers(profileOf(["main"]));
  assert.equal(
    await answers.answer("compare", { ...ALL, before: { kind: "" }, unit: "samples" }),
    null,
  );
});

test("what was hidden is hidden on both sides", async () => {
  const answers = new Answers(profileOf([{ stack: "main libc.so!read", times: 2 }, "main"]));
  const look: Look = { ...ALL, transforms: [{ kind: "hide-system" }] };
  const { shares } = await compared(answers, look, { kind: "window", window_us: [0, 2000] });
  assert.deepEqual(shares, { "app!main": [1, 1, 1, 1] });
});

test("facets count samples, most first, and only of the filter", () => {
  const profile = profileOf([
    { stack: "main", tid: 1, times: 2 },
    { stack: "main libc.so!read", tid: 2, tag: "load", state: "IO", times: 3 },
    { stack: "main", pid: 9, tid: 3, time_us: 1e9 },
  ]);
  const found = facets(profile, { window_us: [0, 1e8] });
  const short = (list: { text: string; samples: number }[]) =>
    list.map(({ text, samples }) => [text, samples]);
  assert.deepEqual(short(found.threads), [
    ["thread 2 (2)", 3],
    ["thread 1 (1)", 2],
  ]);
  assert.deepEqual(short(found.processes), [["1", 5]]);
  assert.deepEqual(short(found.tags), [
    ["load", 3],
    ["Default", 2],
  ]);
  assert.deepEqual(short(found.states), [
    ["IO", 3],
    ["Running", 2],
  ]);
  assert.deepEqual(short(found.libraries), [
    ["libc.so", 3],
    ["app", 2],
  ]);
});

test("search lists what it found by weight, without what has no samples here", async () => {
  const profile = profileOf([
    "main parse_a",
    { stack: "main parse_b", times: 3 },
    { stack: "parse_c", tid: 2 },
  ]);
  const look = { ...ALL, filter: { threads: [1] } };
  const found = await new Answers(profile).answer("search", {
    ...look,
    search: { text: "parse", regex: false },
  });
  assert.deepEqual(
    [...found.order].map((fn) => profile.functions[fn].name),
    ["parse_b", "parse_a"],
  );
  assert.equal(found.share, 1);
});

test("the heaviest stack of a function leads to it from the outermost on", () => {
  const profile = profileOf(["main x read", { stack: "main y read", times: 2 }, "main"]);
  const counted = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const stack = (name: string, of: Profile) =>
    heaviestStack(counted.calls, counted.samples.total, functionOf(of, name)).map((fn) => of.functions[fn].name);
  assert.deepEqual(stack("read", profile), ["main", "y", "read"]);
  assert.deepEqual(heaviestStack(counted.calls, counted.samples.total, 12345), []);
});

async function picture(profile: Profile, change: Partial<Picture> = {}): Promise<string> {
  const boxes = await new Answers(profile).answer("flame", {
    ...ALL,
    order: "name",
    unit: "samples",
  });
  const name = (box: number) => profile.functions[boxes.fn[box]].name;
  return flameSvg({
    boxes,
    range: { from: 0, to: boxes.whole },
    rootBelow: false,
    title: "<all>",
    legend: [],
    letters: "#000000",
    text: "#000000",
    paper: "#ffffff",
    fill: () => "#aabbcc",
    label: name,
    tip: name,
    ...change,
  });
}

test("an SVG picture has names as text only, and says what is too thin for it", async () => {
  const hostile = '<script>alert("&")</script>\u0000\ud800';
  const profile = profileOf([{ stack: `main x${hostile}`, times: 9999 }, "main thin"]);
  const svg = await picture(profile);
  assert.doesNotMatch(svg, /<script/);
  assert.match(
    svg,
    /&lt;script&gt;alert\(&quot;&amp;&quot;\)&lt;\/script&gt;\ufffd\ufffd<\/title>/,
  );
  assert.match(svg, /&lt;all&gt;; 1 frames too thin/);
  assert.equal(svg.match(/<rect /g)?.length, 3); // the paper, and two boxes
  assert.equal(escaped("\u{1f600}\t"), "\u{1f600}\t");
});

test("a picture of a part shows that part only, with its root where the page has it", async () => {
  const profile = profileOf([
    { stack: "a deep", times: 5 },
    { stack: "b", times: 5 },
  ]);
  const part = await picture(profile, { range: { from: 5, to: 10 }, rootBelow: true });
  assert.match(part, /<title>b<\/title>/);
  assert.doesNotMatch(part, /<title>(a|deep)<\/title>/);
  assert.match(part, /height="44"/); // of one row
});

test("changes are told in points of a percent, with a sign", () => {
  assert.deepEqual(
    [points(0.1, 0.123), points(0.5, 0.25), points(0.2, 0.2001)],
    ["+2.3", "\u221225.0", "±0.0"],
  );
});

test("trees are grouped by state, and by the library of the leaf", async () => {
  const profile = profileOf([
    { stack: "main libc.so!read", state: "IO", times: 2 },
    { stack: "main", times: 3 },
  ]);
  const roots = async (group: "state" | "library") => {
    const sort = { by: "total", ascending: false } as const;
    const look = { ...ALL, group };
    const rows = await new Answers(profile).answer("tree", { ...look, sort, unit: "samples" });
    return Array.from(rows.list.slice(rows.first[0], rows.first[1]), (row) => [
      groupOf(rows.fn[row]),
      rows.total[row],
    ]);
  };
  assert.deepEqual(await roots("state"), [
    [profile.states.find("Running"), 3],
    [profile.states.find("IO"), 2],
  ]);
  const library = (name: string) => profile.libraries.findIndex((one) => one.name === name);
  assert.deepEqual(await roots("library"), [
    [library("app"), 3],
    [library("libc.so"), 2],
  ]);
});

test("a file's CPU curve begins where that of what is shown does, whatever their clocks say", async () => {
  const shown = new Answers(profileOf(["a", "a"], 8000));
  assert.equal(await shown.answer("baseline", { origin_us: 7000, step_us: 1000, steps: 3 }), null);
  shown.other = new Answers(profileOf(["a", { stack: "b", tid: 2 }, "a"], 500_000));
  const used = await shown.answer("baseline", { origin_us: 6000, step_us: 1000, steps: 5 });
  assert.deepEqual([...used!], [0, 1, 1, 1, 0]);
});
