// Frames: how long each took beside what it may, how many were dropped meanwhile, and how many there were a second.
import { firstThat, type Track } from "./track";

/** From so many dropped frames on, the next level. */
export const LEVELS = [3, 9, 24, 42] as const;

/** 0: none, or few; 4: the picture stood still. */
export function levelOf(dropped: number): number {
  let level = 0;
  while (level < LEVELS.length && dropped >= LEVELS[level]) level++; // of each frame that is seen: no list for each
  return level;
}

/** Refreshes that went by without it, as the service counts them: of a budget of 10 ms, 3 at 39 ms. */
export function droppedBy(duration: number, budget: number): number {
  return Math.floor(duration / budget);
}

/** Frames that ended within the second up to the end of one, which is one of them. */
export function framesPerSecond(track: Track, frame: number): number {
  const end = track.end(frame);
  return frame + 1 - firstThat(frame + 1, (i) => track.end(i) > end - 1e9);
}

export interface FrameSums {
  frames: number;
  late: number; // that took longer than they may
  dropped: number;
  levels: number[]; // frames of each
  perSecond: number; // NaN: too few to say
}

/** Of those that end in (from, to]. */
export function frameSums(track: Track, from: number, to: number, budget: number): FrameSums {
  const [first, last] = [from, to].map((time) => firstThat(track.length, (i) => track.end(i) > time));
  const sums = { frames: last - first, late: 0, dropped: 0, levels: [0, 0, 0, 0, 0], perSecond: NaN };
  for (let i = first; i < last; i++) {
    const duration = track.duration.data[i];
    const dropped = droppedBy(duration, budget);
    sums.late += duration > budget ? 1 : 0;
    sums.dropped += dropped;
    sums.levels[levelOf(dropped)]++;
  }
  if (sums.frames > 1) sums.perSecond = (1e9 * (sums.frames - 1)) / (track.end(last - 1) - track.end(first));
  return sums;
}
