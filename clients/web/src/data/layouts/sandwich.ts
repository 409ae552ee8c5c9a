// One function between its callers and its callees: two flame graphs. Samples count at its outermost frame of
// each stack, so that recursion counts once and both graphs are as wide as its total.
import { type Calls, CallTree, ROOT } from "../call_tree";
import { type Totals, totalsOf } from "../totals";
import { inverted } from "./inverted";

export interface Turned {
  calls: Calls;
  totals: Totals;
}

export interface Halves {
  callers: Turned; // the direct ones are called by the root; without what begins a thread
  callees: Turned; // the root is the function
}

export function halves(calls: Calls, { self, total }: Totals, fn: number): Halves {
  const { parents, functions, inlined, outermost, length } = calls;
  const callees = new CallTree();
  const at = new Int32Array(length).fill(-1); // node of callees
  const atCallers = new Float64Array(length);
  for (let node = ROOT + 1; node < length; node++) {
    if (functions[node] === fn && outermost[node]) {
      at[node] = ROOT;
      atCallers[parents[node]] += total[node];
    } else if (at[parents[node]] >= 0)
      at[node] = callees.child(at[parents[node]], functions[node], inlined[node]);
  }
  const own = new Float64Array(callees.length);
  at.forEach((to, node) => {
    if (to >= 0) own[to] += self[node];
  });
  return {
    callers: inverted(calls, { self: atCallers }),
    callees: { calls: callees, totals: totalsOf(callees, own) },
  };
}

/** Of all functions; -1: there is none. */
export function heaviestBySelf({ self }: Totals): number {
  let best = -1;
  self.forEach((weight, fn) => {
    if (weight > (self[best] ?? 0)) best = fn;
  });
  return best;
}
