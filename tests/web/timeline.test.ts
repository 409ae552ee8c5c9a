// Events of programs: what is seen of them at any width, and what they sum to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { JOINED, SLICE } from "../../clients/web/src/data/layouts/flame_layout";
import { chartBands } from "../../clients/web/src/data/layouts/chart_layout";
import { LANES_START } from "../../clients/web/src/data/layouts/lanes";
import { Shaper } from "../../clients/web/src/data/shape";
import { Events } from "../../clients/web/src/data/timeline/events";
import { droppedBy, framesPerSecond, frameSums, levelOf } from "../../clients/web/src/data/timeline/frames";
import { Series } from "../../clients/web/src/data/timeline/series";
import { percentile } from "../../clients/web/src/data/timeline/sums";
import { Track } from "../../clients/web/src/data/timeline/track";
import type { Filter } from "../../clients/web/src/data/filter";
import { Profile } from "../../clients/web/src/data/profile";
import { writeTrace } from "../../clients/web/src/data/saved/trace_write";
import { Answers } from "../../clients/web/src/worker/answers";
import { tableOf, type ToldEvent } from "./events";
import { profileOf } from "./samples";

const MOST = 1e6;

function eventsOf(told: ToldEvent[], open: ToldEvent[] = [], profile = new Profile()): Events {
  const events = new Events().add(tableOf(told, open), MOST);
  events.share(profile);
  return events;
}

const seen = (from: number, to: number, thin_us: number) => ({
  window_us: [5000 + from, 5000 + to] as [number, number],
  ...{ origin_us: 5000, whole: 1000, thin_us },
});

