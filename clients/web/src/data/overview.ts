// Time in steps: CPU use and samples of all, and the states of threads and of groups of them.
import { busiest, type Lane, lanesOf } from "./lanes";
import type { Profile } from "./profile";

export interface LaneInTime extends Lane {
  states: Uint32Array; // [step * stateCount + state]: samples
}

export interface Overview {
  origin_us: number;
  step_us: number;
  period_us: number;
  steps: number;
  cpu: Float64Array; // processors in use, by step
  samples: Float64Array; // per second, by step
  states: string[];
  stateSamples: Float64Array; // by state, of all threads
  lanes: LaneInTime[]; // the busiest
  laneCount: number; // with those that are too many
}

/** First and last time; null: there are no samples. */
export function extent(profile: Profile): [number, number] | null {
  const times = profile.samples.time_us.view();
  if (!times.length) return null;
  let [first, last] = [Infinity, -Infinity];
  for (const time of times) {
    if (time < first) first = time;
    if (time > last) last = time;
  }
  return [first, last];
}

/** Steps of a length that people read well, so that most of maxSteps are used. */
export function stepFor(extent_us: number, maxSteps: number): number {
  let step = 1000;
  for (const factors = [2, 2.5, 2]; step * maxSteps < extent_us; factors.push(factors.shift()!))
    step *= factors[0];
  return step;
}

/**
 * range_us: what is shown. Steps start at multiples of their length: they do not move while live.
 * open: keys of groups of threads
 */
export function overview(
  profile: Profile,
  range_us: [number, number],
  maxSteps: number,
  maxLanes: number,
  open: readonly string[] = [],
): Overview {
  const step_us = stepFor(range_us[1] - range_us[0], maxSteps);
  const origin_us = Math.floor(range_us[0] / step_us) * step_us;
  const steps = Math.floor((range_us[1] - origin_us) / step_us) + 1;
  const states = [...profile.states.texts];
  const byThread = samplesByThread(profile, origin_us, origin_us + steps * step_us);
  const all = lanesOf(profile.threads, byThread, open);
  const shown = busiest(all, maxLanes);
  const length = steps * states.length;
  const counts = new Uint32Array(shown.length * length); // of all in one: it is moved faster
  const lanes = shown.map((lane, i): LaneInTime => {
    return { ...lane, states: counts.subarray(i * length, (i + 1) * length) };
  });
  const countsOf = profile.threads.map((): Uint32Array[] => []);
  for (const { threads, states } of lanes) for (const one of threads) countsOf[one].push(states);
  const cpu = new Float64Array(steps);
  const samples = new Float64Array(steps);
  const stateSamples = new Float64Array(states.length);
  const { time_us, cpu_ns, thread, state } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++) {
    const step = Math.floor((time_us.data[i] - origin_us) / step_us);
    if (step < 0 || step >= steps) continue;
    cpu[step] += cpu_ns.data[i] / (1000 * step_us);
    samples[step] += 1e6 / step_us;
    stateSamples[state.data[i]]++;
    const at = step * states.length + state.data[i];
    for (const lane of countsOf[thread.data[i]]) lane[at]++;
  }
  return {
    origin_us,
    step_us,
    period_us: profile.period_us,
    steps,
    cpu,
    samples,
    states,
    stateSamples,
    lanes,
    laneCount: all.length,
  };
}

function samplesByThread(profile: Profile, from: number, to: number): Float64Array {
  const samples = new Float64Array(profile.threads.length);
  const { time_us, thread } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++)
    if (time_us.data[i] >= from && time_us.data[i] < to) samples[thread.data[i]]++;
  return samples;
}
