import assert from "node:assert/strict";
import { test } from "node:test";
import { bottomUp, type Row } from "../../clients/web/src/data/layouts/bottom_up";
import { childrenOf, nameRanks } from "../../clients/web/src/data/children";
import { type Filter, weigh } from "../../clients/web/src/data/filter";
import { neighbours } from "../../clients/web/src/data/sums/neighbours";
import type { Profile } from "../../clients/web/src/data/profile";
import { type Transform, Shaper } from "../../clients/web/src/data/shape";
import { byFunction, type Counted, count } from "../../clients/web/src/data/totals";
import { keyOf, ROOT_KEY, type TreeRows, treeRows } from "../../clients/web/src/data/layouts/tree_rows";
import { functionOf, profileOf } from "./samples";

function counted(profile: Profile, filter: Filter = {}, transforms: Transform[] = []): Counted {
  return count(new Shaper(profile, transforms).shape(), weigh(profile, filter));
}

/** The tree in words: name self/total, children in brackets. */
function told(profile: Profile, rows: TreeRows, row = 0): string {
  const children = [...rows.list.subarray(rows.first[row], rows.first[row + 1])];
  const inside = children.map((child) => told(profile, rows, child)).join(" ");
  if (row === 0) return inside;
  const text = `${profile.functions[rows.fn[row]].name} ${rows.self[row]}/${rows.total[row]}`;
  return inside ? `${text} (${inside})` : text;
}

function tree(profile: Profile, filter?: Filter, transforms?: Transform[]): string {
  const all = counted(profile, filter, transforms);
  const ranks = nameRanks(profile.functions.map(({ name }) => name));
  const children = childrenOf(all.calls, all.samples.total, "weight", ranks);
  return told(profile, treeRows(all, children));
}

test("a call tree counts self where the stack ends and total on the way", () => {
  const profile = profileOf([
    { stack: "main a b", times: 3 },
    "main a",
    { stack: "main c", times: 2 },
  ]);
  assert.equal(tree(profile), "main 0/6 (a 1/4 (b 3/3) c 2/2)");
});

test("siblings of the same weight are sorted by name", () => {
  assert.equal(tree(profileOf(["main z", "main b", "main m"])), "main 0/3 (b 1/1 m 1/1 z 1/1)");
});

test("a function that recurs counts once per sample in its total", () => {
  const profile = profileOf(["main f g f", "main f"]);
  const all = counted(profile);
  const { self, total } = byFunction(all.calls, all.samples, profile.functions.length);
  const f = functionOf(profile, "f");
  assert.deepEqual([self[f], total[f]], [2, 2]);
  assert.equal(total[functionOf(profile, "main")], 2);
});

test("CPU time adds up beside the samples", () => {
  const profile = profileOf([
    { stack: "main a", cpu_ns: 5e6 },
    { stack: "main", cpu_ns: 1e6 },
  ]);
  const { time_ns } = counted(profile);
  assert.deepEqual([...time_ns.total], [6e6, 6e6, 5e6]);
});

test("hidden system code is its caller's, at the leaf and in the middle", () => {
  const profile = profileOf(["main libc.so!malloc", "main libc.so!qsort compare", "libc.so!start"]);
  const hidden: Transform[] = [{ kind: "hide-system" }];
  assert.equal(tree(profile, {}, hidden), "main 1/2 (compare 1/1)");
  assert.equal(counted(profile, {}, hidden).samples.total[0], 3); // the third is nobody's, and counts
});

test("a focused function is the root; stacks without it are left out", () => {
  const profile = profileOf(["main a f x", "main f y", "main z", "main f x f"]);
  const focus: Transform[] = [{ kind: "focus-function", fn: "app!f" }];
  assert.equal(tree(profile, {}, focus), "f 0/3 (x 1/2 (f 1/1) y 1/1)");
  assert.equal(counted(profile, {}, focus).samples.total[0], 3);
});

test("one function, one library can be hidden; recursion can be joined", () => {
  const profile = profileOf(["main f f f g", "main f x!y"]);
  assert.equal(
    tree(profile, {}, [{ kind: "hide-function", fn: "app!g" }, { kind: "join-recursion" }]),
    "main 0/2 (f 1/2 (y 1/1))",
  );
  assert.equal(tree(profile, {}, [{ kind: "hide-library", library: "app" }]), "y 1/1");
});

test("joined recursion also joins around what is hidden between", () => {
  const profile = profileOf(["f libc.so!qsort f"]);
  assert.equal(tree(profile, {}, [{ kind: "hide-system" }, { kind: "join-recursion" }]), "f 1/1");
});

