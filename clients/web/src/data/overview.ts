// Time in steps: CPU use and samples of all, and the states of each thread.
import type { Profile } from "./profile";

export interface Lane {
  thread: number; // of the profile
  pid: number;
  tid: number;
  name: string;
  samples: number;
  cpu_ns: number;
  states: Uint16Array; // [step * stateCount + state]: samples
}

export interface Overview {
  origin_us: number;
  step_us: number;
  period_us: number;
  steps: number;
  cpu: Float64Array; // processors in use, by step
  samples: Float64Array; // per second, by step
  states: string[];
  lanes: Lane[]; // the busiest threads, in order of arrival
  laneCount: number; // of all threads that have samples
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

/** range_us: what is shown. Steps start at multiples of their length: they do not move while live. */
export function overview(
  profile: Profile,
  range_us: [number, number],
  maxSteps: number,
  maxLanes: number,
): Overview {
  const step_us = stepFor(range_us[1] - range_us[0], maxSteps);
  const origin_us = Math.floor(range_us[0] / step_us) * step_us;
  const steps = Math.floor((range_us[1] - origin_us) / step_us) + 1;
  const states = profile.states.texts;
  const busy = busyThreads(profile, origin_us, origin_us + steps * step_us);
  const laneCount = busy.length;
  const busiest = busy.slice(0, maxLanes).sort((a, b) => a - b); // lanes keep their places
  const lanes = busiest.map((thread): Lane => {
    const { pid, tid, name } = profile.threads[thread];
    const counts = new Uint16Array(steps * states.length);
    return { thread, pid, tid, name, samples: 0, cpu_ns: 0, states: counts };
  });
  const laneOf = new Array<Lane | undefined>(profile.threads.length);
  for (const lane of lanes) laneOf[lane.thread] = lane;
  const cpu = new Float64Array(steps);
  const counts = new Float64Array(steps);
  const { time_us, cpu_ns, thread, state } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++) {
    const step = Math.floor((time_us.data[i] - origin_us) / step_us);
    if (step < 0 || step >= steps) continue;
    cpu[step] += cpu_ns.data[i] / (1000 * step_us);
    counts[step] += 1e6 / step_us;
    const lane = laneOf[thread.data[i]];
    if (!lane) continue;
    lane.samples++;
    lane.cpu_ns += cpu_ns.data[i];
    lane.states[step * states.length + state.data[i]]++;
  }
  const { period_us } = profile;
  return {
    origin_us,
    step_us,
    period_us,
    steps,
    cpu,
    samples: counts,
    states: [...states],
    lanes,
    laneCount,
  };
}

/** Busiest first. */
function busyThreads(profile: Profile, from: number, to: number): number[] {
  const samples = new Float64Array(profile.threads.length);
  const { time_us, thread } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++)
    if (time_us.data[i] >= from && time_us.data[i] < to) samples[thread.data[i]]++;
  const busy = [...samples.keys()].filter((one) => samples[one] > 0);
  return busy.sort((a, b) => samples[b] - samples[a] || a - b);
}
