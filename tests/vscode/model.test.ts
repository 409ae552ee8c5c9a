import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionRow, Overview } from "../../clients/editor/src/lsp/own_messages";
import { barOf, byLevel, levelOf } from "../../clients/vscode/src/model/heat";
import { entryOf } from "../../clients/vscode/src/model/launch_entry";
import { windowOf } from "../../clients/vscode/src/model/window_text";
import { functionWords, statusLines, statusWords } from "../../clients/vscode/src/model/words";

const row: FunctionRow = { key: "a!f", name: "f", library: "a", self: 0.25, total: 0.5, samples: 10, trend: "", place: null };

function overview(changes: Partial<Overview> = {}): Overview {
  const status = { text: "a: 1,000 samples", samples: 1000, unit: "time", source: "a", link: "open", version: 1, comparedWith: "", problems: [] };
  return { status, isLive: true, cpu: null, functions: [], stalls: [], ...changes };
}

test("hotter lines have higher levels, and a line without weight has none", () => {
  assert.deepEqual([0, 0.0009, 0.001, 0.01, 0.05, 0.15, 0.4, 1].map(levelOf), [0, 0, 1, 2, 3, 4, 5, 5]);
  const lines = [0, 0.02, 0.5, 0.6].map((total, i) => ({ line: i + 1, self: 0, total, samples: 1 }));
  assert.deepEqual(byLevel(lines).map((rows) => rows.map(({ line }) => line)), [[], [2], [], [], [3, 4]]);
  const widths = [1, 2, 3, 4, 5].map((level) => Number(/rect x="\d+" y="3" width="(\d+)"/.exec(barOf(level))![1]));
  assert.deepEqual(widths, [...new Set(widths)].sort((a, b) => a - b));
});

test("the status bar tells the CPU that is used now, and that a program has ended", () => {
  assert.equal(statusWords(null), "$(flame) isoscope");
  assert.equal(statusWords(overview({ cpu: 1.874 })), "$(flame) 187% CPU · 1,000 samples");
  assert.equal(statusWords(overview()), "$(flame) · 1,000 samples");
  assert.equal(statusWords(overview({ isLive: false })), "$(flame) ended · 1,000 samples");
  const { status } = overview();
  const troubled = overview({ status: { ...status, samples: 1, problems: ["no lines"], comparedWith: "the run before" } });
  assert.equal(statusWords(troubled), "$(warning) · 1 sample");
  assert.deepEqual(statusLines(troubled).slice(0, 2), ["a: 1,000 samples", "compared with the run before"]);
});

test("a function's total is told where it is another number than its own share", () => {
  assert.equal(functionWords(row), "25.0% · total 50.0%");
  const place = { uri: "file:///f", line: 0, isStale: true };
  assert.equal(functionWords({ ...row, total: 0.25, trend: "▲ 3.0", place }), "25.0% · ▲ 3.0 · stale");
});

test("a launch configuration becomes the server's entry", () => {
  const config = { name: "n", program: "./p", args: ["a"], cwd: "/c", env: { A: "1" }, mode: "wall", options: ["--lock"] };
  const wanted = { id: "7", name: "n", program: "./p", args: ["a"], cwd: "/c", env: { A: "1" }, options: ["--mode", "wall", "--lock"] };
  assert.deepEqual(entryOf(config, "7"), wanted);
  assert.deepEqual(entryOf({ name: "n", program: "./p" }, "7"), { id: "7", name: "n", program: "./p", args: [], env: {}, options: [] });
});

test("what is wrong with a launch configuration is named", () => {
  const wrong: [object, RegExp][] = [
    [{}, /"n": program: a file/],
    [{ program: "p", args: "a" }, /args: a list of texts/],
    [{ program: "p", args: [1] }, /args: a list of texts/],
    [{ program: "p", mode: "both" }, /mode: one of cpu, wall/],
    [{ program: "p", env: { A: 1 } }, /env: names with texts/],
    [{ program: "p", cwd: 1 }, /cwd: a folder/],
    [{ program: "p", options: "--lock" }, /options: a list of options/],
  ];
  for (const [config, words] of wrong) assert.throws(() => entryOf({ name: "n", ...config }, ""), words);
});

test("a window of time is two times, the earlier one first", () => {
  assert.deepEqual(["2-5.5", " 2 5.5 ", "2..5.5", "2,5.5"].map(windowOf), Array(4).fill([2, 5.5]));
  assert.equal(windowOf("  "), null);
  for (const text of ["5-2", "2", "2-2", "a-b", "-1-3", "1-2-3"]) assert.equal(windowOf(text), undefined, text);
});