test("samples of a function are left out, with those of what it calls", () => {
  const profile = profileOf(["main a f x", "main a", "main z", "f"]);
  const drop: Transform[] = [{ kind: "drop-function", fn: "app!f" }];
  assert.equal(tree(profile, {}, drop), "main 0/2 (a 1/1 z 1/1)");
  assert.equal(counted(profile, {}, drop).samples.total[0], 2);
  const both: Transform[] = [...drop, { kind: "focus-function", fn: "app!x" }];
  assert.equal(counted(profile, {}, both).samples.total[0], 0, "x is inside of it");
});

test("recursion of one function is collapsed, through others too, and of no other one", () => {
  const profile = profileOf(["main f g f h", "main f f g g", "main g g"]);
  const join: Transform[] = [{ kind: "join-function", fn: "app!f" }];
  assert.equal(tree(profile, {}, join), "main 0/3 (f 0/2 (g 0/1 (g 1/1) h 1/1) g 0/1 (g 1/1))");
});

test("a shape goes on where it was when the profile grows", () => {
  const profile = profileOf(["main a"]);
  const shaper = new Shaper(profile, [{ kind: "hide-function", fn: "app!a" }]);
  shaper.shape();
  const more = profile.stack(
    profile.samples.stack.data[0],
    profile.place(functionOf(profile, "b"), "", 0),
  );
  const { calls, nodeOf } = shaper.shape();
  const node = nodeOf[profile.callOf[more]];
  assert.equal(profile.functions[calls.functions[node]].name, "b");
  assert.equal(profile.functions[calls.functions[calls.parents[node]]].name, "main");
});

test("filters: window, thread, process, tag, state, library of the leaf, and what came until then", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, tag: "x" },
    { stack: "b", tid: 2, state: "Sleep" },
    { stack: "c libc.so!d", tid: 3, pid: 2 },
  ]);
  assert.equal(tree(profile, { window_us: [1000, 2000] }), "b 1/1");
  assert.equal(tree(profile, { threads: [1] }), "a 1/1");
  assert.equal(tree(profile, { processes: [2] }), "c 0/1 (d 1/1)");
  assert.equal(tree(profile, { tags: ["x", "y"] }), "a 1/1");
  assert.equal(tree(profile, { states: ["Sleep"] }), "b 1/1");
  assert.equal(tree(profile, { libraries: ["libc.so"] }), "c 0/1 (d 1/1)");
  assert.equal(tree(profile, { until: 1 }), "a 1/1");
  assert.equal(tree(profile, { threads: [] }), "");
});

test("samples that were dropped count for until", () => {
  const profile = profileOf(["a", "b", "c"]);
  profile.keep(2);
  assert.equal(profile.evicted, 1);
  assert.equal(tree(profile, { until: 2 }), "b 1/1");
});

test("stacks of dropped samples are forgotten, and those that stay are as they were", () => {
  const profile = profileOf(["main a x", "main b", { stack: "c libc.so!d", cpu_ns: 5 }, "main b x"]);
  profile.keep(2);
  const before = tree(profile);
  const held = profile.stack(0, profile.place(functionOf(profile, "held"), "", 0));
  const calls = profile.calls;
  const numbers = profile.forgetStacks(Int32Array.of(held));
  assert.equal(tree(profile), before);
  assert.equal(profile.stackCount, 7); // the root, c d, main b x, and held
  assert.notEqual(profile.calls, calls);
  assert.equal(numbers.filter((node) => node < 0).length, 2); // main a, and its x
  const again = profile.stack(0, profile.place(functionOf(profile, "held"), "", 0));
  assert.equal(again, numbers[held]);
});

test("a stack whose outer end is missing is counted as cut", () => {
  const weights = weigh(profileOf([{ stack: "a", cut: true }, "a"]), {});
  assert.deepEqual([weights.count, weights.cut], [2, 1]);
});

test("bottom-up begins with the leaves, and shows callers of what is opened only", () => {
  const profile = profileOf([{ stack: "main a x", times: 2 }, "main b x", "x"]);
  const all = counted(profile);
  const order = (rows: Row[]) => rows.sort((a, b) => b.total - a.total || a.fn - b.fn);
  const x = functionOf(profile, "x");
  const closed = bottomUp(all, new Set(), order);
  assert.equal(told(profile, closed), "x 1/4");
  assert.equal(closed.more[1], 1);
  const rootKey = keyOf(ROOT_KEY, x);
  const opened = new Set([rootKey, keyOf(rootKey, functionOf(profile, "a"))]);
  const open = bottomUp(all, opened, order);
  assert.equal(told(profile, open), "x 1/4 (a 0/2 (main 2/2) b 0/1)");
  assert.equal(open.whole.samples, 4);
});

