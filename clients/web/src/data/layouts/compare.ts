// A differential flame graph and table: where a part of the samples became more, and where less.
//
// Widths are the mean of the two shares: so children fit into their caller, and what is on one side only
// is seen, too. Both shares of each box and function stand beside.
import { type Children, childrenOf, nameRanks } from "../children";
import { diff, type Side } from "./diff";
import { type FlameRows, flameLayout } from "./flame_layout";
import { byFunction, type Totals, totalsOf } from "../totals";

export interface Comparison {
  keys: string[]; // functionKey by the numbers that boxes and tables have here
  boxes: FlameRows; // whole: 1
  boxBefore: Float64Array; // shares, by box
  boxAfter: Float64Array;
  before: Totals; // shares, by function
  after: Totals;
  samples: [number, number]; // of the wholes
}

export function compare(before: Side, after: Side): Comparison {
  const both = diff(before, after);
  const { calls, keys } = both;
  const mean = totalsOf(
    calls,
    both.before.self.map((share, node) => (share + both.after.self[node]) / 2),
  );
  const ranks = nameRanks(keys.map((key) => key.slice(key.indexOf("!") + 1)));
  const children: Children = childrenOf(calls, mean.total, "name", ranks);
  const boxes = flameLayout(calls, mean, children);
  const perBox = (totals: Totals) => Float64Array.from(boxes.node, (node) => totals.total[node]);
  return {
    keys,
    boxes,
    boxBefore: perBox(both.before),
    boxAfter: perBox(both.after),
    before: byFunction(calls, both.before, keys.length),
    after: byFunction(calls, both.after, keys.length),
    samples: [before.totals.total[0], after.totals.total[0]],
  };
}
