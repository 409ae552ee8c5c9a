// One stack of a function: that way to it that has the most samples.
import { ROOT } from "./call_tree";
import type { Counted } from "./totals";

/** Functions and groups, outermost first; empty: it is on no stack. */
export function heaviestStack({ calls, samples }: Counted, fn: number): number[] {
  const { functions, parents } = calls;
  let heaviest = ROOT;
  for (let node = ROOT + 1; node < samples.total.length; node++)
    if (
      functions[node] === fn &&
      (heaviest === ROOT || samples.total[node] > samples.total[heaviest])
    )
      heaviest = node;
  const stack = [];
  for (let node = heaviest; node > ROOT; node = parents[node]) stack.push(functions[node]);
  return stack.reverse();
}
