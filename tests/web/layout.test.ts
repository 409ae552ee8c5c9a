import assert from "node:assert/strict";
import { test } from "node:test";
import { chartLayout } from "../../clients/web/src/data/layouts/chart_layout";
import { childrenOf, nameRanks, type SiblingOrder } from "../../clients/web/src/data/children";
import { weigh } from "../../clients/web/src/data/filter";
import { boxAt, flameLayout, type FlameRows } from "../../clients/web/src/data/layouts/flame_layout";
import { inverted } from "../../clients/web/src/data/layouts/inverted";
import type { Profile } from "../../clients/web/src/data/profile";
import { Shaper } from "../../clients/web/src/data/shape";
import { count } from "../../clients/web/src/data/totals";
import { profileOf } from "./samples";

function flame(profile: Profile, order: SiblingOrder): FlameRows {
  const { calls, samples } = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const ranks = nameRanks(profile.functions.map(({ name }) => name));
  return flameLayout(calls, samples, childrenOf(calls, samples.total, order, ranks));
}

/** Row by row: name@x+width. */
function told(profile: Profile, boxes: FlameRows): string[] {
  return [...boxes.rows.slice(0, -1)].map((start, row) => {
    const words = [];
    for (let box = start; box < boxes.rows[row + 1]; box++)
      words.push(`${profile.functions[boxes.fn[box]].name}@${boxes.x[box]}+${boxes.width[box]}`);
    return words.join(" ");
  });
}

const MIXED = ["main z", { stack: "main b y", times: 3 }, "main b x", "main b"];

test("by name, siblings keep their places whatever they weigh", () => {
  const profile = profileOf(MIXED);
  assert.deepEqual(told(profile, flame(profile, "name")), [
    "main@0+6",
    "b@0+5 z@5+1",
    "x@0+1 y@1+3",
  ]);
});

test("inverted: leaves by their own weight, and behind each who called it", () => {
  const profile = profileOf(MIXED);
  const { calls, samples } = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const turned = inverted(calls, samples);
  const ranks = nameRanks(profile.functions.map(({ name }) => name));
  const children = childrenOf(turned.calls, turned.totals.total, "name", ranks);
  assert.deepEqual(told(profile, flameLayout(turned.calls, turned.totals, children)), [
    "b@0+1 x@1+1 y@2+3 z@5+1",
    "main@0+1 b@1+1 b@2+3 main@5+1",
    "main@1+1 main@2+3",
  ]);
});

test("left heavy: the heaviest stands first", () => {
  const profile = profileOf(MIXED);
  assert.deepEqual(told(profile, flame(profile, "weight")), [
    "main@0+6",
    "b@0+5 z@5+1",
    "y@0+3 x@3+1",
  ]);
});

test("no samples are no rows", () => {
  const boxes = flame(profileOf([]), "name");
  assert.deepEqual([...boxes.rows], [0]);
  assert.equal(boxes.whole, 0);
});

test("a box is found by what it covers, a gap by what follows it", () => {
  const profile = profileOf(["main a q", "main b", { stack: "main c q", times: 2 }]);
  const boxes = flame(profile, "name");
  const names = [0, 0.99, 1, 2, 3.9].map(
    (x) => profile.functions[boxes.fn[boxAt(boxes, 1, x)]].name,
  );
  assert.deepEqual(names, ["a", "a", "b", "c", "c"]);
  assert.equal(boxes.x[boxAt(boxes, 2, 1.5)], 2);
  assert.equal(boxAt(boxes, 1, 4), boxes.rows[2]);
});

test("in the chart, neighbours with the same callers are one box, and a gap parts them", () => {
  const profile = profileOf([
    { stack: "main a", time_us: 10_000 },
    { stack: "main b", time_us: 11_000 },
    { stack: "main b", time_us: 12_000 },
    { stack: "main b", time_us: 20_000 },
  ]);
  const boxes = chartLayout(profile, new Shaper(profile, []).shape(), {}, 10_000, 11_000);
  assert.deepEqual(told(profile, boxes), [
    "main@0+4000 main@10000+1000",
    "a@0+1000 b@1000+3000 b@10000+1000",
  ]);
});

test("samples that came out of order are drawn in the order of time", () => {
  const profile = profileOf([
    { stack: "b", time_us: 2000 },
    { stack: "a", time_us: 1000 },
  ]);
  const boxes = chartLayout(profile, new Shaper(profile, []).shape(), {}, 1000, 2000);
  assert.deepEqual(told(profile, boxes), ["a@0+1000 b@1000+1000"]);
});

test("what is too thin for the chart is joined, and nobody's; what is wide stays", () => {
  const profile = profileOf(["a", "b", "a", { stack: "c", times: 30 }, "b", "a"]);
  const boxes = chartLayout(profile, new Shaper(profile, []).shape(), {}, 0, 35_000, 5000);
  const words = [...boxes.fn].map(
    (fn, i) => `${profile.functions[fn]?.name}@${boxes.x[i]}+${boxes.width[i]}`,
  );
  assert.deepEqual(words, ["undefined@0+3000", "c@3000+30000", "undefined@33000+2000"]);
});

test("in the chart, gaps that cannot be seen part nothing", () => {
  const profile = profileOf([
    { stack: "main a", time_us: 0 },
    { stack: "main a", time_us: 4000 },
    { stack: "main a", time_us: 20_000 },
  ]);
  const shape = new Shaper(profile, []).shape();
  const near = chartLayout(profile, shape, {}, 0, 21_000, 1000);
  assert.deepEqual(told(profile, near)[0], "main@0+2000 main@4000+2000 main@20000+1000");
  const far = chartLayout(profile, shape, {}, 0, 21_000, 2000);
  assert.deepEqual(told(profile, far)[0], "main@0+6000 main@20000+1000");
});