/** The same numbers in each run. */
function* random(): Generator<number> {
  for (let state = 1; ; ) yield (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

function randomTrack(count: number): Track {
  const track = new Track();
  const some = random();
  for (let i = 0, time = 0; i < count; i++) {
    const [gap, length] = [some.next().value, some.next().value];
    time += Math.ceil(gap ** 8 * 1000);
    const duration = Math.ceil(length ** 8 * 500);
    track.push(time, duration, i % 5, i);
    time += duration;
  }
  track.settle();
  return track;
}

test("each slice that is seen is told once, and the longest of each group is the longest", () => {
  const track = randomTrack(10_000);
  const end = track.end(track.length - 1);
  for (const [from, to] of [[0, end], [end / 3, end / 2], [end / 3, end / 3 + 100]])
    for (const thin of [0, 1, 100, end / 500]) {
      let next = -1;
      track.eachIn(from, to, thin, (first, count, longest) => {
        if (next >= 0) assert.equal(first, next);
        else assert.ok(!first || track.end(first - 1) < from);
        next = first + count;
        const all = Array.from({ length: count }, (_, i) => track.duration.data[first + i]);
        assert.equal(track.duration.data[longest], Math.max(...all));
        if (count > 1) assert.ok(track.end(next - 1) - track.start.data[first] < thin);
      });
      if (next < 0) assert.equal(track.firstAfter(from), track.firstAfter(to));
      else assert.ok(next === track.length || track.start.data[next] >= to);
    }
});

test("how much is told goes by the pixels, and not by the slices", () => {
  const told = (track: Track) => {
    let count = 0;
    const end = track.end(track.length - 1);
    track.eachIn(0, end, end / 1000, () => void count++);
    return count;
  };
  const [few, many] = [20_000, 2_000_000].map((count) => {
    const track = new Track();
    for (let i = 0; i < count; i++) track.push(10 * i, 9, 0, i);
    track.settle();
    return told(track);
  });
  assert.ok(many <= 8 * 1000 + 100, `${many}`);
  assert.ok(many < 3 * few, `${few} and ${many}`);
});

test("a slice that comes late goes to its place, and the levels with it", () => {
  const inOrder = randomTrack(5000);
  const late = new Track();
  for (let i = 0; i < 5000; i++) {
    const at = i - (i % 100) + ((i * 37) % 100);
    late.push(inOrder.start.data[at], inOrder.duration.data[at], inOrder.label.data[at], at);
    if (i % 1000 === 450) late.settle();
  }
  late.settle();
  const told = (track: Track) => {
    const all: number[][] = [];
    track.eachIn(0, Infinity, 300, (first, count, longest) => all.push([first, count, track.serial.data[longest]]));
    return all;
  };
  assert.deepEqual(told(late), told(inOrder));
});

test("nested slices stand in rows by depth, below instants, with their exact times", () => {
  const events = eventsOf([
    { name: "inner", at: 200_000, ns: 100_000, depth: 1 },
    { name: "outer", at: 100_000, ns: 300_000 },
    { name: "mark", at: 150_000, kind: "Instant" },
  ]);
  const rows = events.rows(0, seen(0, 1000, 0.5))!;
  assert.deepEqual(rows.slices!.keys, ["7/7/i", "7/7/0", "7/7/1"]);
  assert.deepEqual([...rows.rows], [0, 1, 2, 3]);
  assert.deepEqual([...rows.x], [150, 100, 200]);
  assert.deepEqual([...rows.width].map(Math.round), [1, 300, 100]);
  assert.deepEqual([...rows.slices!.start_us], [5150, 5100, 5200]);
  assert.ok(rows.fn.every((fn) => fn === SLICE));
  const { told } = events.told(rows, seen(0, 1000, 0.5));
  assert.deepEqual([...rows.slices!.label].map((label) => told[label].name), ["mark", "outer", "inner"]);
});

test("slices thinner than a pixel are joined up to a few pixels, and say how many and which was longest", () => {
  const told = Array.from({ length: 1000 }, (_, i) => ({ name: `f${i}`, at: 1000 * i, ns: i === 501 ? 900 : 800 }));
  const rows = eventsOf(told).rows(0, seen(0, 1000, 10))!;
  const { count, label, duration } = rows.slices!;
  assert.ok(count.length >= 1000 / 40 && count.length <= 1000 / 20, String(count.length));
  assert.equal(count.reduce((a, b) => a + b, 0), 1000);
  assert.ok(rows.fn.every((fn) => fn === JOINED));
  assert.ok([...duration].includes(900));
  assert.equal(label[duration.indexOf(900)], 501);
});

test("what has not ended is drawn to where it is known, and is told to be open", () => {
  const events = eventsOf([], [{ name: "long", at: 100_000, ns: 400_000, given: { file: "a.c" } }]);
  const rows = events.rows(0, seen(0, 1000, 1))!;
  assert.deepEqual([rows.x[0], rows.width[0]], [100, 400]);
  const details = events.event("7/7/0/5100.000")!;
  assert.deepEqual([details.mark, details.name, details.given], ["Open", "long", [["file", "a.c"]]]);
  events.add(tableOf([{ name: "long", at: 100_000, ns: 500_000 }]), MOST);
  assert.equal(events.event("7/7/0/5100.000")!.mark, "");
  assert.equal(events.rows(0, seen(0, 1000, 1))!.x.length, 1);
});

test("an end without a begin is a moment of its own, and a slice that was cut off says so", () => {
  const events = eventsOf([
    { name: "", at: 100, mark: "NoBegin" },
    { name: "cut", at: 200, ns: 5, mark: "CutOff" },
  ]);
  assert.equal(events.event("7/7/i/5000.100")!.name, "end without a begin");
  assert.equal(events.event("7/7/0/5000.200")!.mark, "CutOff");
  assert.equal(events.event("7/7/0/5000.300"), null);
  assert.equal(events.event("of a link that was cut"), null);
});

test("async slices pair by name and id, on whatever threads, and overlapping ones get rows of their own", () => {
  const events = eventsOf([
    { name: "load", kind: "AsyncEnd", at: 700_000, id: "1", tid: 8 }, // its ring was read first
    { name: "load", kind: "AsyncBegin", at: 100_000, id: "1" },
    { name: "load", kind: "AsyncBegin", at: 200_000, id: "2" },
    { name: "load", kind: "AsyncEnd", at: 300_000, id: "2" },
    { name: "wait", kind: "AsyncBegin", at: 400_000, id: "3" },
  ]);
  const rows = events.rows(1, seen(0, 1000, 1))!;
  assert.deepEqual(rows.slices!.keys, ["7/7/o0", "7/7/a0", "7/7/a1"]);
  assert.deepEqual([...rows.x], [400, 100, 200]);
  assert.deepEqual([...rows.width], [300, 600, 100]);
  assert.equal(events.event("7/7/o0/5400.000")!.mark, "Open");
});

test("flows go from the slice where one begins to the one where it ends", () => {
  const events = eventsOf([
    { name: "send", at: 100_000, ns: 100_000 },
    { name: "receive", at: 400_000, ns: 100_000, tid: 8 },
    { name: "deep", at: 410_000, ns: 50_000, tid: 8, depth: 1 },
    { name: "message", kind: "FlowEnd", at: 420_000, id: "a", tid: 8 },
    { name: "message", kind: "FlowBegin", at: 150_000, id: "a" },
  ]);
  const profile = new Profile();
  events.share(profile);
  const rows = chartBands(profile, new Shaper(profile, []).shape(), {}, [0, 1], [], 5000, 1000, 1, (thread) =>
    events.rows(thread, seen(0, 1000, 1)),
  );
  assert.deepEqual(rows.slices!.keys, ["", "7/7/0", "", "7/8/0", "7/8/1"]);
  const { arrows } = events.told(rows, seen(0, 1000, 1));
  assert.deepEqual([...arrows!.ends], [150, 1, 420, 4]);
  assert.equal(events.told(rows, seen(500, 1000, 1)).arrows!.ends.length, 0);
});

test("a knot of flows is not drawn, and says so", () => {
  const told: ToldEvent[] = [{ name: "all", at: 0, ns: 1e6 }];
  for (let i = 0; i < 1000; i++)
    told.push({ name: "m", kind: "FlowBegin", at: i, id: `${i}` }, { name: "m", kind: "FlowEnd", at: i + 9, id: `${i}` });
  const events = eventsOf(told);
  const rows = events.rows(0, seen(0, 1000, 1))!;
  assert.equal(events.told(rows, seen(0, 1000, 1)).arrows!.hidden, true);
  const some = events.told(events.rows(0, seen(0, 0.0625, 0.001))!, seen(0, 0.0625, 0.001)).arrows!;
  assert.equal(some.hidden, false);
  assert.equal(some.ends.length / 4, 63);
});

test("counters have a step for each pixel, with the least and the most in it", () => {
  const series = new Series();
  const some = random();
  const values: [number, number][] = [];
  for (let i = 0; i < 3000; i++) values.push([10 * i, Math.floor(1000 * some.next().value)]);
  for (const [time, value] of values.filter((_, i) => i % 3)) series.push(time, value);
  for (const [time, value] of values.filter((_, i) => i % 3 === 0)) series.push(time, value); // late
  const steps = series.steps(-100, 333, 90);
  for (let i = 0; i < 90; i++) {
    const [from, to] = [-100 + 333 * i, -100 + 333 * (i + 1)];
    const held = values.filter(([time]) => time <= from).at(-1);
    const inside = [...(held ? [held] : []), ...values.filter(([time]) => time > from && time <= to)].map(([, value]) => value);
    const [least, most] = inside.length ? [Math.min(...inside), Math.max(...inside)] : [NaN, NaN];
    assert.deepEqual([steps[2 * i], steps[2 * i + 1]], [least, most], `step ${i}`);
  }
});

test("each argument of a counter is a series", () => {
  const { counters } = eventsOf([
    { name: "memory", kind: "Counter", at: 1, given: { used: 5, free: 7 } },
    { name: "jobs", kind: "Counter", at: 2, given: { value: 3 } },
  ]).strips([5000, 5001], 10, 60);
  assert.deepEqual(counters.map(({ name }) => name), ["memory: used", "memory: free", "jobs"]);
  assert.equal(counters[2].steps[19], 3);
});

test("frames are late beyond their budget, and dropped ones have levels at 3, 9, 24 and 42", () => {
  const budget = 10;
  assert.deepEqual([9, 10, 19, 20, 39, 40].map((ns) => droppedBy(ns, budget)), [0, 1, 1, 2, 3, 4]);
  assert.deepEqual([0, 2, 3, 8, 9, 23, 24, 41, 42].map(levelOf), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
  const events = eventsOf(
    Array.from({ length: 100 }, (_, i) => ({
      ...{ kind: "Frame", name: "game", at: 2e7 * i, ns: i === 50 ? 18e7 : 1e7, id: i.toString(16) },
    })),
  );
  const { frames } = events.strips([5000, 5000 + 2e6], 1000, 60);
  assert.equal(frames[0].name, "game");
  assert.equal(frames[0].sums.frames, 100);
  assert.deepEqual([frames[0].sums.late, frames[0].sums.dropped], [1, 10]);
  assert.deepEqual(frames[0].sums.levels, [99, 0, 1, 0, 0]);
  const details = events.event(frames[0].keys[30])!;
  assert.deepEqual([details.kind, details.number, details.perSecond], ["frame", 30, 31]);
  const track = events.timeline.threads[0].rows.get("f0")!.track;
  assert.equal(framesPerSecond(track, 99), 50);
  assert.equal(frameSums(track, 0, 5e8, 1e7).frames, 25);
});

test("frames one by one: what each took, its parts, what it dropped; sorted, of the window, and as searched for", () => {
  const frame = (id: string, at: number, ns: number, given?: ToldEvent["given"], name = "Frame") => ({ kind: "Frame", name, at, ns, id, given });
  const events = eventsOf([
    frame("1", 0, 10e6, { build: 4000, raster: 5000 }),
    frame("a", 20e6, 900e6, { build: 800_000 }),
    frame("b", 1000e6, 40e6, undefined, "Video"),
  ]);
  const of = (by: "start" | "dropped" | "raster", ascending: boolean, filter: Filter = {}, text = "") => {
    const search = text ? { text, regex: false } : null;
    return events.frames(filter, 60, { by, ascending }, search);
  };
  const { number, start_us, elapsed, build, raster, dropped, level, names, keys, rows } = of("start", true);
  const each = (column: ArrayLike<number | string>) => Array.from(rows, (one) => column[one]);
  assert.deepEqual(each(number), [1, 10, 11]);
  assert.deepEqual(each(start_us), [5000, 25_000, 1_005_000]);
  assert.deepEqual(each(elapsed), [10e6, 900e6, 40e6]);
  assert.deepEqual(each(build), [4e6, 800e6, NaN]);
  assert.deepEqual(each(raster), [5e6, NaN, NaN]);
  assert.deepEqual(each(dropped), [0, 54, 2]);
  assert.deepEqual(each(level), [0, 4, 0]);
  assert.deepEqual(each(names), ["Frame", "Frame", "Video"]);
  for (const row of rows) assert.equal(events.event(keys[row])?.number, number[row]);
  const shown = (table: ReturnType<typeof of>) => Array.from(table.rows, (one) => table.number[one]);
  assert.deepEqual(shown(of("dropped", false)), [10, 11, 1]);
  assert.deepEqual(shown(of("raster", false)), [1, 10, 11], "what was not told is last");
  assert.deepEqual(shown(of("start", false)), [11, 10, 1]);
  assert.deepEqual(shown(of("start", true, { window_us: [900_000, 1_005_000] })), [10], "it ends in the window");
  assert.deepEqual(shown(of("start", true, { threads: [8] })), []);
  assert.deepEqual(shown(of("start", true, {}, "video")), [11]);
});

test("percentiles are those of sorting", () => {
  const some = random();
  for (const count of [1, 2, 3, 10, 1001]) {
    const values = Float64Array.from({ length: count }, () => Math.floor(some.next().value * 50));
    const sorted = values.slice().sort();
    for (const percent of [0, 50, 95, 100])
      assert.equal(percentile(values.slice(), percent), sorted[Math.max(0, Math.ceil((percent * count) / 100) - 1)]);
  }
});

const TABLE: ToldEvent[] = [
  ...Array.from({ length: 100 }, (_, i) => ({ name: "draw", at: 10_000 * i, ns: 100 * (i + 1), stream: "GPU" })),
  { name: "load", at: 2_000_000, ns: 50_000, tid: 8 },
];
const BY_TOTAL = { by: "total", ascending: false } as const;

test("slices by name: count, total, median, 95th percentile, and the longest one", () => {
  const events = eventsOf(TABLE);
  const table = events.slices({}, BY_TOTAL, null);
  assert.deepEqual(table.rows.length, 2);
  const row = table.rows[0];
  assert.deepEqual([table.names[row], table.streams[row], table.count[row]], ["draw", "GPU", 100]);
  assert.deepEqual([table.total[row], table.p50[row], table.p95[row], table.most[row]], [505_000, 5000, 9500, 10_000]);
  assert.equal(events.event(table.longest[row])!.duration, 10_000);
  const sorted = events.slices({}, { by: "most", ascending: false }, null);
  assert.deepEqual([...sorted.rows].map((one) => sorted.names[one]), ["load", "draw"]);
});

test("the table keeps to the window, the threads, and what is searched for", () => {
  const events = eventsOf(TABLE);
  const names = (...asked: Parameters<Events["slices"]>) => {
    const { rows, names, count } = events.slices(...asked);
    return [...rows].map((row) => [names[row], count[row]]);
  };
  assert.deepEqual(names({ window_us: [5000, 5100] }, BY_TOTAL, null), [["draw", 10]]);
  assert.deepEqual(names({ threads: [8] }, BY_TOTAL, null), [["load", 1]]);
  assert.deepEqual(names({}, BY_TOTAL, { text: "gpu", regex: false }), [["draw", 100]]);
  assert.deepEqual(names({}, BY_TOTAL, { text: "(", regex: true }), []);
  const hits = events.hits({ text: "a", regex: false })!;
  assert.deepEqual(hits.names.map(({ name, count }) => [name, count]), [["draw", 100], ["load", 1]]);
});

test("the oldest are forgotten where there are too many", () => {
  const events = new Events();
  for (let part = 0; part < 10; part++) {
    const told = Array.from({ length: 5000 }, (_, i) => ({
      ...{ name: "s", at: 1000 * (5000 * part + i), ns: 500, given: { i: 5000 * part + i } },
    }));
    told.push({ name: "c", kind: "Counter", at: 5e6 * part + 1, given: { value: part } } as never);
    events.add(tableOf(told), 20_000);
  }
  const { timeline } = events;
  assert.ok(timeline.length >= 20_000 && timeline.length <= 27_000, String(timeline.length));
  assert.equal(timeline.evicted + timeline.length, 50_010);
  events.share(new Profile());
  const rows = events.rows(0, { ...seen(0, 1e6, 0.1), whole: 1e6 })!;
  assert.ok(rows.slices!.start_us[0] > 5000 + 20_000);
  const last = events.event(`7/7/0/${(5000 + 49_999).toFixed(3)}`)!;
  assert.deepEqual(last.given, [["i", 49_999]]);
});

test("a thread without samples has its slices in the chart, and its lane in the overview none", async () => {
  const profile = profileOf([{ stack: "main work", tid: 7, pid: 7, times: 20, time_us: 5100 }]);
  const answers = new Answers(profile, eventsOf([{ name: "idle", at: 0, ns: 5e6, tid: 9, thread: "waiter" }, { name: "busy", at: 0, ns: 5e6 }], [], profile));
  assert.deepEqual(profile.threads.map(({ tid }) => tid), [7, 9]);
  const look = { filter: {}, transforms: [], group: "" as const };
  const asked = { ...look, threads: [0, 1], origin_us: 5000, extent_us: 20_000, thin_us: 20 };
  const rows = await answers.answer("chart", asked);
  assert.deepEqual(rows.slices!.keys.filter(Boolean), ["7/7/0", "7/9/0"]);
  assert.deepEqual(rows.told.map(({ name }) => name), ["busy", "idle"]);
  const overview = await answers.answer("overview", { range_us: null, maxSteps: 100, maxLanes: 10, choice: LANES_START });
  assert.ok(overview!.lanes[0].slices!.some(Boolean));
});

test("a profile without events is as it was", async () => {
  const answers = new Answers(profileOf(["main work"]));
  const look = { filter: {}, transforms: [], group: "" as const };
  const rows = await answers.answer("chart", { ...look, threads: [0], origin_us: 0, extent_us: 1000, thin_us: 1 });
  assert.deepEqual([rows.slices, rows.told, rows.arrows], [undefined, [], null]);
  assert.equal(await answers.answer("slices", { filter: {}, sort: BY_TOTAL, search: null }), null);
  assert.equal(await answers.answer("strips", { window_us: [0, 1], width: 10, refresh: 60 }), null);
});

test("what the service alone tells is no timeline", () => {
  const service = { tid: 0, thread: "isoscope", kind: "Instant", stream: "VM" };
  const profile = profileOf([{ stack: "main", tid: 7, pid: 7, name: "newer" }]);
  const events = eventsOf([{ ...service, name: "Process attached", at: 0 }], [], profile);
  assert.equal(events.timeline.extent_us(), null);
  assert.equal(events.hits({ text: "Process", regex: false }), undefined);
  events.add(tableOf([{ name: "load", at: 9000, ns: 1000, thread: "older" }]), MOST);
  events.share(profile);
  assert.deepEqual(events.timeline.extent_us(), [5009, 5010]);
  assert.deepEqual(profile.threads.map(({ name }) => name), ["newer", "isoscope"]);
});

function traceOf(filter: Filter) {
  const events = eventsOf(
    [
      { name: "frame", at: 0, ns: 8000, given: { scene: "menu", layer: 2 } },
      { name: "draw", at: 1000, ns: 2500, depth: 1 },
      { kind: "Instant", name: "key", at: 2000, tid: 8, thread: "input" },
      { name: "", at: 2500, mark: "NoBegin" },
      { kind: "AsyncBegin", name: "load", at: 3000, id: "f" },
      { kind: "AsyncEnd", name: "load", at: 7000, id: "f", tid: 8 },
      { kind: "FlowBegin", name: "send", at: 3500, id: "1" },
      { kind: "FlowEnd", name: "send", at: 6500, id: "1", tid: 8 },
      { kind: "Counter", name: "heap", at: 4000, given: { used: 5 } },
      { kind: "Frame", name: "picture", at: 0, ns: 16_000, id: "2a" },
    ],
    [{ name: "wait", at: 9000, ns: 500, tid: 8 }],
  );
  return JSON.parse(new TextDecoder().decode(writeTrace(events.timeline, filter))).traceEvents as Record<string, any>[];
}

test("a trace has every event with its time, thread and arguments", () => {
  const trace = traceOf({});
  const of = (ph: string) => trace.filter((one) => one.ph === ph);
  assert.deepEqual(of("M").map(({ tid, args }) => [tid, args.name]), [[7, "main"], [8, "input"]]);
  assert.deepEqual(
    of("X").map(({ name, cat, pid, tid, ts, dur, args }) => [name, cat, pid, tid, ts, dur, args]),
    [
      ["frame", "App", 7, 7, 5000, 8, { scene: "menu", layer: 2 }],
      ["draw", "App", 7, 7, 5001, 2.5, {}],
      ["wait", "App", 7, 8, 5009, 0.5, { _mark: "Open" }],
    ],
  );
  assert.deepEqual(of("i").map(({ name, ts, s }) => [name, ts, s]), [
    ["(end without a begin)", 5002.5, "t"],
    ["key", 5002, "t"],
  ]);
  assert.deepEqual(of("b").map(({ name, id, ts }) => [name, ts, id === "2a"]), [
    ["load", 5003, false],
    ["picture", 5000, true],
  ]);
  assert.deepEqual(of("e").map(({ name, ts }) => [name, ts]), [["load", 5007], ["picture", 5016]]);
  assert.deepEqual(of("s").map(({ tid, ts }) => [tid, ts]), [[7, 5003.5]]);
  assert.deepEqual(of("f").map(({ tid, ts, bp }) => [tid, ts, bp]), [[8, 5006.5, "e"]]);
  assert.deepEqual(of("C").map(({ name, ts, args }) => [name, ts, args.value]), [["heap: used", 5004, 5]]);
});

test("a trace has of a window what overlaps it, and of threads their own", () => {
  const names = (filter: Filter) => traceOf(filter).filter(({ ph }) => "Xi".includes(ph)).map(({ name }) => name);
  assert.deepEqual(names({ window_us: [5004, 5005] }), ["frame"]);
  assert.deepEqual(names({ threads: [8] }), ["key", "wait"]);
  assert.deepEqual(names({ processes: [1] }), []);
  assert.deepEqual(new TextDecoder().decode(writeTrace(new Events().timeline, {})), '{"traceEvents":[]}\n');
});
