// Lanes of threads: how they are grouped, what they tell, and which of them is picked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Lane, type LaneChoice, patternOf } from "../../clients/web/src/data/layouts/lanes";
import { overview } from "../../clients/web/src/data/layouts/overview";
import type { Profile } from "../../clients/web/src/data/profile";
import { laneTip, whoIs } from "../../clients/web/src/views/overview/lane_tip";
import {
  laneAfter,
  laneOf,
  noteOf,
  threadsAtFull,
  threadsOf,
} from "../../clients/web/src/views/overview/lanes";
import { profileOf } from "./samples";

/** A sample of each thread; tids count from 1 on. */
function threads(...names: string[]): Profile {
  return profileOf(names.map((name, i) => ({ stack: "a", tid: i + 1, name })));
}

function lanesOf(profile: Profile, open: string[] = [], choice: Partial<LaneChoice> = {}): Lane[] {
  return overview(profile, [0, 100_000], 10, 100, { open, ...choice }).lanes;
}

/** Indented as they are drawn. */
function told(lanes: Lane[]): string[] {
  return lanes.map(
    ({ depth, kind, name, pid, tids }) =>
      "  ".repeat(depth) + (kind === "process" ? `process ${pid}` : `${name}: ${tids}`),
  );
}

test("names that differ only in the number at their end are one group, others stand alone", () => {
  const profile = threads("main", "worker-2", "pool #7", "worker-10", "work", "worker-1", "pool 7");
  assert.deepEqual(told(lanesOf(profile)), [
    "main: 1",
    "worker-*: 2,4,6",
    "pool #7: 3",
    "work: 5",
    "pool 7: 7",
  ]);
});

test("threads of the very same name are a group, called by it", () => {
  const profile = threads("tokio-runtime-w", "io-1", "tokio-runtime-w", "io-1");
  assert.deepEqual(told(lanesOf(profile, ["1/io-*"])), [
    "tokio-runtime-w: 1,3",
    "io-1: 2,4",
    "  io-1: 2",
    "  io-1: 4",
  ]);
});

test("a group that is open has its threads below it, whoever's samples came first", () => {
  const profile = profileOf(
    [13, 11, 10, 12].map((tid) => ({ stack: "a", tid, name: tid > 10 ? `w-${tid - 2}` : "main" })),
  );
  assert.deepEqual(told(lanesOf(profile, ["1/w-*", "1/main", "2/w-*"])), [
    "main: 10",
    "w-*: 11,12,13",
    "  w-9: 11",
    "  w-10: 12",
    "  w-11: 13",
  ]);
});

test("of several processes, each has its lanes below its own, and groups of its own", () => {
  const profile = profileOf([
    { stack: "a", pid: 7, tid: 71, name: "w1" },
    { stack: "a", pid: 8, tid: 81, name: "w1" },
    { stack: "a", pid: 7, tid: 72, name: "w2" },
    { stack: "a", pid: 8, tid: 82, name: "w2" },
  ]);
  const lanes = lanesOf(profile, ["8/w*"]);
  assert.deepEqual(told(lanes), [
    "process 7",
    "  w*: 71,72",
    "process 8",
    "  w*: 81,82",
    "    w1: 81",
    "    w2: 82",
  ]);
  assert.deepEqual([lanes[2].tids, lanes[2].samples], [[81, 82], 2]);
  assert.equal(whoIs(lanes[2]), "process (8) (2 threads)");
  assert.equal(new Set(lanes.map(({ key }) => key)).size, lanes.length);
});

test("a name of digits alone, none at all, and a very long one are names as well", () => {
  assert.deepEqual(told(lanesOf(threads("1", "22", "", ""))), ["*: 1,2", ": 3,4"]);
  assert.equal(patternOf("٣"), "٣");
  const begin = performance.now();
  assert.equal(patternOf(`${"7".repeat(100_000)}x`), `${"7".repeat(100_000)}x`);
  assert.ok(performance.now() - begin < 1000, "as long as the name is, not as its square");
});

test("threads without samples in the time that is shown have no lane, and no part in one", () => {
  const profile = threads("w1", "w2", "w3");
  const lanes = overview(profile, [1000, 2999], 10, 10).lanes;
  assert.deepEqual(told(lanes), ["w*: 2,3"]);
});

test("of too many lanes the busiest stay, and it is told how many there are", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, name: "main" },
    { stack: "a", tid: 2, name: "w1", times: 2 },
    { stack: "a", tid: 3, name: "w2", times: 3 },
  ]);
  const all = overview(profile, [0, 100_000], 10, 2, { open: ["1/w*"] });
  assert.deepEqual(told(all.lanes), ["w*: 2,3", "  w2: 3"]);
  assert.equal(all.laneCount, 4);
});

test("a group has the samples of all its threads, each of which has its own below", () => {
  const told = [
    { stack: "a", tid: 1, name: "w1", times: 3 },
    { stack: "a", tid: 2, name: "w2", time_us: 1000, state: "Lock" },
  ];
  const profile = profileOf(told, 1000);
  const { lanes, steps, states } = overview(profile, [0, 3999], 1, 10, { open: ["1/w*"] });
  assert.deepEqual([steps, states], [1, ["Running", "Lock"]]);
  assert.deepEqual(
    lanes.map(({ samples, states }) => [samples, ...states].map((number) => +number.toFixed(6))),
    [
      [4, 0.6, 0.2],
      [3, 0.6, 0],
      [1, 0, 0.2],
    ],
  );
});

