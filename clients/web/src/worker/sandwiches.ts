// The sandwich of a function, laid out and coloured.
import { childrenOf, type SiblingOrder } from "../data/children";
import type { FlameRows } from "../data/layouts/flame_layout";
import { flameLayout } from "../data/layouts/flame_layout";
import { halves, heaviestBySelf, type Turned } from "../data/layouts/sandwich";
import { byFunction, type Counted, type Totals } from "../data/totals";
import { ROOT } from "../data/call_tree";

export interface Sandwich {
  fn: number; // -1: there are no samples
  callers: FlameRows; // row 0: who calls it
  callees: FlameRows; // row 0: whom it calls
  self: number; // in the unit that was asked for, as the next two
  total: number;
  whole: number; // of all samples
  samples: { self: number; total: number };
}

interface Asked {
  fn: number; // -1: the heaviest by self
  order: SiblingOrder;
  ranks: Int32Array; // of names
  functions: number; // how many there are
  slots?(of: Turned): Uint8Array; // by node, where colours are not the functions'
}

export function sandwich(counted: Counted, weights: Totals, asked: Asked): Sandwich {
  const { calls, samples } = counted;
  const sums = byFunction(calls, weights, asked.functions);
  const fn = asked.fn < 0 ? heaviestBySelf(sums) : asked.fn;
  const { callers, callees } = halves(calls, weights, fn);
  const total = callees.totals.total[ROOT];
  const laidOut = (half: Turned) => {
    const children = childrenOf(half.calls, half.totals.total, asked.order, asked.ranks);
    const boxes = { ...flameLayout(half.calls, half.totals, children), whole: total };
    const slots = asked.slots?.(half);
    return slots ? { ...boxes, slots: Uint8Array.from(boxes.node, (node) => slots[node]) } : boxes;
  };
  const counts = byFunction(calls, samples, asked.functions);
  return {
    fn,
    callers: { ...laidOut(callers), self: new Float64Array(0) },
    callees: laidOut(callees),
    self: sums.self[fn] ?? 0,
    total,
    whole: weights.total[ROOT],
    samples: { self: counts.self[fn] ?? 0, total: counts.total[fn] ?? 0 },
  };
}
