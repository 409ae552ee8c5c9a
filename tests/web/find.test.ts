import assert from "node:assert/strict";
import { test } from "node:test";
import { diff } from "../../clients/web/src/data/layouts/diff";
import { weigh } from "../../clients/web/src/data/filter";
import { overview, stepFor } from "../../clients/web/src/data/layouts/overview";
import type { Profile } from "../../clients/web/src/data/profile";
import { found, type Search, shareOf } from "../../clients/web/src/data/sums/search";
import { functionKey, Shaper } from "../../clients/web/src/data/shape";
import { count } from "../../clients/web/src/data/totals";
import { profileOf } from "./samples";

const counted = (profile: Profile) => count(new Shaper(profile, []).shape(), weigh(profile, {}));

function search(profile: Profile, wanted: Search) {
  const hits = found(wanted, profile.functions, profile.libraries);
  const names = profile.functions.filter((_, fn) => hits[fn]).map(({ name }) => name);
  const { calls, samples } = counted(profile);
  return { names, ...shareOf(calls, samples, hits) };
}

test("search finds names and libraries whatever their letters, and counts each sample once", () => {
  const profile = profileOf(["main Parse parse_expr", "main parse_expr", "main libz.so!inflate"]);
  const parse = search(profile, { text: "parse", regex: false });
  assert.deepEqual(parse.names, ["Parse", "parse_expr"]);
  assert.deepEqual([parse.nodes, parse.weight], [3, 2]);
  assert.deepEqual(search(profile, { text: "LIBZ", regex: false }).names, ["inflate"]);
});

test("an expression is one only when asked for", () => {
  const profile = profileOf(["a.b", "axb"]);
  assert.deepEqual(search(profile, { text: "a.b", regex: false }).names, ["a.b"]);
  assert.deepEqual(search(profile, { text: "^a.b$", regex: true }).names, ["a.b", "axb"]);
  assert.throws(() => search(profile, { text: "(", regex: true }), SyntaxError);
});

test("two trees are compared as shares, function by function, also of different profiles", () => {
  const before = profileOf(["x", { stack: "main a", times: 1 }, { stack: "main b", times: 2 }]);
  const after = profileOf([
    { stack: "main b", times: 1 },
    { stack: "main c", times: 1 },
  ]);
  const side = (profile: Profile) => {
    const { calls, samples } = counted(profile);
    return { calls, totals: samples, keyOf: (fn: number) => functionKey(profile, fn) };
  };
  const both = diff(side(before), side(after));
  const rows = new Map<string, [number, number]>();
  for (let node = 1; node < both.calls.length; node++)
    rows.set(both.keys[both.calls.functions[node]], [
      both.before.total[node],
      both.after.total[node],
    ]);
  assert.deepEqual(rows.get("app!main"), [0.75, 1]);
  assert.deepEqual(rows.get("app!b"), [0.5, 0.5]);
  assert.deepEqual(rows.get("app!c"), [0, 0.5]);
  assert.deepEqual(rows.get("app!x"), [0.25, 0]);
});

test("the overview counts processors in use and states by step, busiest threads only", () => {
  const profile = profileOf([
    { stack: "a", tid: 1, name: "main", time_us: 1000, cpu_ns: 1e6 },
    { stack: "a", tid: 2, name: "other", time_us: 1500, cpu_ns: 1e6 },
    { stack: "a", tid: 2, name: "other", time_us: 2500, cpu_ns: 0, state: "Sleep" },
  ]);
  const all = overview(profile, [0, 2500], 100, 1);
  assert.deepEqual([all.step_us, all.steps], [1000, 3]);
  assert.deepEqual([...all.cpu], [1.5, 0.5, 0]);
  assert.deepEqual([...all.samples], [0, 2000, 1000]);
  assert.deepEqual(
    all.lanes.map(({ tids }) => tids),
    [[2]],
  );
  assert.deepEqual([...all.stateSamples], [2, 1]);
  assert.equal(all.laneCount, 2);
  assert.deepEqual([...all.lanes[0].states], [0.5, 0, 0.5, 0.5, 0, 0.5]);
});

test("steps are lengths that people read well", () => {
  assert.deepEqual(
    [1, 100_001, 250_000, 300_000, 1e6, 3.6e9].map((extent) => stepFor(extent, 100)),
    [1000, 2000, 5000, 5000, 10_000, 50_000_000],
  );
});
