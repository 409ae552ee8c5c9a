// What the instructions of a function weigh. Inlining and transforms play no part: an instruction is one
// of the function that the compiler made.
import { ROOT } from "../call_tree";
import type { Filter } from "../filter";
import type { Profile } from "../profile";
import { weighStacks } from "./lines";

export interface Pcs {
  pcs: Float64Array; // those that samples met, ascending
  self: Float64Array; // samples, by index of pcs, as the others
  total: Float64Array; // once a sample, however often the pc recurs in its stack
  selfTime_ns: Float64Array;
  totalTime_ns: Float64Array;
  whole: { samples: number; time_ns: number };
}

/** Of the function's library, within the ranges [first, end). */
export function pcsOf(
  profile: Profile,
  filter: Filter,
  fn: number,
  ranges: readonly (readonly [number, number])[],
  asObjects = false,
): Pcs {
  const { parents, samples, time_ns } = weighStacks(profile, filter, undefined, asObjects);
  const library = profile.functions[fn]?.library;
  const places = profile.stackPlaces;
  const pcAt = (node: number) =>
    profile.functions[profile.functionAt(places[node])].library === library
      ? profile.pcAt(places[node])
      : -1;
  const sumsOf = new Map<number, number[]>(); // self, total, and the same of time
  for (let node = ROOT + 1; node < parents.length; node++) {
    if (samples.total[node] === 0) continue;
    const pc = pcAt(node);
    if (!ranges.some(([first, end]) => pc >= first && pc < end)) continue;
    const sums = sumsOf.get(pc) ?? [0, 0, 0, 0];
    sumsOf.set(pc, sums);
    sums[0] += samples.self[node];
    sums[2] += time_ns.self[node];
    let above = parents[node];
    while (above > ROOT && pcAt(above) !== pc) above = parents[above];
    if (above > ROOT) continue;
    sums[1] += samples.total[node];
    sums[3] += time_ns.total[node];
  }
  const rows = [...sumsOf].sort(([a], [b]) => a - b);
  const column = (at: number) => Float64Array.from(rows, ([, sums]) => sums[at]);
  return {
    pcs: Float64Array.from(rows, ([pc]) => pc),
    self: column(0),
    total: column(1),
    selfTime_ns: column(2),
    totalTime_ns: column(3),
    whole: { samples: samples.total[ROOT], time_ns: time_ns.total[ROOT] },
  };
}
