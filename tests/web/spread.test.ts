// When what samples stand for took place: before their times, and no thread on two processors at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { overview } from "../../clients/web/src/data/layouts/overview";
import { cpuUse, extent } from "../../clients/web/src/data/spread";
import { activity } from "../../clients/web/src/data/sums/activity";
import { profileOf, type Told } from "./samples";

const STEP = { step_us: 1000, origin_us: 0 };
const rounded = (values: Iterable<number>) => Array.from(values, (value) => +value.toFixed(6));
const sum = (values: Iterable<number>) => Array.from(values).reduce((all, one) => all + one, 0);

/** A thread that is always busy, whose samples are late by some of their period, and throttled for a while. */
function busyThread(tid: number): Told[] {
  const told: Told[] = [];
  let [used, seed] = [0, tid];
  for (let i = 0; i < 2000; i++) {
    seed = (seed * 48271) % 0x7fffffff;
    const cpu_us = (i > 800 && i < 900 ? 7000 : 700) + (seed % 600);
    used += cpu_us;
    const late = i % 7 ? seed % 250 : 1400;
    told.push({ stack: "main f", tid, time_us: used + late, cpu_ns: cpu_us * 1000 });
  }
  return told;
}

test("one busy thread never shows more than one processor, nor two more than two", () => {
  for (const tids of [[1], [1, 2]]) {
    const profile = profileOf(tids.flatMap(busyThread));
    const [first, last] = extent(profile)!;
    const all = overview(profile, [first - 10_000, last], 1e6, 10); // what moves back is before the first
    assert.equal(all.step_us, 1000);
    assert.ok(Math.max(...all.cpu) <= tids.length + 1e-9, `${Math.max(...all.cpu)} processors`);
    const used_ns = sum(profile.samples.cpu_ns.view());
    assert.ok(Math.abs(sum(all.cpu) * 1e6 - used_ns) < 1e-6 * used_ns, "all of it is there");
    for (const lane of all.lanes)
      assert.ok(Math.max(...lane.states) <= lane.tids.length + 1e-6, `lane ${lane.key}`);
    const f = profile.functions.findIndex(({ name }) => name === "f");
    assert.deepEqual(rounded(activity(profile, {}, f, all)), rounded(all.cpu));
  }
});

test("the CPU time of one sample lies in the steps before it, as far back as it goes", () => {
  const profile = profileOf([{ stack: "a", time_us: 4500, cpu_ns: 3e6 }]);
  assert.deepEqual([...cpuUse(profile, { ...STEP, steps: 6 })], [0, 0.5, 1, 1, 0.5, 0]);
  assert.deepEqual([...cpuUse(profile, { ...STEP, origin_us: 3000, steps: 1 })], [1]);
  assert.deepEqual(extent(profile), [1500, 4500]);
});

test("a sample with more CPU time than was since the one before moves that one back", () => {
  const profile = profileOf([
    { stack: "a", time_us: 3000 },
    { stack: "b", time_us: 3500 },
    { stack: "a", tid: 2, time_us: 3500 },
  ]);
  assert.deepEqual([...cpuUse(profile, { ...STEP, steps: 4 })], [0, 0.5, 1.5, 1]);
});

test("samples that no thread can have had are drawn where they are, not ever further back", () => {
  const profile = profileOf([{ stack: "a", time_us: 90_000, times: 1000 }]);
  const used = cpuUse(profile, { ...STEP, steps: 100 });
  assert.equal(sum(used), 1000);
  assert.equal(sum(used.subarray(0, 60)), 0);
});

test("in wall mode a lane's samples are a period each, and the curve is of CPU time", () => {
  const told = [
    { stack: "a", time_us: 2000, cpu_ns: 250_000 },
    { stack: "a", time_us: 3000, cpu_ns: 0, state: "Sleep" },
  ];
  const all = overview(profileOf(told), [0, 2999], 10, 1);
  assert.deepEqual([...all.cpu], [0, 0.25, 0]);
  assert.deepEqual(all.states, ["Running", "Sleep"]);
  assert.deepEqual([...all.lanes[0].states], [0, 0, 1, 0, 0, 1]);
});
