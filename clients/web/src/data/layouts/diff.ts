// Two call trees side by side, as shares of their wholes: what became more, what less. They may be of
// two profiles; functions are the same when their keys are.
import { type Calls, CallTree, ROOT } from "../call_tree";
import { type Totals, totalsOf } from "../totals";

export interface Side {
  calls: Calls;
  totals: Totals;
  keyOf(fn: number): string; // functionKey
}

export interface Diff {
  calls: CallTree; // of both; its functions are numbers of keys
  keys: string[];
  before: Totals; // shares of the whole, 0 to 1
  after: Totals;
}

function mapped(side: Side, calls: CallTree, numbers: Map<string, number>): Int32Array {
  const { parents, functions, length } = side.calls;
  const nodeOf = new Int32Array(length);
  const known = new Map<number, number>();
  for (let node = ROOT + 1; node < length; node++) {
    let number = known.get(functions[node]);
    if (number === undefined) {
      const key = side.keyOf(functions[node]);
      number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      known.set(functions[node], number);
    }
    nodeOf[node] = calls.child(nodeOf[parents[node]], number);
  }
  return nodeOf;
}

function shares(side: Side, nodeOf: Int32Array, calls: CallTree): Totals {
  const self = new Float64Array(calls.length);
  const whole = side.totals.total[ROOT] || 1;
  nodeOf.forEach((to, node) => (self[to] += side.totals.self[node] / whole));
  return totalsOf(calls, self);
}

export function diff(before: Side, after: Side): Diff {
  const calls = new CallTree();
  const numbers = new Map<string, number>();
  const ofBefore = mapped(before, calls, numbers);
  const ofAfter = mapped(after, calls, numbers);
  return {
    calls,
    keys: [...numbers.keys()],
    before: shares(before, ofBefore, calls),
    after: shares(after, ofAfter, calls),
  };
}
