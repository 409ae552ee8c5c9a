import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../clients/web/src/data/sums/lines";
import type { Profile } from "../../clients/web/src/data/profile";
import { functionOf, profileOf } from "./samples";

/** line: self/total. */
function told(profile: Profile, fn: number, file = ""): Record<number, string> {
  const { lines, self, total } = linesOf(profile, {}, fn, file);
  return Object.fromEntries([...lines].map((line, i) => [line, `${self[i]}/${total[i]}`]));
}

test("a line has what is spent in it, and what it called", () => {
  const profile = profileOf(["main@a.c:3 work@a.c:10", "main@a.c:3 work@a.c:11", "main@a.c:4"]);
  assert.deepEqual(told(profile, -1), { 3: "0/2", 4: "1/1", 10: "1/1", 11: "1/1" });
});

test("the hottest lines of a function are its own, not those of what it calls", () => {
  const profile = profileOf([
    { stack: "main@a.c:3 work@a.c:10", times: 2 },
    { stack: "main@a.c:3 work@a.c:11 deep@a.c:20", times: 9 },
    "main@a.c:4",
  ]);
  const hottest = (fn: number, file = "") => [...linesOf(profile, {}, fn, file).hottest];
  assert.deepEqual(hottest(functionOf(profile, "work")), [10, 11]);
  assert.deepEqual(hottest(functionOf(profile, "main")), [4, 3]);
  assert.deepEqual(hottest(-1).slice(0, 2), [20, 10]);
  assert.deepEqual(hottest(functionOf(profile, "work"), "a.c").slice(0, 2), [20, 10]);
});

test("a line that recurs in a stack counts once", () => {
  const profile = profileOf([{ stack: "main@a.c:1 f@a.c:5 f@a.c:5 f@a.c:6", times: 2 }]);
  assert.deepEqual(told(profile, -1), { 1: "0/2", 5: "0/2", 6: "2/2" });
});

test("a function's file is the one where most of it is: what was inlined may lie elsewhere", () => {
  const profile = profileOf([
    { stack: "main@a.c:1 f@f.h:7", times: 3 },
    "main@a.c:1 f@g.h:9",
    "main@a.c:2",
  ]);
  const f = functionOf(profile, "f");
  assert.equal(linesOf(profile, {}, f, "").file, "f.h");
  assert.deepEqual(told(profile, f), { 7: "3/3" });
  assert.deepEqual(told(profile, f, "g.h"), { 9: "1/1" });
  assert.equal(linesOf(profile, {}, f, "of another build.c").file, "f.h");
});

test("files are told heaviest first, and without those that are not known", () => {
  const profile = profileOf(["m@a.c:1", { stack: "m@a.c:1 g@b.c:1", times: 2 }, "m@a.c:1 x"]);
  assert.deepEqual(linesOf(profile, {}, -1, "").files, [
    { file: "b.c", samples: 2 },
    { file: "a.c", samples: 1 },
  ]);
});

test("a function without lines has no file, and no lines", () => {
  const profile = profileOf(["main@a.c:1 strange"]);
  const lines = linesOf(profile, {}, functionOf(profile, "strange"), "");
  assert.equal(lines.file, "");
  assert.equal(lines.lines.length, 0);
  assert.equal(lines.whole.samples, 1);
});

test("lines are of the samples that pass", () => {
  const profile = profileOf(["m@a.c:1", "m@a.c:2", "m@a.c:2"]);
  const { lines, self, selfTime_ns } = linesOf(profile, { window_us: [1000, 3000] }, -1, "");
  assert.deepEqual([...lines], [2]);
  assert.deepEqual([...self], [2]);
  assert.deepEqual([...selfTime_ns], [2e6]);
});

test("of mine only, a line has what it called of the interpreter's and of the system's", () => {
  const profile = profileOf([
    { stack: "python!main a.py!run@a.py:3 python!add", times: 2 },
    "python!main a.py!run@a.py:4 libjson.so!scan@scan.c:8",
    "python!gc",
  ]);
  const mine = linesOf(profile, {}, -1, "a.py", [{ kind: "only-mine" }]);
  assert.deepEqual([[...mine.lines], [...mine.self]], [[3, 4], [2, 1]]);
  assert.equal(mine.whole.samples, 3);
  assert.deepEqual(mine.files, [{ file: "a.py", samples: 3 }]);
  assert.deepEqual([...linesOf(profile, {}, -1, "a.py").self], [0, 0]);
});
