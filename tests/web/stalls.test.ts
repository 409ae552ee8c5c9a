// Stalls as they are kept, listed, marked in lanes and told in full.
import assert from "node:assert/strict";
import { test } from "node:test";
import { overview } from "../../clients/web/src/data/layouts/overview";
import { briefOf } from "../../clients/web/src/data/stalls/brief";
import { loopTable } from "../../clients/web/src/data/stalls/loops";
import { LEAST_PX, type Mark, marksOf, spanOf } from "../../clients/web/src/data/stalls/marks";
import { Stalls } from "../../clients/web/src/data/stalls/stalls";
import { evidenceOf, stackGroups, storyParts, storySpan } from "../../clients/web/src/data/stalls/story";
import { lengthText, rangeText } from "../../clients/web/src/views/stalls/words";
import type { Loop, LoopStats, Stall } from "../../clients/web/src/wire/protocol";
import { profileOf } from "./samples";

const MS = 1000;

/** Of a loop that began at ms and took so long, both known within slack. */
function stallOf(number: number, ms: number, length: number, more: Partial<Stall> = {}, slack = 0): Stall {
  return {
    ...{ number, isolateId: "isolates/1", pid: 1, tid: 1, thread: "main", loop: 1, name: "main", level: "stall" },
    ...{ ongoing: false, told: true, equals: 1, updates: 0, limitMicros: 250 * MS, cause: "busy", causeText: "it computed." },
    ...{ startMicros: [(ms - slack) * MS, ms * MS], durationMicros: [length * MS, (length + slack) * MS] },
    ...{ timeOriginMicros: (ms - slack) * MS, timeExtentMicros: (length + slack) * MS },
    ...{ runningMicros: 0, runnableMicros: 0, sleepingMicros: 0, faults: 0, hostLateMicros: 0 },
    ...{ looks: 0, prefix: [], story: [] },
    ...more,
  } as Stall;
}

function stallsOf(...list: Stall[]): Stalls {
  const stalls = new Stalls();
  stalls.add({ stalls: list });
  return stalls;
}

const culprit = (name: string, library = "app") => ({ function: name, library, micros: 1, looks: 1, share: 1 });
const NEWEST = { by: "number", ascending: false } as const;
const numbers = (rows: { number: number }[]) => rows.map(({ number }) => number);

test("a stall that is told again takes the place of what was told before", () => {
  const stalls = stallsOf(stallOf(1, 0, 300, { ongoing: true }), stallOf(2, 500, 300));
  assert.equal(stalls.ongoing, 1);
  assert.ok(stalls.add({ stalls: [stallOf(1, 0, 900)] }));
  assert.deepEqual([stalls.length, stalls.ongoing], [2, 0]);
  assert.deepEqual(stalls.one(1)?.durationMicros, [900 * MS, 900 * MS]);
  assert.deepEqual(stalls.extent_us(), [0, 900 * MS]);
});

test("a reply that begins anew forgets what was known; an empty one behind others changes nothing", () => {
  const stalls = stallsOf(stallOf(1, 0, 300));
  assert.equal(stalls.add({ stalls: [] }), false);
  assert.equal(stalls.length, 1);
  assert.equal(stalls.add({ stalls: [], reset: true }), true);
  assert.deepEqual([stalls.length, stalls.extent_us()], [0, null]);
  assert.equal(stalls.add({ stalls: [], reset: true }), false);
});

test("of more stalls than are kept the oldest go", () => {
  const stalls = stallsOf(...Array.from({ length: 10_003 }, (_, i) => stallOf(i + 1, i, 1)));
  assert.deepEqual([stalls.length, stalls.one(3), stalls.one(4)?.number], [10_000, null, 4]);
});

test("rows are sorted by any column, of equals the newest first", () => {
  const stalls = stallsOf(
    stallOf(1, 0, 300, { cause: "lock", culprit: culprit("read") }),
    stallOf(2, 400, 6000, { level: "dead", culprit: culprit("parse") }),
    stallOf(3, 7000, 300, { cause: "lock", culprit: culprit("read") }),
  );
  assert.deepEqual(numbers(stalls.rows(NEWEST, null)), [3, 2, 1]);
  assert.deepEqual(numbers(stalls.rows({ by: "length", ascending: false }, null)), [2, 3, 1]);
  assert.deepEqual(numbers(stalls.rows({ by: "culprit", ascending: true }, null)), [2, 3, 1]);
  assert.deepEqual(numbers(stalls.rows({ by: "cause", ascending: false }, null)), [3, 1, 2]);
  assert.deepEqual(numbers(stalls.rows({ by: "level", ascending: false }, null)), [2, 3, 1]);
  assert.deepEqual(numbers(stalls.rows({ by: "start", ascending: true }, null)), [1, 2, 3]);
});

