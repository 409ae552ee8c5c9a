// What stands above the threads on their scale of time: frames as bars beside what they may take, counters as steps;
// and in the overview's lanes, slices in steps.
import { droppedBy, type FrameSums, framesPerSecond, frameSums, levelOf } from "./frames";
import { eventKey } from "./sums";
import { streamSlots } from "./stream_slots";
import type { Timeline } from "./timeline";

export interface FrameStrip {
  name: string;
  keys: string[]; // of events, as the next by bar; a bar is a frame, or the longest of those in a pixel
  x: Float64Array; // pixels
  width: Float64Array;
  duration: Float64Array; // ns
  number: Float64Array;
  dropped: Float64Array;
  level: Uint8Array;
  perSecond: Float64Array; // frames, up to this one
  sums: FrameSums;
}

export interface CounterStrip {
  name: string;
  pid: number;
  steps: Float64Array; // least and most by pixel; NaN: no value yet
}

export interface Strips {
  window_us: [number, number];
  budget: number; // ns
  frames: FrameStrip[];
  counters: CounterStrip[];
  more: number; // counters that are too many
}

const COUNTERS_MOST = 8;
const SERIES_MOST = 4;

export function strips(timeline: Timeline, window_us: [number, number], width: number, refresh: number): Strips {
  const budget = 1e9 / refresh;
  const counters = [...timeline.counters.values()];
  const from = 1000 * (window_us[0] - timeline.origin_us);
  const step = (1000 * (window_us[1] - window_us[0])) / width;
  const frames = timeline.threads.flatMap((_, thread) => frameStrips(timeline, thread, from, step, width, budget));
  return {
    ...{ window_us, budget, frames: frames.slice(0, SERIES_MOST), more: Math.max(0, counters.length - COUNTERS_MOST) },
    counters: counters.slice(0, COUNTERS_MOST).map(({ name, pid, series }) => ({
      ...{ name, pid, steps: series.steps(from, step, width) },
    })),
  };
}

function frameStrips(timeline: Timeline, thread: number, from: number, step: number, width: number, budget: number) {
  const { pid, tid, rows } = timeline.threads[thread];
  return [...rows.values()].filter(({ key }) => key[0] === "f").map(({ key, track }): FrameStrip => {
    const [x, wide, of]: number[][] = [[], [], []];
    const { duration, serial, start } = track;
    track.eachIn(from, from + step * width, step, (first, count, longest) => {
      const left = (start.data[first] - from) / step;
      const last = x.length - 1;
      if (last >= 0 && left < x[last] + 1) {
        // In the same pixel: the longest is seen.
        if (duration.data[longest] > duration.data[of[last]]) of[last] = longest;
        wide[last] = Math.max(wide[last], (track.end(first + count - 1) - from) / step - x[last]);
      } else {
        x.push(left);
        wide.push((track.end(first + count - 1) - start.data[first]) / step);
        of.push(longest);
      }
    });
    const lost = Float64Array.from(of, (i) => droppedBy(duration.data[i], budget));
    return {
      name: timeline.nameOf(track.label.data[0]),
      keys: of.map((i) => eventKey(`${pid}/${tid}/${key}`, timeline.origin_us + start.data[i] / 1000)),
      x: Float64Array.from(x),
      width: Float64Array.from(wide),
      duration: Float64Array.from(of, (i) => duration.data[i]),
      number: Float64Array.from(of, (i) => timeline.numbers.get(serial.data[i]) ?? 0),
      dropped: lost,
      level: Uint8Array.from(lost, levelOf),
      perSecond: Float64Array.from(of, (i) => framesPerSecond(track, i)),
      sums: frameSums(track, from, from + step * width, budget),
    };
  });
}

export const LANE_DEPTHS = 3;

/** In each step of each of the outermost depths that there are, the colour of the longest slice, and one more; 0: none. */
export function laneSlices(
  timeline: Timeline,
  threads: readonly number[],
  { origin_us, step_us, steps }: { origin_us: number; step_us: number; steps: number },
): Uint8Array {
  const slotOf = streamSlots(timeline);
  const streams = timeline.labels.b.data;
  const found = new Uint8Array(LANE_DEPTHS * steps);
  const from = 1000 * (origin_us - timeline.origin_us);
  const step = 1000 * step_us;
  let depths = 0;
  for (const thread of threads)
    for (let depth = 0; depth < LANE_DEPTHS; depth++) {
      const row = timeline.threads[thread].rows.get(String(depth));
      const fill = (start: number, end: number, label: number) => {
        const [first, last] = [start, end].map((time) => Math.floor((time - from) / step));
        if (last < 0 || first >= steps) return;
        const slot = slotOf(streams[label]) + 1;
        depths = Math.max(depths, depth + 1);
        found.fill(slot, depth * steps + Math.max(0, first), depth * steps + Math.min(steps, last + 1));
      };
      row?.track.eachIn(from, from + step * steps, step, (first, count, longest) => {
        const { start, label } = row.track;
        fill(start.data[first], row.track.end(first + count - 1), label.data[longest]);
      });
      for (const one of row?.open ?? []) fill(one.start, one.start + one.duration, one.label);
    }
  return found.slice(0, depths * steps);
}
