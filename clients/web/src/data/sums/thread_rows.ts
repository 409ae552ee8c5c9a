// Threads as rows of a table: what each weighs, when it was seen, in which states, and what it did most.
import { PairIndex } from "../columns";
import { type Filter, passing } from "../filter";
import { isWaiting, type Profile } from "../profile";
import type { Shape } from "../shape";
import { orderOf, type Sort, type ThreadColumn } from "../sort";

export const ACTIVITY_STEPS = 48;

/** By number of the profile's threads. */
export interface ThreadSums {
  samples: Float64Array;
  time_ns: Float64Array;
  first_us: Float64Array;
  last_us: Float64Array;
  states: Uint32Array; // [thread * number of states + state]: samples
  busiest: Int32Array; // the function with the most self; -1: none
  activity: Float32Array; // [thread * ACTIVITY_STEPS + step]: samples that do not wait; the highest of all is 1
}

export function threadSums(
  profile: Profile,
  shape: Shape,
  filter: Filter,
  [from, to]: [number, number],
  unit: "samples" | "time",
  asObjects = false,
): ThreadSums {
  const count = profile.threads.length;
  const kinds = profile.states.texts.length;
  const waits = profile.states.texts.map(isWaiting);
  const sums: ThreadSums = {
    samples: new Float64Array(count),
    time_ns: new Float64Array(count),
    first_us: new Float64Array(count).fill(Infinity),
    last_us: new Float64Array(count).fill(-Infinity),
    states: new Uint32Array(count * kinds),
    busiest: new Int32Array(count).fill(-1),
    activity: new Float32Array(count * ACTIVITY_STEPS),
  };
  const leaves = new PairIndex(); // thread, function
  const weights: number[] = [];
  const { thread, time_us, state, stack } = profile.samples;
  const weight = profile.weights(asObjects);
  const { callOf } = profile;
  const step_us = Math.max(1, (to - from) / ACTIVITY_STEPS);
  passing(profile, filter, (i) => {
    const node = shape.nodeOf[callOf[stack.data[i]]];
    if (node < 0) return;
    const [one, time, now] = [thread.data[i], time_us.data[i], state.data[i]];
    sums.samples[one]++;
    sums.time_ns[one] += weight[i];
    sums.first_us[one] = Math.min(sums.first_us[one], time);
    sums.last_us[one] = Math.max(sums.last_us[one], time);
    sums.states[one * kinds + now]++;
    const leaf = leaves.intern(one, shape.calls.functions[node]);
    weights[leaf] = (weights[leaf] ?? 0) + (unit === "time" ? weight[i] : 1);
    const step = Math.min(ACTIVITY_STEPS - 1, Math.max(0, Math.floor((time - from) / step_us)));
    if (!waits[now]) sums.activity[one * ACTIVITY_STEPS + step]++;
  });
  const most = new Float64Array(count);
  weights.forEach((weight, leaf) => {
    const [one, fn] = [leaves.a.data[leaf], leaves.b.data[leaf]];
    if (fn >= 0 && weight > most[one]) [most[one], sums.busiest[one]] = [weight, fn];
  });
  const highest = sums.activity.reduce((a, b) => Math.max(a, b), 0) || 1;
  sums.activity.forEach((value, i) => (sums.activity[i] = value / highest));
  return sums;
}

/** worker-9 before worker-10; equal names have one place. */
function places(names: string[]): number[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const place = new Map([...new Set(names)].sort(compare).map((name, i) => [name, i]));
  return names.map((name) => place.get(name)!);
}

/** Threads that have samples, and (find) whose name, tid or pid has this. What is equal stands heaviest first. */
export function threadRows(
  profile: Profile,
  sums: ThreadSums,
  sort: Sort<ThreadColumn>,
  find: string,
): Int32Array {
  const { threads, functions } = profile;
  const wanted = find.toLowerCase();
  const isWanted = ({ name, tid, pid }: (typeof threads)[number]) =>
    `${name} ${tid} ${pid}`.toLowerCase().includes(wanted);
  const kinds = profile.states.texts.length;
  const running = ["Running", "GilHeld"].map((state) => profile.states.find(state));
  const runs = (one: number) => running.reduce((sum, state) => sum + (sums.states[one * kinds + state] ?? 0), 0);
  const columns = {
    name: places(threads.map(({ name }) => name)),
    process: threads.map(({ pid }) => pid),
    tid: threads.map(({ tid }) => tid),
    time: sums.time_ns,
    samples: sums.samples,
    first: sums.first_us,
    last: sums.last_us,
    states: sums.samples.map((all, one) => runs(one) / (all || 1)),
    busiest: Array.from(sums.busiest, (fn) => functions[fn]?.name ?? ""),
  };
  return Int32Array.from(threads.keys())
    .filter((one) => sums.samples[one] > 0 && isWanted(threads[one]))
    .sort(orderOf(sort, columns, [sums.samples, sums.time_ns]));
}
