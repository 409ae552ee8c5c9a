// What is said of stalls and loops, in words.
import type { MicrosRange } from "../../wire/protocol";
import type { StallBrief } from "../../data/stalls/brief";
import { duration } from "../parts/format";

/** What is known for certain: one number where both ends read the same. */
export function rangeText([least, most]: MicrosRange | StallBrief["start_us"]): string {
  const [from, to] = [duration(1000 * least), duration(1000 * most)];
  if (from === to) return to;
  const unit = to.slice(to.indexOf(" "));
  return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from}–${to}`;
}

/** Of a stall: what goes on has lasted that long at least. */
export function lengthText({ duration_us, ongoing }: Pick<StallBrief, "duration_us" | "ongoing">): string {
  return ongoing ? `${duration(1000 * duration_us[0])} so far` : rangeText(duration_us);
}

/** Since zero_us, which is called 0 s. */
export function secondsText(time_us: number, zero_us: number, digits = 3): string {
  return `${((time_us - zero_us) / 1e6).toFixed(digits)} s`;
}

export const nameOfLoop = ({ loop, thread, tid }: Pick<StallBrief, "loop" | "thread" | "tid">) => loop || thread || `thread ${tid}`;
