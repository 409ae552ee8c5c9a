// What each line of a source file weighs. Lines are of the places in the stacks, so that what was
// inlined counts where it was written. What transforms merge into its caller is the line's that called it;
// else they change functions, not lines, and play no part.
import { ROOT } from "../call_tree";
import { type Filter, passing } from "../filter";
import type { Profile } from "../profile";
import { hiddenOf, type Transform } from "../shape";
import { totalsOf } from "../totals";

export interface FileWeight {
  file: string;
  samples: number; // self
}

export interface Lines {
  file: string; // "": no file is known of what was asked
  lines: Int32Array; // ascending, from 1 on
  self: Float64Array; // samples, by index of lines, as the others
  total: Float64Array; // once a sample, however often the line recurs in its stack
  selfTime_ns: Float64Array;
  totalTime_ns: Float64Array;
  whole: { samples: number; time_ns: number };
  files: FileWeight[]; // the heaviest ones
  hottest: Int32Array; // lines by self, then by total, of the function that was asked for or of all: most first
}

const FILES_MOST = 100;
const UNKNOWN = -1;

interface Stacks extends StackWeights {
  file: Int32Array; // by stack node; UNKNOWN: none is
  line: Int32Array;
}

/** By stack node. */
export interface StackWeights {
  parents: Int32Array;
  samples: { self: Float64Array; total: Float64Array };
  time_ns: { self: Float64Array; total: Float64Array };
}

/** hidden: by function, 1: its samples are its caller's. */
export function weighStacks(profile: Profile, filter: Filter, hidden?: Uint8Array, asObjects = false): StackWeights {
  const { stackCount, stackParents } = profile;
  const counts = new Float64Array(stackCount);
  const times = new Float64Array(stackCount);
  const { stack } = profile.samples;
  const weight = profile.weights(asObjects);
  passing(profile, filter, (i) => {
    counts[stack.data[i]]++;
    times[stack.data[i]] += weight[i];
  });
  for (let node = stackCount - 1; hidden && node > ROOT; node--) {
    if (!hidden[profile.functionAt(profile.stackPlaces[node])]) continue;
    for (const weights of [counts, times]) {
      weights[stackParents[node]] += weights[node];
      weights[node] = 0;
    }
  }
  const tree = { length: stackCount, parents: stackParents };
  return {
    parents: stackParents,
    samples: totalsOf(tree, counts),
    time_ns: totalsOf(tree, times),
  };
}

function weighLines(profile: Profile, filter: Filter, hidden: Uint8Array, asObjects: boolean): Stacks {
  const { stackCount, stackPlaces } = profile;
  const file = new Int32Array(stackCount).fill(UNKNOWN);
  const line = new Int32Array(stackCount);
  for (let node = ROOT + 1; node < stackCount; node++) {
    if (hidden[profile.functionAt(stackPlaces[node])]) continue;
    const at = profile.linePlace(stackPlaces[node]);
    if (profile.files.texts[at.file]) file[node] = at.file;
    line[node] = at.line;
  }
  return { ...weighStacks(profile, filter, hidden, asObjects), file, line };
}

function heaviest(weights: Map<number, number>): number {
  let best = UNKNOWN;
  for (const [file, weight] of weights)
    if (best === UNKNOWN || weight > weights.get(best)!) best = file;
  return best;
}

/** The file where a function spends most: what is inlined into it may lie in another. */
function fileOfFunction(profile: Profile, { file, samples }: Stacks, fn: number): number {
  const weights = new Map<number, number>();
  const places = profile.stackPlaces;
  for (let node = ROOT + 1; node < file.length; node++)
    if (samples.total[node] > 0 && file[node] >= 0 && profile.functionAt(places[node]) === fn)
      weights.set(file[node], (weights.get(file[node]) ?? 0) + samples.total[node]);
  return heaviest(weights);
}

function selfByFile({ file, samples }: Stacks): Map<number, number> {
  const weights = new Map<number, number>();
  for (let node = ROOT + 1; node < file.length; node++)
    if (file[node] >= 0 && samples.total[node] > 0)
      weights.set(file[node], (weights.get(file[node]) ?? 0) + samples.self[node]);
  return weights;
}

function recurs({ file, line, parents }: Stacks, node: number): boolean {
  for (let at = parents[node]; at > ROOT; at = parents[at])
    if (file[at] === file[node] && line[at] === line[node]) return true;
  return false;
}

/** Self and total by line of a file, of what is in the function itself. */
function linesOfFunction(profile: Profile, stacks: Stacks, fn: number, file: number) {
  const sums = new Map<number, [self: number, total: number]>();
  const { self, total } = stacks.samples;
  for (let node = ROOT + 1; node < stacks.file.length; node++) {
    const line = stacks.line[node];
    if (stacks.file[node] !== file || line < 1 || !total[node]) continue;
    if (profile.functionAt(profile.stackPlaces[node]) !== fn) continue;
    const [own, all] = sums.get(line) ?? [0, 0];
    sums.set(line, [own + self[node], all + total[node]]);
  }
  return sums;
}

/** fn: whose file is wanted where file is not known; -1: the file where most is spent. */
export function linesOf(
  profile: Profile,
  filter: Filter,
  fn: number,
  file: string,
  transforms: Transform[] = [],
  asObjects = false,
): Lines {
  const stacks = weighLines(profile, filter, hiddenOf(profile, transforms), asObjects);
  const { samples, time_ns } = stacks;
  // Stacks without anything of the user's are left out: what they weigh came down to the root.
  const isMine = transforms.some(({ kind }) => kind === "only-mine");
  const wholeOf = ({ self, total }: StackWeights["samples"]) => total[ROOT] - (isMine ? self[ROOT] : 0);
  const weights = selfByFile(stacks);
  let wanted = file ? profile.files.texts.indexOf(file) : UNKNOWN;
  if (wanted < 0) wanted = fn < 0 ? heaviest(weights) : fileOfFunction(profile, stacks, fn);
  const byLine = new Map<number, number[]>(); // self, total, and the same of time
  for (let node = ROOT + 1; wanted >= 0 && node < stacks.file.length; node++) {
    const line = stacks.line[node];
    if (stacks.file[node] !== wanted || line < 1 || samples.total[node] === 0) continue;
    const sums = byLine.get(line) ?? [0, 0, 0, 0];
    byLine.set(line, sums);
    sums[0] += samples.self[node];
    sums[2] += time_ns.self[node];
    if (recurs(stacks, node)) continue;
    sums[1] += samples.total[node];
    sums[3] += time_ns.total[node];
  }
  const rows = [...byLine].sort(([a], [b]) => a - b);
  const own = fn < 0 || file ? byLine : linesOfFunction(profile, stacks, fn, wanted);
  const files = [...weights]
    .map(([one, weight]) => ({ file: profile.files.texts[one], samples: weight }))
    .sort((a, b) => b.samples - a.samples || (a.file < b.file ? -1 : 1));
  return {
    file: wanted < 0 ? "" : profile.files.texts[wanted],
    lines: Int32Array.from(rows, ([line]) => line),
    self: Float64Array.from(rows, ([, sums]) => sums[0]),
    total: Float64Array.from(rows, ([, sums]) => sums[1]),
    selfTime_ns: Float64Array.from(rows, ([, sums]) => sums[2]),
    totalTime_ns: Float64Array.from(rows, ([, sums]) => sums[3]),
    whole: { samples: wholeOf(samples), time_ns: wholeOf(time_ns) },
    files: files.slice(0, FILES_MOST),
    hottest: Int32Array.from([...own].sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1]), ([line]) => line),
  };
}