test("bottom-up of a function that calls itself counts each sample once", () => {
  const profile = profileOf(["f f f"]);
  const f = functionOf(profile, "f");
  const first = keyOf(ROOT_KEY, f);
  const rows = bottomUp(counted(profile), new Set([first, keyOf(first, f)]), (all) => all);
  assert.equal(told(profile, rows), "f 0/1 (f 0/1 (f 1/1))");
});

test("bottom-up shows as many leaves as there are", () => {
  const profile = profileOf(["main"]);
  const main = profile.samples.stack.data[0];
  const names = 300_000;
  for (let i = 0; i < names; i++) {
    const fn = profile.functions.push({ ...profile.functions[0], name: `f${i}` }) - 1;
    profile.samples.stack.push(profile.stack(main, profile.place(fn, "", 0)));
    profile.samples.time_us.push(i);
    profile.samples.cpu_ns.push(1);
    profile.samples.thread.push(0);
    profile.samples.tag.push(0);
    profile.samples.state.push(0);
    profile.samples.whole.push(1);
  }
  const rows = bottomUp(counted(profile), new Set(), (all) => all);
  assert.equal(rows.first[1], names + 1); // main, too
  assert.equal(rows.whole.samples, names + 1);
});

test("callers and callees count a call once per sample, also when it recurs", () => {
  const profile = profileOf(["main f g f g", "main g", "f"]);
  const { callers, callees } = neighbours(counted(profile), functionOf(profile, "f"));
  const words = (list: typeof callers) =>
    list.map(({ fn, samples }) => `${fn < 0 ? "-" : profile.functions[fn].name} ${samples}`);
  assert.deepEqual(words(callers).sort(), ["- 1", "g 1", "main 1"]);
  assert.deepEqual(words(callees), ["g 1"]);
});

test("a stack that is 5,000 deep is a tree like others", () => {
  const profile = profileOf([Array.from({ length: 5000 }, (_, i) => `f${i % 10}`).join(" ")]);
  const { samples } = counted(profile);
  assert.equal(samples.total[1], 1);
  assert.equal(samples.self[5000], 1);
});

const SCRIPT = ["python!main a.py!run python!add python!long", "python!main a.py!run libjson.so!scan", "python!gc"];

test("an interpreter's frames are folded by run; what the system does between stays", () => {
  const fold: Transform[] = [{ kind: "fold-runtime" }];
  const profile = profileOf(SCRIPT);
  assert.equal(tree(profile, {}, fold), "[python] 1/3 (run 0/2 ([python] 1/1 scan 1/1))");
  assert.equal(tree(profileOf(["main libc.so!qsort"]), {}, fold), "main 0/1 (qsort 1/1)");
});

test("of mine only there is neither interpreter nor system, nor a stack without me", () => {
  const mine: Transform[] = [{ kind: "only-mine" }];
  const profile = profileOf(SCRIPT);
  assert.equal(tree(profile, {}, mine), "run 2/2");
  assert.equal(counted(profile, {}, mine).samples.total[0], 2);
});

test("what stands for an interpreter can be focused, merged and left out as a function", () => {
  const profile = profileOf(SCRIPT);
  const fn = "python![python]";
  const folded = (one: Transform) => tree(profile, {}, [{ kind: "fold-runtime" }, one]);
  assert.equal(folded({ kind: "hide-function", fn }), "run 1/2 (scan 1/1)");
  assert.equal(folded({ kind: "drop-function", fn }), "");
  assert.equal(folded({ kind: "focus-function", fn: "a.py!run" }), "run 0/2 ([python] 1/1 scan 1/1)");
  assert.equal(folded({ kind: "drop-function", fn: "python!add" }), "[python] 1/2 (run 0/1 (scan 1/1))");
});

test("a folded shape goes on where it was when a runtime comes later", () => {
  const profile = profileOf(["main a"]);
  const shaper = new Shaper(profile, [{ kind: "fold-runtime" }]);
  shaper.shape();
  const stack = profile.stack(0, profile.place(functionOf(profile, "python!eval"), "", 0));
  const { nodeOf, calls } = shaper.shape();
  assert.equal(profile.functions[calls.functions[nodeOf[profile.callOf[stack]]]].name, "[python]");
});
