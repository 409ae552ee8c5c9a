// Flows as arrows between rows of slices.
import type { Timeline } from "./timeline";

const MOST = 100; // arrows: more would be a knot

/** Four numbers each: from microseconds, from row, to microseconds, to row; microseconds since origin_us. */
export interface Arrows {
  ends: Float64Array;
  hidden: boolean; // there are too many to be drawn
}

/** keys: of rows, as Slices have them. Flows of threads that have no row there are left out. */
export function arrowsIn(timeline: Timeline, keys: readonly string[], window_us: [number, number], origin_us: number): Arrows {
  const [from, to] = window_us.map((time) => 1000 * (time - timeline.origin_us));
  const pieces = timeline.flows.in(from, to, MOST);
  const rows = new Map(keys.map((key, row) => [key, row]));
  const ends: number[] = [];
  for (const piece of pieces ?? []) {
    const both = [piece.from, piece.to].map(({ thread, time }) => {
      const row = rowAt(timeline, thread, time, rows);
      return row === undefined ? [] : [time / 1000 + timeline.origin_us - origin_us, row];
    });
    if (both.flat().length === 4) ends.push(...both.flat());
  }
  return { ends: Float64Array.from(ends), hidden: pieces === null };
}

/** Of the innermost slice that stands open there, else of the outermost. */
function rowAt(timeline: Timeline, thread: number, time: number, rows: Map<string, number>): number | undefined {
  const { pid, tid, rows: own } = timeline.threads[thread];
  for (let depth = 0, found = rows.get(`${pid}/${tid}/0`); ; depth++) {
    const row = own.get(String(depth));
    if (!row) return found;
    const at = row.track.firstAfter(time);
    const isIn = at < row.track.length && row.track.start.data[at] <= time;
    if (!isIn && !row.open.some(({ start }) => start <= time)) return found;
    found = rows.get(`${pid}/${tid}/${depth}`);
  }
}
