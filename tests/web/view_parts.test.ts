// What views compute for themselves: time, ways among boxes, rows and text of tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activity } from "../../clients/web/src/data/sums/activity";
import { chartLayout } from "../../clients/web/src/data/layouts/chart_layout";
import { childrenOf, nameRanks } from "../../clients/web/src/data/children";
import { weigh } from "../../clients/web/src/data/filter";
import { flameLayout } from "../../clients/web/src/data/layouts/flame_layout";
import { functionRows } from "../../clients/web/src/data/sums/function_rows";
import { Shaper } from "../../clients/web/src/data/shape";
import type { Column } from "../../clients/web/src/data/sort";
import { byThread } from "../../clients/web/src/data/sums/thread_totals";
import { byFunction, count } from "../../clients/web/src/data/totals";
import { aligned } from "../../clients/web/src/views/parts/aligned";
import { cpuTimes } from "../../clients/web/src/views/frame/sampled";
import { ending } from "../../clients/web/src/views/parts/format";
import {
  boxOf,
  calleesOf,
  placeOf,
  type Step,
  stepFrom,
} from "../../clients/web/src/views/boxes/box_place";
import { boxKeys } from "../../clients/web/src/views/boxes/box_keys";
import { BoxPixels, faint } from "../../clients/web/src/views/boxes/box_pixels";
import { rowAfter } from "../../clients/web/src/views/parts/rows_in_sight";
import { ticks, timeAt, type TimeView, xOf } from "../../clients/web/src/views/time/time_axis";
import { inside, moved, panned, zoomed } from "../../clients/web/src/views/time/time_window";
import { profileOf } from "./samples";

const view = (from_us: number, to_us: number, width = 1000): TimeView => ({
  ...{ from_us, to_us, zero_us: 5_000_000 },
  ...{ left: 120, width },
});

test("times are counted from the first sample, with as many digits as the step needs", () => {
  const labels = (from: number, to: number) => ticks(view(from, to)).map(({ label }) => label);
  assert.deepEqual(labels(5_000_000, 15_000_000).slice(0, 3), ["0 s", "1 s", "2 s"]);
  assert.deepEqual(labels(5_100_000, 5_200_000).slice(0, 2), ["0.10 s", "0.11 s"]);
  assert.deepEqual(labels(5_000_000, 5_001_000).slice(0, 2), ["0.0000 s", "0.0001 s"]);
});

test("labels of time never meet, however long or short the time is", () => {
  for (let length = 100; length < 1e11; length *= 3) {
    const one = view(5_000_123, 5_000_123 + length);
    const at = ticks(one).map(({ time_us }) => xOf(one, time_us));
    assert.ok(at.length >= 2 && at.length <= 13, `${at.length} for ${length} us`);
    for (let i = 1; i < at.length; i++) assert.ok(at[i] - at[i - 1] >= 79);
  }
});

test("a time is where it is drawn, and beyond the ends it is the end", () => {
  const one = view(5_000_000, 6_000_000);
  assert.equal(xOf(one, 5_250_000), 370);
  assert.equal(timeAt(one, 370), 5_250_000);
  assert.equal(timeAt(one, 5), 5_000_000);
  assert.equal(timeAt(one, 5000), 6_000_000);
});

test("arrows move a window by a tenth of itself, or its end, and keep it inside", () => {
  assert.deepEqual(moved([20_000, 30_000], [0, 100_000], 1, false), [21_000, 31_000]);
  assert.deepEqual(moved([20_000, 30_000], [0, 100_000], -1, true), [20_000, 29_000]);
  assert.deepEqual(moved([95_000, 100_000], [0, 100_000], 1, false), [95_000, 100_000]);
  assert.deepEqual(moved([20_000, 21_000], [0, 100_000], -1, true), [20_000, 21_000]);
});

test("without a window, arrows begin with the first or the last tenth", () => {
  assert.deepEqual(moved(null, [0, 100_000], 1, false), [0, 10_000]);
  assert.deepEqual(moved(null, [0, 100_000], -1, false), [90_000, 100_000]);
});

test("zooming holds the point under the pointer, and out of all there is it is nothing", () => {
  const near = zoomed([0, 1_000_000], [0, 1_000_000], -460, 0.25)!;
  const held = near[0] + 0.25 * (near[1] - near[0]);
  assert.ok(Math.abs(held - 250_000) < 1);
  assert.ok(near[1] - near[0] < 510_000);
  assert.equal(zoomed(near, [0, 1_000_000], 2000, 0.5), null);
  assert.deepEqual(panned([0, 100], [0, 1000], 0.5), [50, 150]);
  assert.deepEqual(inside([950, 1050], [0, 1000]), [900, 1000]);
});

