// What is written: samples that were chosen of a profile, in the order of time, whole stacks.
import { ROOT } from "../call_tree";
import { type Filter, passing } from "../filter";
import type { Profile } from "../profile";

export interface Chosen {
  profile: Profile;
  places: Int32Array; // numbers of samples, oldest first
}

export function choose(profile: Profile, filter: Filter): Chosen {
  const list: number[] = [];
  passing(profile, filter, (i) => list.push(i));
  const time = profile.samples.time_us.data;
  return { profile, places: Int32Array.from(list).sort((a, b) => time[a] - time[b] || a - b) };
}

/** Functions of a call node, outermost first. */
export function framesOf({ calls }: Profile, node: number): number[] {
  const { parents, functions } = calls;
  const frames = [];
  for (; node > ROOT; node = parents[node]) frames.push(functions[node]);
  return frames.reverse();
}

/** Places (function and line) of a stack node, innermost first. */
export function placesOf({ stackParents, stackPlaces }: Profile, node: number): number[] {
  const places = [];
  for (; node > 0; node = stackParents[node]) places.push(stackPlaces[node]);
  return places;
}

/** First and last time of the chosen; 0 where there are none. */
export function spanOf({ profile, places }: Chosen): { first_us: number; last_us: number } {
  const time = profile.samples.time_us.data;
  if (!places.length) return { first_us: 0, last_us: 0 };
  return { first_us: time[places[0]], last_us: time[places[places.length - 1]] };
}

/** Where a library lies, or what it is called. */
export function libraryPath({ libraries, functions }: Profile, fn: number): string {
  const { path, name } = libraries[functions[fn].library];
  return path || name;
}

export interface ThreadPlaces {
  number: number; // of the thread
  places: number[]; // oldest first, never empty
}

/** By process and thread. */
export function byThread({ profile, places }: Chosen): ThreadPlaces[] {
  const { threads, samples } = profile;
  const found = new Map<number, number[]>();
  for (const i of places) {
    const number = samples.thread.data[i];
    const mine = found.get(number);
    if (mine) mine.push(i);
    else found.set(number, [i]);
  }
  const list = [...found].map(([number, places]) => ({ number, places }));
  const [pid, tid] = [(one: ThreadPlaces) => threads[one.number].pid, (one: ThreadPlaces) => threads[one.number].tid];
  return list.sort((a, b) => pid(a) - pid(b) || tid(a) - tid(b));
}

/** How much of its time line a sample covers, in us: its CPU time, in wall mode a period. */
export function widthsOf(profile: Profile): (sample: number) => number {
  if (profile.unit() === "samples") return () => profile.period_us || 1;
  const cpu_ns = profile.samples.cpu_ns.data;
  return (sample) => cpu_ns[sample] / 1000;
}

/** The one whose samples cover most; nobody's number is -1. */
export function busiest(threads: ThreadPlaces[], widthOf: (sample: number) => number): number {
  const sums = threads.map(({ places }) => places.reduce((sum, i) => sum + widthOf(i), 0));
  return sums.indexOf(Math.max(...sums));
}

/** Self and total of each function, of what weightOf gives a sample. */
export function functionSums(
  { profile, places }: Chosen,
  weightOf: (sample: number) => number,
): { own: Float64Array; total: Float64Array } {
  const own = new Float64Array(profile.functions.length);
  const total = new Float64Array(profile.functions.length);
  const weights = new Float64Array(profile.calls.length);
  const { callOf } = profile;
  const { parents, functions, outermost, length } = profile.calls;
  for (const i of places) weights[callOf[profile.samples.stack.data[i]]] += weightOf(i);
  for (let node = length - 1; node > 0; node--)
    if (weights[node]) own[functions[node]] += weights[node];
  for (let node = length - 1; node > 0; node--) {
    weights[parents[node]] += weights[node];
    if (outermost[node]) total[functions[node]] += weights[node];
  }
  return { own, total };
}

/** Of text whose entries end with the line. */
export function oneLine(text: string): string {
  return text.split(/[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+/).join(" ");
}
