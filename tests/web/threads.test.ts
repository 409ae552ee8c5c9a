// Threads as rows of a table, and as bands of the chart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf } from "../../clients/web/src/data/group";
import { ACTIVITY_STEPS } from "../../clients/web/src/data/sums/thread_rows";
import type { FlameRows } from "../../clients/web/src/data/layouts/flame_layout";
import type { Profile } from "../../clients/web/src/data/profile";
import type { ThreadColumn } from "../../clients/web/src/data/sort";
import { calleesOf, pathOf, stepFrom } from "../../clients/web/src/views/boxes/box_place";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Look } from "../../clients/web/src/worker/messages";
import { functionOf, profileOf } from "./samples";

const ALL: Look = { filter: {}, transforms: [], group: "" };

const SOME = [
  { stack: "main read", tid: 11, name: "worker-10", times: 3, cpu_ns: 0, state: "Sleep" },
  { stack: "main work", tid: 11, name: "worker-10", cpu_ns: 2e6 },
  { stack: "main spin", tid: 12, name: "worker-9", times: 2, cpu_ns: 3e6 },
  { stack: "main", tid: 7, pid: 5, name: "main", cpu_ns: 1e6 },
];

const ask = (profile: Profile, by: ThreadColumn, ascending = false, find = "", look = {}) =>
  new Answers(profile).answer("threadTable", { ...ALL, ...look, sort: { by, ascending }, find });

async function names(by: ThreadColumn, ascending = false, find = "") {
  const profile = profileOf(SOME);
  const table = await ask(profile, by, ascending, find);
  return Array.from(table!.rows, (one) => profile.threads[one].name).join(" ");
}

test("threads are sorted by each column, numbers in names by their size", async () => {
  assert.equal(await names("name", true), "main worker-9 worker-10");
  assert.equal(await names("process"), "main worker-10 worker-9");
  assert.equal(await names("tid", true), "main worker-10 worker-9");
  assert.equal(await names("time"), "worker-9 worker-10 main");
  assert.equal(await names("samples"), "worker-10 worker-9 main");
  assert.equal(await names("first", true), "worker-10 worker-9 main");
  assert.equal(await names("last"), "main worker-9 worker-10");
  assert.equal(await names("states", true), "worker-10 worker-9 main");
  assert.equal(await names("busiest", true), "main worker-10 worker-9");
});

test("threads are found by name, tid and pid", async () => {
  assert.equal(await names("time", false, "WORKER"), "worker-9 worker-10");
  assert.equal(await names("time", false, "12"), "worker-9");
  assert.equal(await names("time", false, "5"), "main");
  assert.equal(await names("time", false, "nobody"), "");
});

test("a thread has its weights, its times, its states and what it did most", async () => {
  const profile = profileOf(SOME);
  const table = (await ask(profile, "time"))!;
  const one = profile.threads.findIndex(({ tid }) => tid === 11);
  const states = profile.states.texts.length;
  assert.deepEqual(
    [table.samples[one], table.time_ns[one], table.first_us[one], table.last_us[one]],
    [4, 2e6, 0, 3000],
  );
  assert.deepEqual(profile.states.texts, ["Sleep", "Running"]);
  assert.deepEqual([...table.states.subarray(one * states, (one + 1) * states)], [3, 1]);
  assert.equal(table.busiest[one], functionOf(profile, "read"));
  const byTime = (await ask(profile, "time", false, "", { unit: "time" }))!;
  assert.equal(byTime.busiest[one], functionOf(profile, "work"));
});

test("activity is of samples that do not wait, and as high as the busiest step", async () => {
  const profile = profileOf(SOME);
  const { activity } = (await ask(profile, "time"))!;
  const of = (tid: number) => {
    const one = profile.threads.findIndex((thread) => thread.tid === tid);
    return [...activity.subarray(one * ACTIVITY_STEPS, (one + 1) * ACTIVITY_STEPS)];
  };
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  assert.deepEqual([sum(of(11)), sum(of(12)), sum(of(7))], [1, 2, 1]);
  assert.equal(of(7)[ACTIVITY_STEPS - 1], 1); // the last sample of all
});

