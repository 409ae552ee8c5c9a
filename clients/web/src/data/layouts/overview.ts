// Time in steps: CPU use and samples of all, and the states of threads and of groups of them.
import type { Waits } from "./wait_bars";
import { busiest, type Lane, type LaneChoice, LANES_START, lanesOf, tagLanes } from "./lanes";
import type { Profile } from "../profile";
import { cpuUse, eachPart, stoodLength } from "../spread";

export interface LaneInTime extends Lane {
  states: Float32Array; // [step * stateCount + state]: threads that were in it, on average
  slots: Uint8Array; // by step: the colour of most that ran then
  slices?: Uint8Array; // what its threads told, as laneSlices has it
  waits?: Int32Array; // of waits: by step which one, as Waits has it
}

const RUNNING = "Running";

export interface Overview {
  origin_us: number;
  step_us: number;
  steps: number;
  cpu: Float64Array; // processors in use, by step; of kinds other than time 1e-9 of their weight a second
  samples: Float64Array; // per second, by step
  states: string[];
  stateSamples: Float64Array; // by state, of all threads
  lanes: LaneInTime[]; // the busiest
  laneCount: number; // with those that are too many
  waits?: Waits; // that lanes show
  full?: number; // of kinds other than time: the weight a second of a lane that is full; states are parts of it
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
 * slotOf: the colour of a sample
 * late: threads that have a lane, be it without samples
 */
export function overview(
  profile: Profile,
  range_us: [number, number],
  maxSteps: number,
  maxLanes: number,
  choice: Partial<LaneChoice> = {},
  slotOf: (sample: number) => number = () => 0,
  late: readonly number[] = [],
): Overview {
  const step_us = stepFor(range_us[1] - range_us[0], maxSteps);
  const origin_us = Math.floor(range_us[0] / step_us) * step_us;
  const steps = Math.floor((range_us[1] - origin_us) / step_us) + 1;
  const states = [...profile.states.texts];
  const chosen = { ...LANES_START, ...choice };
  const isByTag = chosen.order === "tag";
  const { texts } = profile.tags;
  const keys = isByTag ? profile.samples.tag : profile.samples.thread;
  const [from, to] = [origin_us, origin_us + steps * step_us];
  const counts = countSamples(profile, keys.data, (isByTag ? texts : profile.threads).length, from, to);
  if (!isByTag) for (const thread of late) counts[thread] ||= Number.MIN_VALUE; // more than none
  const all = isByTag ? tagLanes(texts, counts, chosen.find) : lanesOf(profile.threads, counts, chosen);
  const shown = busiest(all, maxLanes);
  const length = steps * states.length;
  const threads = new Float32Array(shown.length * length); // of all in one: it is moved faster
  const slots = new Uint8Array(shown.length * steps);
  const votes = new Float32Array(shown.length * steps); // for these slots: by majority, none is counted
  const lanes = shown.map((lane, i): LaneInTime => {
    const [from, to] = [i * length, (i + 1) * length];
    const ofSteps = slots.subarray(i * steps, (i + 1) * steps);
    return { ...lane, states: threads.subarray(from, to), slots: ofSteps };
  });
  const lanesWith = Array.from(counts, (): number[] => []);
  lanes.forEach(({ threads, kind, name }, i) => {
    for (const one of kind === "tag" ? [texts.indexOf(name)] : threads) lanesWith[one].push(i);
  });
  const running = states.indexOf(RUNNING);
  const samples = new Float64Array(steps);
  const stateSamples = new Float64Array(states.length);
  const { time_us, state } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++) {
    const step = Math.floor((time_us.data[i] - origin_us) / step_us);
    if (step < 0 || step >= steps) continue;
    samples[step] += 1e6 / step_us;
    stateSamples[state.data[i]]++;
  }
  const grid = { origin_us, step_us, steps };
  eachPart(profile, grid, stoodLength(profile), (i, step, part) => {
    const at = step * states.length + state.data[i];
    const slot = state.data[i] === running ? slotOf(i) : -1;
    for (const lane of lanesWith[keys.data[i]]) {
      threads[lane * length + at] += part;
      if (slot < 0) continue;
      const place = lane * steps + step;
      if (slots[place] === slot) votes[place] += part;
      else if (votes[place] >= part) votes[place] -= part;
      else {
        slots[place] = slot;
        votes[place] = part - votes[place];
      }
    }
  });
  const full = profile.kind === "time" ? {} : { full: 1e9 * scaled(threads, states.length) };
  return {
    ...grid,
    ...full,
    cpu: cpuUse(profile, grid),
    samples,
    states,
    stateSamples,
    lanes,
    laneCount: all.length,
  };
}

/** Makes the highest sum of a step 1. Returns what it was. */
function scaled(threads: Float32Array, states: number): number {
  let most = 0;
  for (let at = 0; at < threads.length; at += states) {
    let sum = 0;
    for (let state = 0; state < states; state++) sum += threads[at + state];
    if (sum > most) most = sum;
  }
  if (most > 0) for (const at of threads.keys()) threads[at] /= most;
  return most;
}

/** By key, of which there are count. */
function countSamples(profile: Profile, keys: Int32Array, count: number, from: number, to: number): Float64Array {
  const samples = new Float64Array(count);
  const { time_us } = profile.samples;
  for (let i = 0; i < profile.samples.length; i++)
    if (time_us.data[i] >= from && time_us.data[i] < to) samples[keys[i]]++;
  return samples;
}
