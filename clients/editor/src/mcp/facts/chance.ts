// How exact a share of samples is: 95 %, as `isoscope explain` says it (Wilson's range).
import { type Filter, passing } from "../../../../web/src/data/filter";
import { isWaiting, type Profile } from "../../../../web/src/data/profile";

const Z = 1.96; // 19 of 20

/** Half of the range of a share, 0 to 1, that so many samples told. */
export function errorOf(share: number, samples: number): number {
  if (samples <= 0) return 1;
  const square = (Z * Z) / samples;
  return (Z / (1 + square)) * Math.sqrt((share * (1 - share)) / samples + square / (4 * samples));
}

/** Of the difference of two shares. */
export const errorOfBoth = (a: number, b: number) => Math.sqrt(a * a + b * b);

/** Is a change more than chance? Of many functions one in twenty is beyond its 95 % range by chance; three standard errors few. */
export const isClear = (change: number, error: number) => Math.abs(change) > (3 / Z) * error;

/** As many equal samples would say as much (Kish). */
export function effective(profile: Profile, filter: Filter): number {
  let [sum, squares] = [0, 0];
  for (const weight of worths(profile, filter)) {
    sum += weight;
    squares += weight * weight;
  }
  return squares ? (sum * sum) / squares : 0;
}

/** Of an amount in bytes or time waited: a sample stands for so many with that chance. Half of its range. */
export const amountError = (variance: number) => Z * Math.sqrt(variance);
export const varianceOf = (weight: number, objects: number) => weight * weight * (1 - 1 / Math.max(objects, 1));

function worths(profile: Profile, filter: Filter): number[] {
  if (profile.unit() === "samples") return looks(profile, filter);
  const weights: number[] = [];
  passing(profile, filter, (i) => void weights.push(profile.samples.cpu_ns.data[i]));
  return weights;
}

/**
 * Of each look of wall mode for how many samples it stands: a late one is told once for each round that it is late, at
 * the same place, a period apart to the microsecond. Of samples without CPU time, each is one.
 */
function looks(profile: Profile, filter: Filter): number[] {
  const { time_us, stack, thread, cpu_ns } = profile.samples;
  const those: number[] = [];
  passing(profile, filter, (i) => void those.push(i));
  if (!profile.states.texts.some(isWaiting)) return those.map(() => 1);
  those.sort((a, b) => time_us.data[a] - time_us.data[b] || a - b);
  const counts: number[] = [];
  const last = new Map<number, { sample: number; look: number }>(); // by thread
  for (const sample of those) {
    const before = last.get(thread.data[sample]);
    const isSame =
      before !== undefined &&
      stack.data[before.sample] === stack.data[sample] &&
      time_us.data[sample] - time_us.data[before.sample] === profile.period_us &&
      Math.abs(cpu_ns.data[sample] - cpu_ns.data[before.sample]) <= 1000;
    const look = isSame ? before.look : counts.push(0) - 1;
    counts[look]++;
    last.set(thread.data[sample], { sample, look });
  }
  return counts;
}