test("a range, and what is focused, count in the table of threads", async () => {
  const profile = profileOf(SOME);
  const { rows } = (await ask(profile, "time", false, "", { filter: { window_us: [0, 4000] } }))!;
  assert.deepEqual([...rows], [0]);
  const focus = [{ kind: "focus-function", fn: "app!spin" }];
  const spin = (await ask(profile, "time", false, "", { transforms: focus }))!;
  assert.deepEqual(Array.from(spin.rows, (one) => profile.threads[one].tid), [12]);
  assert.equal(await ask(profileOf([]), "time"), null);
});

/** Each row: names of its boxes, a thread's in brackets. */
function told(profile: Profile, { rows, fn, x }: FlameRows): string[] {
  return [...rows.slice(0, -1)].map((start, row) =>
    Array.from(fn.subarray(start, rows[row + 1]), (one, i) => {
      const thread = groupOf(one);
      if (thread !== null) return `[${profile.threads[thread].name}]`;
      return `${profile.functions[one].name}@${x[start + i]}`;
    }).join(" "),
  );
}

const chart = (profile: Profile, threads: number[], colour?: "thread") =>
  new Answers(profile).answer("chart", {
    ...{ ...ALL, threads, origin_us: 0, extent_us: 7000, thin_us: 0, colour },
  });

test("threads of the chart are bands, each below its name, in one time", async () => {
  const profile = profileOf(SOME);
  const boxes = await chart(profile, [1, 0]);
  assert.deepEqual([...boxes.bands!], [0, 3]);
  assert.deepEqual(told(profile, boxes), [
    "[worker-9]",
    "main@4000",
    "spin@4000",
    "[worker-10]",
    "main@0",
    "read@0 work@3000",
  ]);
  assert.equal(boxes.width[0], 7000);
});

test("a band that is closed is its name alone", async () => {
  const profile = profileOf(SOME);
  const look = { ...ALL, origin_us: 0, extent_us: 7000, thin_us: 0, threads: [1, 0], closed: [1] };
  const boxes = await new Answers(profile).answer("chart", look);
  assert.deepEqual(told(profile, boxes), ["[worker-9]", "[worker-10]", "main@0", "read@0 work@3000"]);
});

test("one thread has no band; one without samples has its name alone", async () => {
  const profile = profileOf(SOME);
  const alone = await chart(profile, [2]);
  assert.equal(alone.bands, undefined);
  assert.deepEqual(told(profile, alone), ["main@6000"]);
  const look = { ...ALL, filter: { window_us: [6000, 7000] as [number, number] } };
  const span = { origin_us: 0, extent_us: 7000, thin_us: 0 };
  const boxes = await new Answers(profile).answer("chart", { ...look, ...span, threads: [0, 2] });
  assert.deepEqual(told(profile, boxes), ["[worker-10]", "[main]", "main@6000"]);
});

test("by thread, all boxes of a band have its thread's colour", async () => {
  const profile = profileOf(SOME);
  const { slots, rows, bands } = await chart(profile, [1, 0], "thread");
  const begin = rows[bands![1]];
  assert.equal(new Set(slots!.subarray(0, begin)).size, 1);
  assert.equal(new Set(slots!.subarray(begin)).size, 1);
  assert.notEqual(slots![0], slots![begin]);
});

test("ways among boxes stay in their band, and go from one to the next by its name", async () => {
  const profile = profileOf(SOME);
  const boxes = await chart(profile, [1, 0]);
  const [read] = [boxes.rows[5]];
  assert.deepEqual(pathOf(boxes, read, 5), [boxes.rows[3], boxes.rows[4], read]);
  assert.deepEqual(calleesOf(boxes, boxes.rows[2], 2), []); // spin; below it is another band
  assert.deepEqual(calleesOf(boxes, boxes.rows[3], 3), [boxes.rows[4]]);
  assert.equal(stepFrom(boxes, boxes.rows[3], 3, "out"), null);
  assert.deepEqual(stepFrom(boxes, boxes.rows[3], 3, "left"), { row: 0, at: 0.5 });
  assert.deepEqual(stepFrom(boxes, 0, 0, "right"), { row: 3, at: 0.5 });
  assert.equal(stepFrom(boxes, 0, 0, "left"), null);
  assert.equal(stepFrom(boxes, boxes.rows[4], 4, "right"), null);
});
