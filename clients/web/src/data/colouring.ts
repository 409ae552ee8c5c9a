// What functions, calls and threads of a profile are coloured by, and how much there is of it.
import { type Calls, ROOT } from "./call_tree";
import { type ColourBy, HEAT_STEPS, kindOf, packageOf } from "./colour_keys";
import { OTHERS, slotsOf } from "./colour_slots";
import { FloatColumn, PairIndex } from "./columns";
import { type Filter, passing } from "./filter";
import type { Profile } from "./profile";
import { byFunction, type Totals } from "./totals";

/** What is looked at, and weighed how. */
export interface Weighed {
  calls: Calls;
  totals: Totals;
  filter: Filter;
  weights: Float64Array | null; // by sample; null: each is one
  leafOf(sample: number): number; // node of calls; -1: it is left out
}

export interface LegendEntry {
  key: string; // as filters have it
  slot: number;
  self: number;
}

export interface Legend {
  by: ColourBy;
  slots: Uint8Array; // by function: numbers of the palette
  inlined: number; // of calls that are inlined; -1: as their functions
  entries: LegendEntry[]; // most first; of heat none
  whole: number;
  hottest: number; // what the hottest function has itself
}

/** Who has which colour: of the whole profile, so that it stays whatever is selected. */
export type Palette = ReadonlyMap<string, number>;

export function paletteOf(profile: Profile, by: ColourBy, all: Weighed): Palette {
  return slotsOf(by === "heat" ? new Map() : selfByKey(profile, by, all));
}

const slotIn = (palette: Palette, key: string) => palette.get(key) ?? OTHERS;

/** inlined: 1 where it is asked of an inlined call. */
function keyOf(profile: Profile, by: ColourBy): (fn: number, inlined: number) => string {
  const { functions, libraries } = profile;
  const library = (fn: number) => libraries[functions[fn].library];
  if (by === "kind") return (fn, inlined) => kindOf(functions[fn], library(fn), inlined);
  const keys: string[] = []; // once each: names are looked into
  return (fn) =>
    (keys[fn] ??= by === "package" ? packageOf(functions[fn], library(fn)) : library(fn).name);
}

/** Of all that is on a stack. */
function selfByKey(profile: Profile, by: ColourBy, shown: Weighed): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (key: string, weight: number) => sums.set(key, (sums.get(key) ?? 0) + weight);
  const { calls, totals } = shown;
  const { functions, inlined, length } = calls;
  if (by === "thread") {
    const { thread } = profile.samples;
    const weights = new Float64Array(profile.threads.length);
    passing(profile, shown.filter, (i) => {
      if (shown.leafOf(i) >= 0) weights[thread.data[i]] += shown.weights?.[i] ?? 1;
    });
    weights.forEach((weight, one) => {
      if (weight) add(String(profile.threads[one].tid), weight);
    });
    return sums;
  }
  const key = keyOf(profile, by);
  for (let node = ROOT + 1; node < length; node++)
    if (functions[node] >= 0 && totals.total[node] > 0)
      add(key(functions[node], inlined[node]), totals.self[node]);
  sums.delete("");
  return sums;
}

/** whole: without the filter that a click on the legend makes, so that the others stay in it. */
export function legendOf(
  profile: Profile,
  by: ColourBy,
  palette: Palette,
  shown: Weighed,
  whole: Weighed,
): Legend {
  const legend = { by, inlined: -1, entries: [] as LegendEntry[], hottest: 0 };
  const all = whole.totals.total[ROOT];
  if (by === "heat") {
    const { self } = byFunction(shown.calls, shown.totals, profile.functions.length);
    const hottest = self.reduce((a, b) => Math.max(a, b), 0);
    // By the root: most functions have little.
    const step = (weight: number) => Math.ceil((HEAT_STEPS - 1) * Math.sqrt(weight / (hottest || 1)));
    return { ...legend, slots: Uint8Array.from(self, step), whole: shown.totals.total[ROOT], hottest };
  }
  const entries = Array.from(selfByKey(profile, by, whole), ([key, self]) => ({
    ...{ key, self },
    slot: slotIn(palette, key),
  }));
  entries.sort((a, b) => b.self - a.self);
  const inlined = by === "kind" ? slotIn(palette, "inlined") : -1;
  return { ...legend, inlined, entries, whole: all, slots: functionSlots(profile, by, palette, shown) };
}

function functionSlots(profile: Profile, by: ColourBy, palette: Palette, shown: Weighed): Uint8Array {
  const slots = new Uint8Array(profile.functions.length).fill(OTHERS);
  if (by !== "thread") {
    const key = keyOf(profile, by);
    for (const fn of slots.keys()) slots[fn] = slotIn(palette, key(fn, 0));
    return slots;
  }
  const most = new Float64Array(slots.length);
  const { functions } = shown.calls;
  const nodes = nodeSlots(profile, by, palette, shown);
  for (let node = ROOT + 1; node < nodes.length; node++) {
    const [fn, weight] = [functions[node], shown.totals.total[node]];
    if (fn >= 0 && weight > most[fn]) [most[fn], slots[fn]] = [weight, nodes[node]];
  }
  return slots;
}

/** By thread. */
export function threadSlots(profile: Profile, palette: Palette): Uint8Array {
  return Uint8Array.from(profile.threads, ({ tid }) => slotIn(palette, String(tid)));
}

/** Of calls, where these are not coloured as their functions: by kind, and by the thread that has most of them. */
export function nodeSlots(
  profile: Profile,
  by: ColourBy,
  palette: Palette,
  shown: Weighed,
): Uint8Array {
  const { functions, inlined, length } = shown.calls;
  if (by === "kind") {
    const key = keyOf(profile, by);
    return Uint8Array.from({ length }, (_, node) =>
      functions[node] < 0 ? OTHERS : slotIn(palette, key(functions[node], inlined[node])),
    );
  }
  const slots = threadSlots(profile, palette);
  return Uint8Array.from(busiestThreads(profile, shown), (thread) => slots[thread] ?? OTHERS);
}

/** By node, the thread that has most of it; -1: none has. */
function busiestThreads(profile: Profile, { calls, filter, weights: each, leafOf }: Weighed): Int32Array {
  const pairs = new PairIndex(); // thread, leaf
  const weights = new FloatColumn();
  const { thread } = profile.samples;
  passing(profile, filter, (i) => {
    const leaf = leafOf(i);
    if (leaf < 0) return;
    const pair = pairs.intern(thread.data[i], leaf);
    if (pair === weights.length) weights.push(0);
    weights.data[pair] += each?.[i] ?? 1;
  });
  const byThread = profile.threads.map((): number[] => []);
  for (let pair = 0; pair < pairs.length; pair++) byThread[pairs.a.data[pair]].push(pair);
  const { parents, length } = calls;
  const best = new Int32Array(length).fill(-1);
  const most = new Float64Array(length);
  const sums = new Float64Array(length); // of one thread; what it touched is made 0 again
  byThread.forEach((list, one) => {
    const touched: number[] = [];
    for (const pair of list)
      for (let node = pairs.b.data[pair]; node > ROOT; node = parents[node]) {
        if (!sums[node]) touched.push(node);
        sums[node] += weights.data[pair];
      }
    for (const node of touched) {
      if (sums[node] > most[node]) [most[node], best[node]] = [sums[node], one];
      sums[node] = 0;
    }
  });
  return best;
}
