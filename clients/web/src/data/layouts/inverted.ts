// The call tree upside down, whole: from each leaf to the roots of its stacks. Functions by their own time
// are the first row, and above each stands who called it. Groups, which call nobody, are left out.
import { type Calls, CallTree, NOBODY, ROOT } from "../call_tree";
import { FloatColumn } from "../columns";
import { type Totals, totalsOf } from "../totals";

export function inverted({ parents, functions }: Calls, { self }: Pick<Totals, "self">) {
  const calls = new CallTree();
  const weights = new FloatColumn(); // by node of calls
  weights.push(0);
  for (let node = ROOT + 1; node < self.length; node++) {
    if (!self[node]) continue;
    let at = ROOT;
    for (let one = node; one > ROOT && functions[one] > NOBODY; one = parents[one])
      at = calls.child(at, functions[one]);
    while (weights.length < calls.length) weights.push(0);
    weights.data[at] += self[node];
  }
  return { calls, totals: totalsOf(calls, weights.view()) };
}
