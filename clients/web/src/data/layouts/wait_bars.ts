// Which wait each step of a lane shows: of those that go through it the longest one.
import type { Profile } from "../profile";
import { type Steps, waited_us } from "../spread";
import type { LaneInTime } from "./overview";

/** Of the waits that lanes show: their lock, how long one of them took, and the tid of who had it; 0: not known. */
export interface Waits {
  lock: Int32Array;
  length_us: Float64Array;
  holder: Int32Array;
}

/** Gives each lane its `waits`: by step the number of a wait, from 1 on; 0: there is none. */
export function waitBars(profile: Profile, { origin_us, step_us, steps }: Steps, lanes: LaneInTime[], byTag: boolean): Waits {
  const { samples, tags } = profile;
  const { time_us, thread, tag, holder, length } = samples;
  const shown: number[] = []; // samples, by number of wait - 1
  const numbers = new Int32Array(length);
  const longest = lanes.map(() => new Float64Array(steps));
  const lanesOf = new Map<number, number[]>(); // by thread, or by tag
  lanes.forEach((lane, i) => {
    lane.waits = new Int32Array(steps);
    for (const one of byTag ? [tags.texts.indexOf(lane.name)] : lane.threads) lanesOf.set(one, [...(lanesOf.get(one) ?? []), i]);
  });
  for (let i = 0; i < length; i++) {
    const waited = waited_us(profile, i);
    const first = Math.max(0, Math.floor((time_us.data[i] - waited - origin_us) / step_us));
    const last = Math.min(steps - 1, Math.floor((time_us.data[i] - origin_us) / step_us));
    if (first > last) continue;
    for (const lane of lanesOf.get((byTag ? tag : thread).data[i]) ?? [])
      for (let step = first; step <= last; step++) {
        if (waited <= longest[lane][step]) continue;
        longest[lane][step] = waited;
        lanes[lane].waits![step] = numbers[i] ||= shown.push(i);
      }
  }
  return {
    lock: Int32Array.from(shown, (i) => profile.functionAt(profile.stackPlaces[samples.stack.data[i]])),
    length_us: Float64Array.from(shown, (i) => waited_us(profile, i)),
    holder: Int32Array.from(shown, (i) => holder.data[i]),
  };
}
