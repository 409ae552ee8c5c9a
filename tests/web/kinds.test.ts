// Kinds of samples: bytes and objects in the place of time, and what is of the moment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KIND_NAMES, kindsSampled } from "../../clients/web/src/data/kinds";
import { Profile } from "../../clients/web/src/data/profile";
import { weigh } from "../../clients/web/src/data/filter";
import { overview } from "../../clients/web/src/data/layouts/overview";
import { cpuUse, extent } from "../../clients/web/src/data/spread";
import { TableReader } from "../../clients/web/src/data/table_form";
import { choose } from "../../clients/web/src/data/files/chosen";
import { writeFolded } from "../../clients/web/src/data/files/folded";
import { size } from "../../clients/web/src/views/parts/format";
import { Answers } from "../../clients/web/src/worker/answers";
import { Store } from "../../clients/web/src/worker/store";
import type { Look } from "../../clients/web/src/worker/messages";
import type { SamplesTable } from "../../clients/web/src/wire/protocol";
import { functionOf } from "./samples";

type Told = [fn: string, bytes: number, objects: number, time_us?: number];

function profileOf(told: Told[]): Profile {
  const profile = new Profile("alloc");
  told.forEach(([fn, bytes, objects, time_us = 0]) => {
    const { samples } = profile;
    samples.stack.push(profile.stack(0, profile.place(functionOf(profile, fn), "", 0)));
    samples.time_us.push(time_us);
    samples.cpu_ns.push(bytes);
    samples.objects.push(objects);
    samples.thread.push(profile.thread(1, 1, "main"));
    samples.tag.push(profile.tags.intern(""));
    samples.state.push(profile.states.intern("Running"));
    samples.whole.push(1);
  });
  return profile;
}

/** A whole reply of what is live: one sample of each function. */
function reply(functions: [id: number, bytes: number][], more: Partial<SamplesTable> = {}): SamplesTable {
  const each = <T>(of: (i: number) => T) => functions.map((_, i) => of(i));
  return {
    ...{ type: "_CpuSamplesTable", samplePeriod: 1000, maxStackDepth: 128, sampleCount: functions.length, pid: 7 },
    ...{ next: "x", reset: true, _counters: { alloc_sampled: 90, alloc_lost: 3, lost_late: 5 } },
    ...{ vmTags: ["Running"], firstLibrary: 0, firstFunction: 0, firstFrame: 0, renamed: [] },
    libraries: [{ id: "l/1", uri: "", name: "app", path: "/app", buildId: "", system: false, loadBias: 0 }],
    functions: functions.map(([id]) => ({
      ...{ id: `f/${id}`, name: `f${id}`, owner: { type: "@Library" as const, id: "l/1" }, kind: "Native" as const },
    })),
    frames: each((i) => ({ functions: [i], lines: [0], offset: 0 })),
    trees: [
      {
        ...{ tree: 1, firstNode: 1, firstThread: 0, timeOriginMicros: 5000, nodes: { callers: [], frames: [] } },
        threads: [{ isolateId: "isolates/7", tid: 7, name: "main", userTag: "main" }],
        samples: {
          ...{ timeDeltas: each(() => 10), threads: each(() => 0), callers: each(() => 0), frames: each((i) => i) },
          ...{ cpuNanos: each(() => 0), vmTags: each(() => 0), incomplete: [], ends: [] },
          bytes: functions.map(([, bytes]) => bytes),
          objects: each(() => 2),
        },
      },
    ],
    ...more,
  } as SamplesTable;
}

test("bytes are weights, and objects when they are asked for", async () => {
  const profile = profileOf([["a", 4000, 1], ["a", 2000, 30], ["b", 500, 500]]);
  const { count, cpu_ns, objects } = weigh(profile, {});
  assert.deepEqual([count, cpu_ns, objects], [3, 6500, 531]);
  const look: Look = { filter: {}, transforms: [], group: "", unit: "time" };
  const whole = async (more: Partial<Look>) =>
    (await new Answers(profile).answer("functions", { ...look, ...more })).whole;
  assert.deepEqual(await whole({}), { samples: 3, time_ns: 6500 });
  assert.deepEqual(await whole({ asObjects: true }), { samples: 3, time_ns: 531 }); // errors are of samples
  assert.deepEqual(await whole({ asObjects: true, group: "thread" }), { samples: 3, time_ns: 531 });
});

