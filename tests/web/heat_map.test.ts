// The heat map: columns of time, cells of them, and what keys and the pointer make of cells.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CELLS, columnFor, type HeatMap } from "../../clients/web/src/data/layouts/heat_map";
import type { Profile } from "../../clients/web/src/data/profile";
import { cellAfter, cellAt, cellUnder, spanOf } from "../../clients/web/src/views/heat/heat_cells";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Look } from "../../clients/web/src/worker/messages";
import { profileOf } from "./samples";

const LOOK: Look = { filter: {}, transforms: [], group: "", unit: "time" };
const SECONDS = 30;

/** 30 s of a thread that uses a tenth of a processor, and another one's burst of 40 ms at 12.34 s. */
function bursts(): Profile {
  const steady = Array.from({ length: SECONDS * 100 }, (_, i) => ({
    stack: "main serve",
    time_us: 10_000 * (i + 1),
  }));
  const burst = Array.from({ length: 40 }, (_, i) => ({
    stack: "main collect",
    tid: 2,
    time_us: 12_341_000 + 1000 * i,
  }));
  return profileOf([...steady, ...burst]);
}

async function heat(profile: Profile, look: Partial<Look> = {}, more = {}): Promise<HeatMap> {
  const args = { ...LOOK, ...look, range_us: null, maxColumns: 100, ...more };
  return (await new Answers(profile).answer("heat", args))!;
}

/** As "column.cell value", where there is more than least. */
function cellsOver({ cells }: HeatMap, least: number): string[] {
  return [...cells.keys()]
    .filter((cell) => cells[cell] > least)
    .map((cell) => `${Math.floor(cell / CELLS)}.${cell % CELLS} ${Math.round(cells[cell] / 1e5) / 10}`);
}

test("columns are seconds, of short runs parts of one, of long ones as many as there is room for", () => {
  const columns = [0.001, 1.9, 4, 10, 20, 100, 101, 201, 3600].map((s) => columnFor(s * 1e6, 100) / 1e6);
  assert.deepEqual(columns, [0.1, 0.1, 0.2, 0.5, 1, 1, 2, 5, 50]);
});

test("a burst stands out in its cells, and the rest is even", async () => {
  const map = await heat(bursts());
  assert.deepEqual([map.column_us, map.columns], [1e6, SECONDS]);
  assert.equal(map.origin_us, 9000);
  // It begins with the time of the first sample, 1 ms before it: the burst is at 12.331 s.
  assert.deepEqual(cellsOver(map, 2.5e6), ["12.16 11", "12.17 22", "12.18 13"]);
  const sum = map.cells.reduce((all, one) => all + one, 0);
  assert.ok(Math.abs(sum - (SECONDS * 100 + 40) * 1e6) < 1, `${sum} ns`);
  assert.equal(map.most, Math.max(...map.cells));
});

test("it follows filters and focus, but for the range, which it shows itself", async () => {
  const profile = bursts();
  const sumOf = async (look: Partial<Look>) =>
    Math.round((await heat(profile, look)).cells.reduce((all, one) => all + one, 0) / 1e6);
  assert.equal(await sumOf({ filter: { threads: [2] } }), 40);
  assert.equal(await sumOf({ filter: { window_us: [0, 1_000_000] } }), SECONDS * 100 + 40);
  const collect = "app!collect";
  assert.equal(await sumOf({ transforms: [{ kind: "focus-function", fn: collect }] }), 40);
  assert.equal(await sumOf({ transforms: [{ kind: "drop-function", fn: collect }] }), SECONDS * 100);
});

test("where samples are counted, each is one in the cell that ends with it or has it", async () => {
  const profile = profileOf([
    { stack: "a", time_us: 1000, cpu_ns: 0, state: "Sleep" },
    { stack: "a", time_us: 3000, cpu_ns: 0, state: "Sleep", times: 3 },
    { stack: "a", time_us: 3001, cpu_ns: 0, state: "Sleep" },
  ]);
  const map = await heat(profile, { unit: "samples" });
  assert.deepEqual([map.origin_us, map.column_us], [0, 100_000]);
  assert.deepEqual([...map.cells].slice(0, 3), [1, 4, 0]);
  assert.equal(map.most, 4);
});

test("of a range that is zoomed to, columns begin where they do without", async () => {
  const map = await heat(bursts(), {}, { range_us: [10_500_000, 32_000_000] });
  assert.deepEqual([map.origin_us, map.column_us, map.columns], [10_009_000, 1e6, 22]);
});

test("no samples make no map; those of others an empty one", async () => {
  assert.equal(await heat(profileOf([])), null);
  const map = await heat(profileOf(["a"]), { filter: { threads: [7] } });
  assert.equal(map.most, 0);
});

const MAP: HeatMap = {
  ...{ origin_us: 5000, column_us: 1e6, columns: 3, most: 1 },
  cells: new Float64Array(3 * CELLS).fill(1),
};

test("cells are times and back, from the earlier to the later one however they are given", () => {
  assert.deepEqual(spanOf(MAP, 0, 0), [5000, 25_000]);
  assert.deepEqual(spanOf(MAP, 60, 49), [985_000, 1_225_000]);
  for (let cell = 0; cell < MAP.cells.length; cell++) {
    const [from, to] = spanOf(MAP, cell, cell);
    assert.deepEqual([cellAt(MAP, from), cellAt(MAP, to - 1)], [cell, cell]);
  }
  assert.deepEqual([cellAt(MAP, 0), cellAt(MAP, 1e9)], [0, 3 * CELLS - 1]);
});

test("columns go to the right, cells of a column upwards, and outside is the nearest", () => {
  const place = { from_us: 0, to_us: 1, zero_us: 0, left: 50, width: 300, top: 10, height: 100 };
  const under = (x: number, y: number) => cellUnder(MAP, place, x, y);
  assert.deepEqual([under(51, 109), under(51, 11), under(151, 109)], [0, CELLS - 1, CELLS]);
  assert.deepEqual([under(0, 999), under(999, 0)], [0, 3 * CELLS - 1]);
});

test("arrows go to the next cell and the next column, and stay within", () => {
  const all = 3 * CELLS;
  const after = (cell: number, key: string) => cellAfter(key, cell, all);
  assert.deepEqual([after(0, "ArrowUp"), after(0, "ArrowDown"), after(5, "ArrowDown")], [1, 0, 4]);
  assert.deepEqual([after(7, "ArrowRight"), after(107, "ArrowRight")], [57, 107]);
  assert.deepEqual([after(57, "ArrowLeft"), after(7, "ArrowLeft")], [7, 7]);
  assert.deepEqual([after(all - 1, "ArrowUp"), after(9, "Home"), after(9, "End")], [all - 1, 0, all - 1]);
  assert.equal(after(9, "x"), undefined);
});