test("a search looks at loop, thread, cause, culprit and its caller; what is no expression finds nothing", () => {
  const stalls = stallsOf(
    stallOf(1, 0, 300, { culprit: culprit("read", "libc.so.6"), caller: { function: "load_texture", library: "app" } }),
    stallOf(2, 400, 300, { name: "render", cause: "page-fault" }),
  );
  const found = (text: string, regex = false) => numbers(stalls.rows(NEWEST, { text, regex }));
  assert.deepEqual(found("READ"), [1]);
  assert.deepEqual(found("texture"), [1]);
  assert.deepEqual(found("render"), [2]);
  assert.deepEqual(found("page"), [2]);
  assert.deepEqual(found("^(render|read)$", true), [2, 1]);
  assert.deepEqual(found("(", true), []);
  assert.deepEqual(found("nothing"), []);
});

test("a view that is held has the stalls that had begun by then", () => {
  const stalls = stallsOf(stallOf(1, 0, 300), stallOf(2, 400, 300));
  assert.deepEqual(numbers(stalls.rows(NEWEST, null, 399 * MS)), [1]);
});

test("a stall that is known within ranges ends between its latest start's and its earliest start's end", () => {
  const { end_us, window_us } = briefOf(stallOf(1, 100, 300, {}, 4));
  assert.deepEqual(end_us, [400 * MS, 400 * MS]);
  assert.deepEqual(window_us, [96 * MS, 400 * MS]);
  const late = stallOf(2, 100, 300);
  late.durationMicros = [300 * MS, 304 * MS];
  assert.deepEqual(briefOf(late).end_us, [400 * MS, 404 * MS]);
});

const SECOND = { from_us: 0, to_us: 1000 * MS, width: 1000 }; // a pixel is a millisecond
const marks = (list: Stall[], scale = SECOND, now = 1000) => marksOf(list.map(briefOf), scale, now * MS);
const placed = ({ left, width }: Mark) => [left, width];

test("a mark goes from start to end; what is not certain of them is told apart", () => {
  const [mark] = marks([stallOf(1, 100, 300, { durationMicros: [300 * MS, 310 * MS] }, 4)]);
  assert.deepEqual(placed(mark), [96, 310]); // from the earliest start to the latest end
  assert.deepEqual([mark.fromRange, mark.toRange], [4, 6]);
});

test("what goes on reaches to now, and on as now does", () => {
  const open = [stallOf(1, 100, 300, { ongoing: true })];
  assert.deepEqual(placed(marks(open, SECOND, 500)[0]), [100, 400]);
  const [later] = marks(open, SECOND, 700);
  assert.deepEqual([placed(later), later.ongoing, later.toRange], [[100, 600], true, 0]);
});

test("marks are cut at the edges of what is seen, and what is beyond has none", () => {
  const all = [stallOf(1, 0, 100), stallOf(2, 450, 300), stallOf(3, 900, 50)];
  assert.deepEqual(marks(all, { from_us: 500 * MS, to_us: 700 * MS, width: 200 }).map(placed), [[0, 200]]);
});

test("stalls that are too near to be told apart are one mark, of the highest level; nearer by they are several", () => {
  const all = [
    stallOf(1, 1000, 300),
    stallOf(2, 1400, 2300, { level: "hang" }),
    stallOf(3, 3800, 300),
    stallOf(4, 90_000, 300),
  ];
  const far = marks(all, { from_us: 0, to_us: 1e6 * MS, width: 1000 });
  assert.deepEqual(far.map(({ of, level }) => [numbers(of), level]), [[[1, 2, 3], "hang"], [[4], "stall"]]);
  assert.ok(far.every(({ width }) => width >= LEAST_PX));
  assert.deepEqual(spanOf(far[0]), [1000 * MS, 4100 * MS]);
  assert.equal(marks(all, { from_us: 0, to_us: 5000 * MS, width: 1000 }).length, 3);
});

test("the last pixel still has a mark that is wide enough", () => {
  assert.deepEqual(marks([stallOf(1, 1000, 0)]).map(placed), [[1000 - LEAST_PX, LEAST_PX]]);
});

