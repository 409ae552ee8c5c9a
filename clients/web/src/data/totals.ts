// Self and total of every node, and of every function.
import { type Calls, ROOT } from "./call_tree";
import type { Weights } from "./filter";
import type { Shape } from "./shape";

/** By node of a shape's calls. Weights are samples or nanoseconds; they add up the same way. */
export interface Totals {
  readonly self: Float64Array;
  readonly total: Float64Array; // of the root: of all that is not left out
}

export interface Counted {
  readonly calls: Calls;
  readonly samples: Totals;
  readonly time_ns: Totals;
}

/** self by node -> with totals: callees have larger numbers than their callers. */
export function totalsOf(calls: Calls, self: Float64Array): Totals {
  const total = self.slice();
  const parents = calls.parents;
  for (let node = calls.length - 1; node > ROOT; node--) total[parents[node]] += total[node];
  return { self, total };
}

function moved(shape: Shape, weights: Float64Array): Float64Array {
  const self = new Float64Array(shape.calls.length);
  for (let node = 0; node < weights.length; node++) {
    const to = shape.nodeOf[node];
    if (to >= 0) self[to] += weights[node];
  }
  return self;
}

export function count(shape: Shape, weights: Weights): Counted {
  const { calls } = shape;
  return {
    calls,
    samples: totalsOf(calls, moved(shape, weights.samples)),
    time_ns: totalsOf(calls, moved(shape, weights.time_ns)),
  };
}

/** By function: total once per sample, however often the function recurs in its stack. */
export function byFunction(calls: Calls, totals: Totals, functionCount: number): Totals {
  const self = new Float64Array(functionCount);
  const total = new Float64Array(functionCount);
  const { functions, outermost } = calls;
  for (let node = ROOT + 1; node < totals.self.length; node++) {
    const fn = functions[node];
    if (fn < 0) continue; // a group
    self[fn] += totals.self[node];
    if (outermost[node]) total[fn] += totals.total[node];
  }
  return { self, total };
}
