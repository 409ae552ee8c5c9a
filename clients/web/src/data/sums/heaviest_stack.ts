// One stack of a function: the heaviest way to it.
import { type Calls, ROOT } from "../call_tree";

/** Functions and groups, outermost first; empty: it is on no stack. */
export function heaviestStack(calls: Calls, total: Float64Array, fn: number): number[] {
  const { functions, parents } = calls;
  let heaviest = ROOT;
  for (let node = ROOT + 1; node < total.length; node++)
    if (functions[node] === fn && (heaviest === ROOT || total[node] > total[heaviest]))
      heaviest = node;
  const stack = [];
  for (let node = heaviest; node > ROOT; node = parents[node]) stack.push(functions[node]);
  return stack.reverse();
}
