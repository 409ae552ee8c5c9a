// When what samples stand for took place. A sample stands for CPU time that ran up to its time, so in steps of time it
// lies before it. Put into one step, as a sample is taken, a thread would seem to use several processors.
import type { Profile } from "./profile";

export interface Steps {
  origin_us: number;
  step_us: number;
  steps: number;
}

// A thread's clock and that of all differ by some of a sample's time. By more than so many times it: then
// the samples do not tell what one thread can do, and are drawn as they are.
const BACK_MOST = 20;

/**
 * Calls each with every sample and step in which it ran, and how much of that step it filled. A thread is on one processor at a
 * time: where the time between two of its samples is shorter than the later one's CPU time, those before move back.
 *
 * Samples of other kinds took no time: each lies in one step, by what it stands for there. A wait is as long as it was, up to
 * the sample's time, and what it stands for lies there.
 *
 * length_us: how much time a sample stands for; of other kinds a thousandth of its weight
 */
export function eachPart(
  profile: Profile,
  { origin_us, step_us, steps }: Steps,
  length_us: (sample: number) => number,
  each: (sample: number, step: number, part: number) => void,
): void {
  const { time_us, thread } = profile.samples;
  const begins = new Float64Array(profile.threads.length).fill(Infinity); // of the thread's sample behind
  const end_us = origin_us + steps * step_us;
  for (let i = profile.samples.length - 1; i >= 0; i--) {
    const length = length_us(i);
    if (!(length > 0)) continue;
    const time = time_us.data[i];
    if (profile.kind !== "time") {
      const begin = time - waited_us(profile, i);
      const last = Math.floor((time - origin_us) / step_us);
      for (let step = Math.max(0, Math.floor((begin - origin_us) / step_us)); step <= last && step < steps; step++) {
        const start = origin_us + step * step_us;
        const part = begin < time ? (Math.min(time, start + step_us) - Math.max(begin, start)) / (time - begin) : 1;
        if (part > 0) each(i, step, (part * length) / step_us);
      }
      continue;
    }
    const next = begins[thread.data[i]];
    const to = next < time && time - next <= BACK_MOST * length ? next : time;
    const from = (begins[thread.data[i]] = to - length);
    if (to <= origin_us || from >= end_us) continue;
    const last = Math.min(steps, Math.ceil((to - origin_us) / step_us)) - 1;
    for (let step = Math.max(0, Math.floor((from - origin_us) / step_us)); step <= last; step++) {
      const start = origin_us + step * step_us;
      each(i, step, (Math.min(to, start + step_us) - Math.max(from, start)) / step_us);
    }
  }
}

/** How long a wait took that the sample stands for; 0: it is none. */
export function waited_us({ samples: { holder, cpu_ns, objects } }: Profile, sample: number): number {
  return holder.length && objects.data[sample] ? cpu_ns.data[sample] / objects.data[sample] / 1000 : 0;
}

/** Of samples as they are counted in CPU time. */
export function cpuLength(profile: Profile, asObjects = false): (sample: number) => number {
  const cpu_ns = profile.weights(asObjects);
  return (sample) => cpu_ns[sample] / 1000;
}

/** Processors in use by all. */
export function cpuUse(profile: Profile, steps: Steps): Float64Array {
  const used = new Float64Array(steps.steps);
  eachPart(profile, steps, cpuLength(profile), (_, step, part) => void (used[step] += part));
  return used;
}

/** CPU time where shares are of it, else a period: in wall mode samples are looks at what waits, too. */
export function stoodLength(profile: Profile): (sample: number) => number {
  const period = profile.period_us || 1000;
  return profile.unit() === "time" ? cpuLength(profile) : () => period;
}

/** First and last time that any sample stands for; null: there are no samples. */
export function extent(profile: Profile): [number, number] | null {
  const { time_us, length } = profile.samples;
  if (!length) return null;
  const length_us = profile.kind === "time" ? stoodLength(profile) : (i: number) => waited_us(profile, i);
  let [first, last] = [Infinity, -Infinity];
  for (let i = 0; i < length; i++) {
    const time = time_us.data[i];
    if (time - length_us(i) < first) first = time - length_us(i);
    if (time > last) last = time;
  }
  return [Math.floor(first), last];
}
