// How late frames are, in words and colours: the same in the strip above the chart and in the table.
import { fill, type Ink } from "../parts/colours";

/** Of late frames by level. The numbers are the least that are dropped. */
export const LEVEL_WORDS = ["late", "normal (3)", "middle (9)", "high (24)", "frozen (42)"];

/** In the colours of heat where it is late: the more were dropped, the hotter. */
export function levelColour(level: number, isLate: boolean, ink: Ink): string {
  return isLate ? fill(2 + level, "heat") : ink.before;
}
