// The call tree once for each process, thread, tag, state or library of the leaf, which are its roots.
// They stand where functions do, as numbers below NOBODY.
import { CallTree, NOBODY, ROOT } from "./call_tree";
import { FloatColumn, IntColumn, PairIndex } from "./columns";
import { type Filter, passing } from "./filter";
import type { Profile } from "./profile";
import type { Shape } from "./shape";
import { type Counted, totalsOf } from "./totals";

export const GROUPS = ["", "process", "thread", "tag", "state", "library"] as const; // "": one tree
export type GroupBy = (typeof GROUPS)[number];

/** of: a pid, or the number of a thread, tag, state or library of the profile. */
export function groupFunction(of: number): number {
  return NOBODY - 1 - of;
}

/** The other way; null: it is a function. */
export function groupOf(fn: number): number | null {
  return fn < NOBODY ? NOBODY - 1 - fn : null;
}

/** What a group is called in another recording, too. of: as in groupFunction. */
export function groupText(profile: Profile, by: GroupBy, of: number): string {
  if (by === "tag") return profile.tags.texts[of];
  if (by === "state") return profile.states.texts[of];
  if (by === "thread") return String(profile.threads[of].tid);
  return by === "library" ? profile.libraries[of].name : String(of);
}

function groupsOf(profile: Profile, by: GroupBy): (sample: number) => number {
  const { thread, tag, state, stack } = profile.samples;
  const { callOf, calls, functions } = profile;
  if (by === "tag") return (sample) => tag.data[sample];
  if (by === "state") return (sample) => state.data[sample];
  if (by === "thread") return (sample) => thread.data[sample];
  if (by === "library") {
    const leaves = calls.functions;
    return (sample) => functions[leaves[callOf[stack.data[sample]]]]?.library ?? 0;
  }
  return (sample) => profile.threads[thread.data[sample]].pid;
}

export interface CountedGroups extends Counted {
  leafOf(sample: number): number; // its node; -1: it is left out
}

/** As count, with groups as the roots. Their numbers are in the order of their first samples. */
export function countGroups(
  profile: Profile,
  shape: Shape,
  filter: Filter,
  by: GroupBy,
  asObjects = false,
): CountedGroups {
  const stack = profile.samples.stack.data;
  const cpu_ns = profile.weights(asObjects);
  const { callOf } = profile;
  const group = groupsOf(profile, by);
  const leaves = new PairIndex(); // group, node of the shape
  const samples = new FloatColumn(); // by leaf
  const time_ns = new FloatColumn();
  passing(profile, filter, (i) => {
    const node = shape.nodeOf[callOf[stack[i]]];
    if (node < 0) return;
    const before = leaves.length;
    const leaf = leaves.intern(group(i), node);
    if (leaf === before) {
      samples.push(0);
      time_ns.push(0);
    }
    samples.data[leaf]++;
    time_ns.data[leaf] += cpu_ns[i];
  });
  const placer = new Placer(shape);
  const nodes = new IntColumn();
  for (let leaf = 0; leaf < leaves.length; leaf++)
    nodes.push(placer.place(leaves.a.data[leaf], leaves.b.data[leaf]));
  const spread = (weights: FloatColumn) => {
    const self = new Float64Array(placer.calls.length);
    for (let leaf = 0; leaf < leaves.length; leaf++) self[nodes.data[leaf]] += weights.data[leaf];
    return totalsOf(placer.calls, self);
  };
  const leafOf = (i: number) => {
    const node = shape.nodeOf[callOf[stack[i]]];
    return node < 0 ? node : nodes.data[leaves.find(group(i), node)];
  };
  return { calls: placer.calls, samples: spread(samples), time_ns: spread(time_ns), leafOf };
}

/** Copies the paths that are needed below their groups. */
class Placer {
  readonly calls = new CallTree();
  #known = new PairIndex(); // group, node of the shape
  #nodes = new IntColumn();

  constructor(private readonly shape: Shape) {}

  place(group: number, leaf: number): number {
    const { parents, functions, inlined } = this.shape.calls;
    const path: number[] = [];
    let known = -1;
    for (let node = leaf; node > ROOT; node = parents[node]) {
      known = this.#known.find(group, node);
      if (known >= 0) break;
      path.push(node);
    }
    let at = known >= 0 ? this.#nodes.data[known] : this.calls.child(ROOT, groupFunction(group));
    for (const node of path.reverse()) {
      at = this.calls.child(at, functions[node], inlined[node]);
      this.#known.intern(group, node);
      this.#nodes.push(at);
    }
    return at;
  }
}
