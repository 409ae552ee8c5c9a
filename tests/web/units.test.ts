// What shares are of: CPU time, since a thread that ticks cost too much gets few samples, of much each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Profile } from "../../clients/web/src/data/profile";
import { TableReader } from "../../clients/web/src/data/table_form";
import { data, look, usedUnit } from "../../clients/web/src/state/live";
import { START, select, selection } from "../../clients/web/src/state/selection";
import { Answers } from "../../clients/web/src/worker/answers";
import type { DataState, Unit } from "../../clients/web/src/worker/messages";
import { profileOf } from "./samples";

declare const TESTS: string; // the folder tests/, set by run.mjs

const throttled = () =>
  profileOf([
    { stack: "spin", times: 16 },
    { stack: "hash", times: 2, cpu_ns: 8e6, tid: 2 },
  ]);
const ALL = { filter: {}, transforms: [], group: "" as const };

test("shares are of CPU time, in wall mode and without any CPU time of samples", () => {
  assert.equal(throttled().unit(), "time");
  const wall = profileOf(["spin", { stack: "poll", cpu_ns: 0, state: "Sleep" }]);
  assert.equal(wall.unit(), "samples");
  assert.equal(profileOf([{ stack: "main", cpu_ns: 0 }]).unit(), "samples");
});

test("a state that the service could tell of is not one that a sample has", () => {
  const file = readFileSync(join(TESTS, "trees/cut.json"), "utf8");
  const [reply] = JSON.parse(file).replies;
  const reader = new TableReader();
  reader.add({ ...reply, vmTags: [...reply.vmTags, "Sleep"] });
  assert.equal(reader.profile.unit(), "time");
});

test("the page begins with what the profile is weighed by, and keeps what the user picks", () => {
  data.value = { unit: "samples" } as DataState;
  assert.equal(usedUnit.value, "samples");
  data.value = { unit: "time" } as DataState;
  assert.deepEqual([usedUnit.value, look.value.unit], ["time", "time"]);
  select({ unit: "samples" });
  assert.deepEqual([usedUnit.value, look.value.unit], ["samples", "samples"]);
  selection.value = START;
  data.value = null;
});

async function shares(profile: Profile, unit: Unit): Promise<number[]> {
  const answers = new Answers(profile);
  const share = async (text: string) => {
    const search = { text, regex: false };
    return (await answers.answer("search", { ...ALL, unit, search })).share;
  };
  return [await share("spin"), await share("hash")];
}

test("what was found has its share of what the page shows", async () => {
  assert.deepEqual(await shares(throttled(), "time"), [0.5, 0.5]);
  assert.deepEqual(await shares(throttled(), "samples"), [16 / 18, 2 / 18]);
});

test("callers are in the order of what the page shows", async () => {
  const profile = profileOf([
    { stack: "often f", times: 3 },
    { stack: "long f", cpu_ns: 8e6 },
  ]);
  const fn = profile.functions.findIndex(({ name }) => name === "f");
  const first = async (unit: Unit) => {
    const { callers } = await new Answers(profile).answer("neighbours", { ...ALL, unit, fn });
    return profile.functions[callers[0].fn].name;
  };
  assert.deepEqual([await first("time"), await first("samples")], ["long", "often"]);
});