test("more samples in a step than 16 bits count are all told", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, name: "w1", time_us: 0, times: 40_000 },
    { stack: "a", tid: 2, name: "w2", time_us: 0, times: 40_000 },
  ]);
  assert.equal(overview(profile, [0, 1000], 1, 10).lanes[0].samples, 80_000);
});

test("a lane says in which states its thread was, as shares of the time", () => {
  const profile = profileOf([
    { stack: "a", times: 3 },
    { stack: "a", state: "Lock" },
  ], 1000);
  const all = overview(profile, [0, 3999], 1, 10);
  assert.equal(all.steps, 1);
  assert.deepEqual(laneTip(all, all.lanes[0], 0, 0), [
    "thread 1 (1)",
    "0.000 s",
    "Running 60.0 %",
    "Lock 20.0 %",
  ]);
  assert.deepEqual(laneTip(all, null, 0, 0), ["0.000 s", "0.80 CPUs in use", "4 samples"]);
});

test("of a group's time all is when all its threads run", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, name: "w1", times: 5 },
    { stack: "a", tid: 2, name: "w2", time_us: 1000 },
  ], 1000);
  const all = overview(profile, [0, 4999], 1, 10);
  assert.deepEqual(laneTip(all, all.lanes[0], 0, 0), [
    "w* (2 threads)",
    "0.000 s",
    "Running 60.0 %",
  ]);
});

test("behind a name stands how many threads a group has, and which of one name it is", () => {
  const profile = threads("main", "w", "w", "x1", "x2");
  const lanes = lanesOf(profile, ["1/w", "1/x*"]);
  assert.deepEqual(
    lanes.map((lane) => `${lane.name} ${noteOf(lane, lanes)}`.trim()),
    ["main", "w (2)", "w 2", "w 3", "x* (2)", "x1", "x2"],
  );
});

test("a lane picks all its threads, again none, and with others they are more or fewer", () => {
  assert.deepEqual(threadsOf({}, [1, 2], false), { threads: [1, 2] });
  assert.deepEqual(threadsOf({ threads: [1, 2] }, [1, 2], false), {});
  assert.deepEqual(threadsOf({ threads: [1, 2, 3] }, [1, 2], false), { threads: [1, 2] });
  assert.deepEqual(threadsOf({ threads: [3, 1] }, [1, 2], true), { threads: [3, 1, 2] });
  assert.deepEqual(threadsOf({ threads: [3, 1, 2] }, [1, 2], true), { threads: [3] });
  assert.deepEqual(threadsOf({ threads: [1], tags: ["x"] }, [1], true), { tags: ["x"] });
});

test("arrows go from lane to lane, into open groups, past processes, and out at the ends", () => {
  const profile = profileOf([
    { stack: "a", pid: 7, tid: 71, name: "w1" },
    { stack: "a", pid: 7, tid: 72, name: "w2" },
    { stack: "a", pid: 8, tid: 81, name: "main" },
  ]);
  const lanes = lanesOf(profile, ["7/w*"]);
  const way: (number[] | undefined)[] = [];
  for (let at: number[] | undefined = []; at; way.push(at)) at = laneAfter(lanes, at, 1)?.tids;
  assert.deepEqual(way, [[71, 72], [71], [72], [81], undefined]);
  assert.deepEqual(laneAfter(lanes, [], -1)?.tids, [81]);
  assert.deepEqual(laneAfter(lanes, [81, 71], 1)?.tids, [71], "behind the group that holds it");
  assert.equal(laneOf(lanes, [72, 71]), 1);
  assert.equal(laneOf(lanes, [81, 71]), -1);
});

test("lanes stand by activity or by name, groups and what is in them too", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, name: "main" },
    { stack: "a", tid: 2, name: "w-10", times: 3 },
    { stack: "a", tid: 3, name: "w-9", times: 4 },
    { stack: "a", tid: 4, name: "idle", times: 2 },
  ]);
  const open = ["1/w-*"];
  assert.deepEqual(told(lanesOf(profile, open, { order: "activity" })), [
    "w-*: 2,3",
    "  w-9: 3",
    "  w-10: 2",
    "idle: 4",
    "main: 1",
  ]);
  assert.deepEqual(told(lanesOf(profile, open, { order: "name" })), [
    "idle: 4",
    "main: 1",
    "w-*: 2,3",
    "  w-9: 3",
    "  w-10: 2",
  ]);
});

test("threads that are found have lanes of their own, by name or number, whatever its case", () => {
  const profile = threads("main", "worker-1", "Worker-2", "pool");
  assert.deepEqual(told(lanesOf(profile, [], { find: "WORK" })), ["worker-1: 2", "Worker-2: 3"]);
  assert.deepEqual(told(lanesOf(profile, [], { find: "4" })), ["pool: 4"]);
  assert.deepEqual(told(lanesOf(profile, [], { find: "nobody" })), []);
});

test("a group's lane is full with as many threads as were at work at once", () => {
  const states = Float32Array.of(0.5, 0, 1.2, 0.3, 0, 0); // three steps of two states
  const of = (count: number) => ({ states, tids: Array.from({ length: count }, (_, i) => i) });
  assert.equal(threadsAtFull(of(200), 3), 2);
  assert.equal(threadsAtFull(of(1), 3), 1);
  assert.equal(threadsAtFull({ ...of(200), states: new Float32Array(6) }, 3), 1);
});