test("answers of one unit are not those of the other", async () => {
  const answers = new Answers(profileOf([["a", 4000, 1], ["b", 500, 500]]));
  const look: Look = { filter: {}, transforms: [], group: "", unit: "time" };
  const heaviest = async (more: Partial<Look>) => {
    const sort = { by: "self", ascending: false } as const;
    const { rows } = await answers.answer("table", { ...look, ...more, sort, search: null });
    return answers.profile.functions[rows[0]].name;
  };
  assert.deepEqual([await heaviest({}), await heaviest({ asObjects: true }), await heaviest({})], ["a", "b", "a"]);
});

test("what is allocated takes no time: it lies in the step of its moment", () => {
  const profile = profileOf([["a", 3e6, 1, 1500], ["a", 1e6, 1, 1600], ["a", 2e6, 1, 3500]]);
  assert.deepEqual(extent(profile), [1500, 3500]);
  const perSecond = cpuUse(profile, { origin_us: 1000, step_us: 1000, steps: 3 }).map((value) => 1e9 * value);
  assert.deepEqual([...perSecond], [4e9, 0, 2e9]);
  const { lanes, full } = overview(profile, [1000, 4000], 4, 10);
  assert.equal(full, 4e9);
  assert.deepEqual([...lanes[0].states].filter(Boolean), [1, 0.5]);
});

/** Of a thread; holder: a tid, what was waited for is the function. */
type Wait = [lock: string, end_us: number, waited_us: number, waits: number, holder: number, tid: number];

function waitsOf(waits: Wait[]): Profile {
  const profile = new Profile("lock");
  for (const [lock, end_us, length_us, count, holder, tid] of waits) {
    const { samples } = profile;
    samples.stack.push(profile.stack(0, profile.place(functionOf(profile, lock), "", 0)));
    samples.time_us.push(end_us);
    samples.cpu_ns.push(1000 * length_us * count);
    samples.objects.push(count);
    samples.holder.push(holder);
    samples.what.push(0);
    samples.thread.push(profile.thread(1, tid, `t${tid}`));
    samples.tag.push(profile.tags.intern(""));
    samples.state.push(profile.states.intern("Running"));
    samples.whole.push(1);
  }
  return profile;
}

test("a wait lies from its begin to its end, with all that it stands for", () => {
  const profile = waitsOf([["queue", 4500, 2000, 3, 7, 1], ["cache", 5500, 0, 0, 0, 1]]);
  assert.deepEqual(extent(profile), [2500, 5500]);
  const steps = { origin_us: 2000, step_us: 1000, steps: 4 };
  assert.deepEqual([...cpuUse(profile, steps)].map((value) => Math.round(100 * value) / 100), [1.5, 3, 1.5, 0]);
  // What is outside of the steps is outside, too.
  assert.deepEqual([...cpuUse(profile, { ...steps, origin_us: 3000, steps: 1 })], [3]);
});

test("a lane's step knows its longest wait: the lock, how long, and who had it", async () => {
  const profile = waitsOf([["queue", 4500, 2000, 3, 2, 1], ["cache", 4600, 50, 1, 0, 1], ["queue", 3400, 400, 1, 1, 2]]);
  const told = (await new Answers(profile).answer("overview", {
    ...{ range_us: [2000, 6000], maxSteps: 5, maxLanes: 10 },
    choice: { open: ["1/t*"], order: "start", find: "" },
  }))!;
  const [group, first, second] = told.lanes.map((lane) =>
    Array.from(lane.waits!, (wait) => {
      if (!wait) return "";
      const { lock, length_us, holder } = told.waits!;
      return `${profile.functions[lock[wait - 1]].name} ${length_us[wait - 1]} ${holder[wait - 1]}`;
    }),
  );
  assert.equal(told.step_us, 1000);
  const long = "queue 2000 2";
  assert.deepEqual(group, [long, long, long, "", ""]);
  assert.deepEqual(first, [long, long, long, "", ""]);
  assert.deepEqual(second, ["", "queue 400 1", "", "", ""]);
});

