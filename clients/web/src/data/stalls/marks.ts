// Stalls in a lane: where each begins and ends, in pixels. Those that nobody could tell apart are one mark.
import { LEVELS, type StallBrief } from "./brief";

export interface Mark {
  left: number; // pixels, as the next three
  width: number;
  fromRange: number; // at its left: it began somewhere in it
  toRange: number; // at its right: it ended somewhere in it
  level: StallBrief["level"]; // the highest of those
  ongoing: boolean;
  of: StallBrief[]; // in the order of time
}

/** A part of time, and as many pixels as it has. */
export interface Scale {
  from_us: number;
  to_us: number;
  width: number;
}

export const LEAST_PX = 4; // narrower ones are widened, and joined where they meet

/**
 * all: in the order of their starts
 * now_us: the end of what still goes on
 */
export function marksOf(all: readonly StallBrief[], scale: Scale, now_us: number): Mark[] {
  const { from_us, to_us, width } = scale;
  const pixels = width / (to_us - from_us);
  const at = (time_us: number) => Math.min(width, Math.max(0, (time_us - from_us) * pixels));
  const marks: Mark[] = [];
  for (const one of all) {
    const end = one.ongoing ? [Math.max(now_us, one.end_us[1]), Math.max(now_us, one.end_us[1])] : one.end_us;
    if (end[1] < from_us || one.start_us[0] > to_us) continue;
    const left = Math.min(at(one.start_us[0]), width - LEAST_PX);
    const right = Math.max(at(end[1]), left + LEAST_PX);
    const last = marks.at(-1);
    if (last && left < last.left + last.width && isThin(last, right - left)) {
      join(last, one, right);
      continue;
    }
    marks.push({
      ...{ left, width: right - left, level: one.level, ongoing: one.ongoing, of: [one] },
      fromRange: at(one.start_us[1]) - at(one.start_us[0]),
      toRange: at(end[1]) - at(end[0]),
    });
  }
  return marks;
}

/** Of marks that meet: what is too thin is joined, what stands clear of each other overlaps. */
function isThin(last: Mark, width: number): boolean {
  return last.of.length > 1 || last.width <= LEAST_PX || width <= LEAST_PX;
}

function join(mark: Mark, one: StallBrief, right: number): void {
  mark.width = Math.max(mark.width, right - mark.left);
  mark.fromRange = mark.toRange = 0;
  mark.ongoing ||= one.ongoing;
  if (LEVELS.indexOf(one.level) > LEVELS.indexOf(mark.level)) mark.level = one.level;
  mark.of.push(one);
}

/** What is zoomed to, to tell them apart. */
export function spanOf({ of }: Mark): [number, number] {
  return [of[0].start_us[0], of.reduce((last, { end_us }) => Math.max(last, end_us[1]), 0)];
}
