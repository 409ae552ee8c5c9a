// The children of each node that weigh anything, side by side, in a wanted order.
import { type Calls, NOBODY, ROOT } from "./call_tree";

/** Children of node n: list[first[n]] .. list[first[n + 1] - 1]. */
export interface Children {
  first: Int32Array;
  list: Int32Array;
}

/** name: the place of a function does not change while weights do; weight: heaviest first. */
export type SiblingOrder = "name" | "weight";

/** The place of each function when sorted by name; equal names keep apart, and keep their order. */
export function nameRanks(names: readonly string[]): Int32Array {
  const order = Int32Array.from(names, (_, i) => i);
  order.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
  const ranks = new Int32Array(names.length);
  order.forEach((fn, rank) => (ranks[fn] = rank));
  return ranks;
}

export function childrenOf(
  calls: Calls,
  total: Float64Array,
  order: SiblingOrder,
  ranks: Int32Array,
): Children {
  const { functions } = calls;
  // Groups, and what is inlined beside what is called, stand as they arrived.
  const byName = (a: number, b: number) =>
    (functions[a] < NOBODY ? 0 : ranks[functions[a]] - ranks[functions[b]]) || a - b;
  const byWeight = (a: number, b: number) => total[b] - total[a] || byName(a, b);
  return sortedChildren(calls, total, order === "name" ? byName : byWeight);
}

/** What is equal stands as it arrived. */
export function sortedChildren(
  { parents }: Calls,
  total: Float64Array,
  compare: (a: number, b: number) => number,
): Children {
  const first = new Int32Array(total.length + 1);
  for (let node = ROOT + 1; node < total.length; node++)
    if (total[node] > 0) first[parents[node] + 1]++;
  for (let node = 0; node < total.length; node++) first[node + 1] += first[node];
  const list = new Int32Array(first[total.length]);
  const next = first.slice(0, total.length);
  for (let node = ROOT + 1; node < total.length; node++)
    if (total[node] > 0) list[next[parents[node]]++] = node;
  for (let node = 0; node < total.length; node++)
    if (first[node + 1] - first[node] > 1)
      list.subarray(first[node], first[node + 1]).sort(compare);
  return { first, list };
}