test("folded stacks have bytes", () => {
  const profile = profileOf([["a", 4000, 1], ["b", 500, 500]]);
  assert.equal(writeFolded(choose(profile, {})), "a 4000\nb 500\n");
});

test("of what is live a reply takes the place of the one before, and functions keep their numbers", () => {
  const reader = new TableReader("live");
  reader.add(reply([[1, 10], [2, 20]]));
  const { profile, resets } = reader;
  const [, second] = profile.functions;
  reader.add(reply([[3, 30], [2, 21]]));
  assert.equal(reader.profile, profile);
  assert.equal(reader.resets, resets);
  assert.deepEqual(profile.functions.map(({ name }) => name), ["f1", "f2", "f3"]);
  assert.equal(profile.functions[1], second);
  assert.deepEqual([...profile.samples.cpu_ns.view()], [30, 21]);
  const { calls, callOf, samples } = profile;
  const leaf = (sample: number) => profile.functions[calls.functions[callOf[samples.stack.data[sample]]]].name;
  assert.deepEqual([leaf(0), leaf(1)], ["f3", "f2"]);
});

test("page faults are counted, and a sample is one of them that stands for many", () => {
  const reader = new TableReader("fault");
  const told = reply([[1, 0], [2, 0]], { _counters: { fault_sampled: 2 } });
  const { bytes: _, objects: __, ...samples } = told.trees[0].samples;
  told.trees[0].samples = { ...samples, faults: [100, 50] };
  reader.add(told);
  const { cpu_ns, objects } = weigh(reader.profile, {});
  assert.deepEqual([cpu_ns, objects], [150, 2]);
  assert.deepEqual(kindsSampled({ profile_faults: "100" }), ["fault"]);
});

test("what is lost, and of how many, is of the kind", () => {
  const [time, live] = [new TableReader(), new TableReader("live")];
  for (const reader of [time, live]) reader.add(reply([[1, 10]]));
  assert.deepEqual([time.lost, live.lost], [{ late: 5 }, { alloc_lost: 3 }]);
  assert.equal(live.met, 90);
  assert.deepEqual(time.sampled, ["alloc", "live"]);
});

test("a snapshot that is held waits with the next ones, and shows the newest of them then", () => {
  let came = 0;
  const store = new Store("live", () => void came++);
  const { samples } = store.reader.profile;
  const add = (table: SamplesTable) => (store.follower as unknown as { add(t: SamplesTable, m: boolean): void }).add(table, false);
  add(reply([[1, 10]]));
  store.hold(true);
  add(reply([[1, 11]]));
  add(reply([[1, 12], [2, 5]]));
  assert.deepEqual([came, ...samples.cpu_ns.view()], [1, 10]);
  store.hold(false);
  assert.deepEqual([came, ...samples.cpu_ns.view()], [2, 12, 5]);
});

test("what is kept is not changed by what comes", () => {
  const store = new Store("live", () => {});
  store.reader.add(reply([[1, 10]]));
  const kept = store.release();
  store.reader.add(reply([[1, 99]]));
  assert.deepEqual([...kept.samples.cpu_ns.view()], [10]);
  assert.deepEqual([...store.reader.profile.samples.cpu_ns.view()], [99]);
});

test("flags tell which kinds a service samples", () => {
  assert.deepEqual(kindsSampled({}), []);
  assert.deepEqual(kindsSampled({ profile_alloc: "0" }), []);
  assert.deepEqual(kindsSampled({ profile_alloc: "524288" }), ["alloc", "live"]);
  assert.equal(KIND_NAMES[0], "time");
});

test("bytes are written as the commands write them", () => {
  const texts = [0, 1023, 1024, 1536, 1 << 20, 3.25 * 2 ** 30, 2 ** 41, 2 ** 52].map(size);
  assert.deepEqual(texts, ["0 B", "1,023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "3.3 GiB", "2.0 TiB", "4096.0 TiB"]);
});
