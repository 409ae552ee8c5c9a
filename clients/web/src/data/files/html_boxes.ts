// The flame graph of chosen samples as the saved page has it: processes, and the calls below them.
//
// Units    self, total, start: whole microseconds, or samples, as the profile's shares are.
// Order    Callers first, then from left to right: the busiest call of each stands at its left.
import type { Profile } from "../profile";
import type { Chosen } from "./chosen";

export interface Box {
  name: string;
  library: string;
  fn: number; // below 0: a process, another number each
  inlined: boolean;
  row: number;
  start: number;
  self: number;
  total: number;
}

/** What a sample is worth. */
export function weightOf(profile: Profile): (sample: number) => number {
  const cpu_ns = profile.samples.cpu_ns.data;
  return profile.unit() === "samples" ? () => 1 : (sample) => Math.round(cpu_ns[sample] / 1000);
}

/** Processes that have some of them, in the order of their first samples. */
export function processLabels({ profile, places }: Chosen): Map<number, string> {
  const { threads, samples, processNames } = profile;
  const pids = new Set(Array.from(places, (i) => threads[samples.thread.data[i]].pid));
  return new Map(Array.from(pids, (pid) => [pid, `${processNames.get(pid) ?? "process"} (${pid})`]));
}

export function flameBoxes(chosen: Chosen): Box[] {
  const trees = Array.from(processLabels(chosen), ([pid, label], i) =>
    treeOf(chosen, pid, label, -1 - i),
  );
  trees.sort((a, b) => b.root.total - a.root.total);
  const boxes: Box[] = [];
  let end = 0;
  for (const { root, calleesOf } of trees) {
    const waiting: { box: Box; node: number }[] = [{ box: { ...root, start: end }, node: 0 }];
    end += root.total;
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { box, node } = next;
      if (!box.total) continue;
      boxes.push(box);
      let { start } = box;
      const callees = calleesOf(node).map(({ node, ...callee }) => {
        const placed = { box: { ...callee, row: box.row + 1, start }, node };
        start += callee.total;
        return placed;
      });
      waiting.push(...callees.reverse());
    }
  }
  return boxes;
}

interface Tree {
  root: Box;
  /** The busiest first. */
  calleesOf(node: number): (Box & { node: number })[];
}

function treeOf({ profile, places }: Chosen, pid: number, label: string, number: number): Tree {
  const { calls, callOf, functions, libraries, samples, threads } = profile;
  const { parents, inlined, length } = calls;
  const own = new Float64Array(length);
  const worth = weightOf(profile);
  for (const i of places)
    if (threads[samples.thread.data[i]].pid === pid) own[callOf[samples.stack.data[i]]] += worth(i);
  const total = own.slice();
  const callees = new Map<number, number[]>();
  for (let node = length - 1; node > 0; node--) {
    if (!total[node]) continue;
    const caller = parents[node];
    total[caller] += total[node];
    const list = callees.get(caller);
    if (list) list.push(node);
    else callees.set(caller, [node]);
  }
  const sums = (node: number) => ({ self: own[node], total: total[node], row: 0, start: 0 });
  const boxOf = (node: number) => {
    const fn = calls.functions[node];
    const { name, library } = functions[fn];
    const known = { fn, name, library: libraries[library]?.name ?? "" };
    return { node, ...known, inlined: inlined[node] === 1, ...sums(node) };
  };
  return {
    root: { name: label, library: "", fn: number, inlined: false, ...sums(0) },
    calleesOf: (node) => (callees.get(node) ?? []).map(boxOf).sort(byWeight),
  };
}

function byWeight(a: Box, b: Box): number {
  const byName = b.total - a.total || order(a.name, b.name);
  return byName || order(`${a.fn}`, `${b.fn}`) || +a.inlined - +b.inlined;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