function flame() {
  const profile = profileOf([
    { stack: "main a x", times: 2 },
    "main b y",
    { stack: "main b", times: 4 },
  ]);
  const { calls, samples } = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const ranks = nameRanks(profile.functions.map(({ name }) => name));
  const boxes = flameLayout(calls, samples, childrenOf(calls, samples.total, "name", ranks));
  return { boxes, name: (box: number) => profile.functions[boxes.fn[box]].name };
}

test("steps lead into the widest frame, out to the caller, and along a row to its ends", () => {
  const { boxes, name } = flame();
  let at = { box: 0, row: 0 };
  const go = (step: Step) => {
    const place = stepFrom(boxes, at.box, at.row, step);
    if (!place) return "none";
    at = { box: boxOf(boxes, place), row: place.row };
    return name(at.box);
  };
  assert.deepEqual((["in", "left", "in", "right", "out"] as const).map(go), [
    "b",
    "a",
    "x",
    "y",
    "b",
  ]);
  assert.deepEqual((["right", "out", "out"] as const).map(go), ["none", "main", "none"]);
});

test("arrows follow the side that the root is on, Enter zooms to a frame, plus and minus around it", () => {
  const { boxes, name } = flame();
  const shown: number[] = [];
  const zoomed: string[] = [];
  const press = (key: string, at: number, rootBelow = false, ctrlKey = false) => {
    let [led, kept] = ["", false];
    boxKeys(
      { boxes, rootBelow, onZoom: (box) => zoomed.push(name(box)) },
      { viewport: { from: 0, to: boxes.whole }, whole: boxes.whole, show: (from, to) => shown.push(from, to) },
      at < 0 ? null : { box: at, row: 0 },
      (place) => (led = name(boxOf(boxes, place))),
    )({ key, ctrlKey, preventDefault: () => (kept = true) } as unknown as KeyboardEvent);
    return [led, kept];
  };
  assert.deepEqual(press("ArrowDown", 0), ["b", true]);
  assert.deepEqual(press("ArrowDown", 0, true), ["", true]);
  assert.deepEqual(press("ArrowUp", 0, true), ["b", true]);
  assert.deepEqual(press("ArrowUp", -1), ["main", true]);
  assert.deepEqual(press("Enter", 0), ["", true]);
  assert.deepEqual(press("Enter", -1), ["", false]);
  assert.deepEqual(press("+", -1), ["", true]);
  assert.deepEqual(press("ArrowDown", 0, false, true), ["", false]);
  assert.deepEqual(zoomed, ["main"]);
  assert.deepEqual(shown, [boxes.whole / 4, (3 * boxes.whole) / 4]);
});

test("a place beside all frames of its row is nobody's", () => {
  const { boxes } = flame();
  assert.equal(boxOf(boxes, { row: 2, at: 0.99 }), -1);
  assert.equal(boxOf(boxes, { row: 7, at: 0.5 }), -1);
});

test("in the chart, what is joined is nobody's callee", () => {
  const profile = profileOf(["m a", "m b", "m a", { stack: "m c", times: 30 }]);
  const shape = new Shaper(profile, []).shape();
  const boxes = chartLayout(profile, shape, {}, 0, 33_000, 5000);
  const names = calleesOf(boxes, 0, 0).map((box) => profile.functions[boxes.fn[box]].name);
  assert.deepEqual(names, ["c"]);
  assert.equal(placeOf(boxes, 0, 0).at, 0.5);
});

test("functions are sorted by any column, the heavier one first where they are equal", () => {
  const profile = profileOf(["z b", "z b", "a b", "a libx.so!c"]);
  const { calls, samples } = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const { functions, libraries } = profile;
  const totals = byFunction(calls, samples, functions.length);
  const texts = {
    name: (fn: number) => functions[fn].name,
    library: (fn: number) => libraries[functions[fn].library].name,
  };
  const sorted = (by: Column, ascending = false, hits: Uint8Array | null = null) =>
    functionRows(totals, { by, ascending }, hits, texts).map(texts.name).join(" ");
  assert.equal(sorted("total"), "b a z c");
  assert.equal(sorted("self"), "b c a z");
  assert.equal(sorted("name", true), "a b c z");
  assert.equal(sorted("library", true), "b a z c");
  const hits = Uint8Array.from(functions, ({ name }) => (name === "z" || name === "c" ? 1 : 0));
  assert.equal(sorted("total", false, hits), "z c");
});

