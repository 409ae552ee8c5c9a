import assert from "node:assert/strict";
import { test } from "node:test";
import { GONE, mapLines } from "../../clients/editor/src/core/line_map";

const lines = (text: string) => text.split("");
const mapped = (before: string, after: string) => [...mapLines(lines(before), lines(after))];

test("a text that did not change is where it was", () => {
  assert.deepEqual(mapped("abcd", "abcd"), [0, 1, 2, 3]);
  assert.deepEqual(mapped("", "abc"), []);
});

test("what stands behind an inserted line moves, and a removed one is gone", () => {
  assert.deepEqual(mapped("abc", "xaybc"), [1, 3, 4]);
  assert.deepEqual(mapped("abc", "ac"), [0, GONE, 1]);
  assert.deepEqual(mapped("abc", "axc"), [0, GONE, 2]);
});

test("of two changes what is between keeps its place", () => {
  assert.deepEqual(mapped("0ab{}cd9", "1ab{}cd8"), [GONE, 1, 2, 3, 4, 5, 6, GONE]);
});

test("lines that are there several times are only found beside one that is not", () => {
  assert.deepEqual(mapped("1}}2", "3}}}4"), [GONE, GONE, GONE, GONE]);
  assert.deepEqual(mapped("1}a}2", "3}}a}4"), [GONE, 2, 3, 4, GONE]);
});

test("what changed places with something else is not found twice", () => {
  const map = mapped("xabcy", "zcabw");
  assert.deepEqual(map, [GONE, 2, 3, GONE, GONE]);
});

test("every line that has a place there is the same text, in the same order", () => {
  let seed = 1;
  const random = (most: number) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 300; round++) {
    const before = Array.from({ length: random(40) }, () => String(random(12)));
    const after = before.flatMap((line) => [[line], [], [line, String(random(12))], [String(random(12))]][random(8) % 4]);
    const map = mapLines(before, after);
    const places = [...map].filter((place) => place !== GONE);
    assert.deepEqual(places, [...new Set(places)].sort((a, b) => a - b));
    map.forEach((place, line) => assert.ok(place === GONE || after[place] === before[line]));
  }
});

test("50,000 lines with two edits are mapped within a second", () => {
  const before = Array.from({ length: 50_000 }, (_, i) => (i % 2 ? "}" : `line ${i}`));
  const after = ["new", ...before.slice(0, 40_000), "another", ...before.slice(40_001)];
  const start = performance.now();
  const map = mapLines(before, after);
  assert.ok(performance.now() - start < 1000);
  assert.equal(map[10], 11);
  assert.equal(map[49_999], 50_000);
});