test("a thread that was late has a lane, though it has no samples", () => {
  const profile = profileOf(["main work", "main work"]);
  const stalls = stallsOf(stallOf(1, 0, 300, { tid: 9, thread: "render" }));
  stalls.share(profile);
  const lanes = (range: [number, number]) =>
    overview(profile, range, 100, 100, {}, () => 0, stalls.threadsIn(profile, range)).lanes;
  const found = lanes([0, 2 * MS]).map(({ name, samples }) => [name, Math.round(samples)]);
  assert.deepEqual(found, [["thread 1", 2], ["render", 0]]);
  assert.deepEqual(lanes([300 * MS, 400 * MS]).map(({ name }) => name), []);
});

const run = (name: string, from: number, to: number) => ({ function: name, fromMicros: from * MS, toMicros: to * MS, looks: 1 });

test("the story has each run's place, and marks the culprit's longest, of equals the last", () => {
  const story = [run("decode", 0, 100), run("render", 100, 200), run("idle", 200, 300), run("render", 300, 400)];
  const parts = storyParts(stallOf(1, 0, 400, { story, culprit: culprit("render") }));
  assert.deepEqual(parts.map(({ left, width, isCulprit }) => [left, width, isCulprit]), [
    [0, 0.25, false],
    [0.25, 0.25, false],
    [0.5, 0.25, false],
    [0.75, 0.25, true],
  ]);
});

test("a story that was seen beyond the stall is drawn as a whole", () => {
  const story = [run("late", -10, 420)];
  assert.deepEqual(storySpan(stallOf(1, 0, 400, { story })), [-10 * MS, 420 * MS]);
  assert.deepEqual(storyParts(stallOf(1, 0, 400)), []);
});

test("equal stacks that follow each other are one, others are not", () => {
  const stack = (micros: number, functions: string[], state = "Running") => ({ micros, functions, state });
  const groups = stackGroups([stack(1, ["a", "m"]), stack(2, ["a", "m"]), stack(3, ["b", "m"]), stack(4, ["a", "m"]), stack(5, ["a", "m"], "IO")]);
  assert.deepEqual(groups.map(({ functions, looks, from_us, to_us }) => [functions[0], looks, from_us, to_us]), [
    ["a", 2, 1, 2],
    ["b", 1, 3, 3],
    ["a", 1, 4, 4],
    ["a", 1, 5, 5],
  ]);
});

test("evidence leaves out what the kernel did not tell", () => {
  assert.deepEqual(evidenceOf(stallOf(1, 0, 300, { runningMicros: 2, sleepingMicros: 5 })), [
    { state: "Running", micros: 2 },
    { state: "Sleep", micros: 5 },
  ]);
});

test("loops stand in the order of what is picked: the one that blocked most first", () => {
  const times = (most: number) => ({ count: 1, p50: [0, most], p95: [0, most], p99: [0, most], max: [0, most], sum: 0, buckets: [] });
  const loop = (name: string, blockingMicros: number, p50: number, more: Partial<Loop> = {}) =>
    ({
      ...{ name, thread: name, kind: "epoll", ended: false, busy: false, dispatches: 1, blockingMicros },
      ...{ dispatch: times(p50), delay: times(0), levels: { jank: 0, stall: 0, hang: 0, dead: 0 }, ...more },
    }) as Loop;
  const stats = { watch: "auto", unwatched: [], loops: [loop("a", 1, 9), loop("b", 5, 3, { busy: true }), loop("c", 1, 4, { ended: true })] } as unknown as LoopStats;
  const order = (by: "blocking" | "p50" | "busy" | "name", ascending = false) =>
    loopTable(stats, { by, ascending }).loops.map(({ name }) => name).join("");
  assert.deepEqual([order("blocking"), order("p50"), order("busy"), order("name", true)], ["bac", "acb", "bac", "abc"]);
});

test("a range is one number where both ends read the same", () => {
  assert.equal(rangeText([1_900_000, 1_903_000]), "1.90 s");
  assert.equal(rangeText([248_000, 252_100]), "248.0–252.1 ms");
  assert.equal(rangeText([64, 127]), "64–127 µs");
  assert.equal(rangeText([900, 1100]), "900 µs–1.1 ms");
  assert.equal(lengthText({ duration_us: [1_500_000, 1_504_000], ongoing: true }), "1.50 s so far");
});
