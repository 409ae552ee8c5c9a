// Who calls a function, and whom it calls: weights once per sample, also when calls recur.
import { type Calls, NOBODY, ROOT } from "../call_tree";
import type { Counted } from "../totals";

export interface Neighbour {
  fn: number; // NOBODY, it is the thread's first function
  samples: number;
  time_ns: number;
}

export interface Neighbours {
  callers: Neighbour[]; // heaviest first
  callees: Neighbour[];
}

/** Is the same call, caller to callee, made further out on this stack? */
function recurs(calls: Calls, node: number): boolean {
  const { parents, functions } = calls;
  const fn = functions[node];
  const caller = functions[parents[node]];
  for (let at = parents[node]; at > ROOT; at = parents[at])
    if (functions[at] === fn && functions[parents[at]] === caller) return true;
  return false;
}

export function neighbours(
  counted: Counted,
  fn: number,
  by: "samples" | "time_ns" = "samples",
): Neighbours {
  const { calls, samples, time_ns } = counted;
  const { parents, functions } = calls;
  const callers = new Map<number, Neighbour>();
  const callees = new Map<number, Neighbour>();
  const add = (to: Map<number, Neighbour>, other: number, node: number) => {
    let one = to.get(other);
    if (!one) to.set(other, (one = { fn: other, samples: 0, time_ns: 0 }));
    one.samples += samples.total[node];
    one.time_ns += time_ns.total[node];
  };
  for (let node = ROOT + 1; node < calls.length; node++) {
    if (samples.total[node] === 0) continue;
    const caller = Math.max(NOBODY, functions[parents[node]]); // a group calls nobody
    if (functions[node] !== fn && caller !== fn) continue;
    if (recurs(calls, node)) continue;
    if (functions[node] === fn) add(callers, caller, node);
    if (caller === fn) add(callees, functions[node], node);
  }
  const sorted = (all: Map<number, Neighbour>) =>
    [...all.values()].sort((a, b) => b[by] - a[by] || a.fn - b.fn);
  return { callers: sorted(callers), callees: sorted(callees) };
}
