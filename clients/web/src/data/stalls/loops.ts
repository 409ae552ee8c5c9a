// Loops in the order that a user picks, beside what is said of all of them.
import type { Loop, LoopStats, MicrosRange } from "../../wire/protocol";
import { type LoopSort, orderOf } from "../sort";

export interface LoopTable extends Omit<LoopStats, "type"> {
  sort: LoopSort;
}

export const stallsOf = ({ levels: { stall, hang, dead } }: Loop) => stall + hang + dead;

export function loopTable({ loops, ...stats }: LoopStats, sort: LoopSort): LoopTable {
  const of = <T extends number | string>(value: (one: Loop) => T) => loops.map(value);
  const most = (range: MicrosRange) => range[1];
  const columns = {
    name: of((one) => one.name),
    thread: of((one) => one.thread),
    kind: of((one) => one.kind),
    busy: of((one) => Number(one.busy) - Number(one.ended)),
    dispatches: of((one) => one.dispatches),
    p50: of(({ dispatch }) => most(dispatch.p50)),
    p95: of(({ dispatch }) => most(dispatch.p95)),
    p99: of(({ dispatch }) => most(dispatch.p99)),
    most: of(({ dispatch }) => most(dispatch.max)),
    delay: of(({ delay }) => most(delay.p95)),
    blocking: of((one) => one.blockingMicros),
    stalls: of(stallsOf),
  };
  const order = orderOf(sort, columns, [columns.blocking, columns.dispatches]);
  return { ...stats, loops: [...loops.keys()].sort(order).map((row) => loops[row]), sort };
}