test("an end is told as far as it is known; of several programs the one that was started", () => {
  const [early, late] = [1.7e12, 1.7e12 + 5000];
  const at = (ms: number) => new Date(ms).toLocaleTimeString();
  const program = (endMs: number, exit?: object) => ({
    ...{ pid: 1, name: "p", live: false, startMs: 0 },
    ...{ endMs, exit },
  });
  const of = (exit?: object) => ending([program(late), program(early, exit)]);
  assert.equal(of(), `ended at ${at(late)}`);
  assert.equal(of({ status: 0 }), `ended with status 0 at ${at(early)}`);
  assert.equal(of({ signal: "SIGKILL", core: false }), `was ended by SIGKILL at ${at(early)}`);
  assert.equal(
    of({ signal: "SIGSEGV", core: true }),
    `was ended by SIGSEGV (core dumped) at ${at(early)}`,
  );
});

test("a table as text has its numbers under each other, and names as they are", () => {
  assert.equal(
    aligned([
      ["self", "function"],
      ["1,000", "main"],
      ["7", "  parse"],
    ]),
    " self  function\n1,000  main\n    7    parse\n",
  );
});

test("a table that is too long for the clipboard says how much is left out", () => {
  const rows = Array.from({ length: 10_002 }, (_, i) => [String(i)]);
  assert.match(aligned(rows), /\n9999\nand 2 more\n$/);
});

test("keys of lists stay in the list", () => {
  assert.equal(rowAfter("ArrowDown", 9, 10, 5), 9);
  assert.equal(rowAfter("PageUp", 3, 10, 5), 0);
  assert.equal(rowAfter("End", 0, 10, 5), 9);
  assert.equal(rowAfter("ArrowDown", -1, 10, 5), 0);
  assert.equal(rowAfter("x", 0, 10, 5), null);
});

test("samples by thread follow the filter", () => {
  const profile = profileOf(["a", { stack: "a", tid: 2, times: 3 }, { stack: "b", tid: 2 }]);
  assert.deepEqual([...byThread(profile, {})], [1, 4]);
  assert.deepEqual([...byThread(profile, { window_us: [0, 2000] })], [1, 1]);
});

test("when a function ran is told in processors, once for stacks that hold it twice", () => {
  const profile = profileOf([
    { stack: "main f f", times: 2 },
    "main",
    { stack: "main f g", tid: 2, cpu_ns: 500_000, time_us: 4500 },
  ], 1000);
  const { functions } = profile;
  const f = functions.findIndex(({ name }) => name === "f");
  const steps = { origin_us: 0, step_us: 1000, steps: 5 };
  assert.deepEqual([...activity(profile, {}, f, steps)], [1, 1, 0, 0, 0.5]);
  assert.deepEqual([...activity(profile, { threads: [2] }, f, steps)], [0, 0, 0, 0, 0.5]);
});

test("boxes as pixels: lines of a row are alike, a hatch goes over them, and nothing is outside", () => {
  const picture = new BoxPixels(6, 5);
  picture.fill(-3, 2, 0xff0000ff);
  picture.fill(4, 9, faint(0xff00ff00, 0.5));
  picture.hatch(4, 9, 7);
  picture.endRow(-1, 2);
  picture.fill(1, 2, 9);
  picture.endRow(3, 8);
  const lines = [0, 1, 2, 3, 4].map((y) => [...picture.pixels.subarray(6 * y, 6 * y + 6)]);
  const [red, half] = [0xff0000ff, 0x8000ff00];
  assert.deepEqual(lines[0], [red, red, 0, 0, half, half]);
  assert.deepEqual(lines[1], [red, red, 0, 0, half, half]);
  assert.deepEqual(lines[2], [0, 0, 0, 0, 0, 0]);
  assert.deepEqual(lines[3], [0, 9, 0, 0, 0, 0]);
  assert.deepEqual(lines[4], lines[3]);
});

test("the lines of a hatch go up to the right, and meet those of the next row of pixels", () => {
  const picture = new BoxPixels(8, 4);
  picture.hatch(0, 8, 1);
  picture.endRow(0, 4);
  const words = [0, 1, 2, 3].map((y) => picture.pixels.subarray(8 * y, 8 * y + 8).join(""));
  assert.deepEqual(words, ["00010001", "00100010", "01000100", "10001000"]);
});

test("CPU time is told with its shares; what is elsewhere, once it is known", () => {
  const told = { processes: 2, sampledMicros: 900_000, notSampledMicros: 100_000 };
  assert.deepEqual(
    cpuTimes(told).map(([, time]) => time),
    ["900.0 ms, 90.0 %", "100.0 ms, 10.0 %", "known when the program has ended"],
  );
  const times = cpuTimes({ ...told, withoutSamplerMicros: 1_000_000 });
  assert.deepEqual(
    times.map(([, time]) => time),
    ["900.0 ms, 45.0 %", "100.0 ms, 5.0 %", "1.00 s, 50.0 %"],
  );
});
