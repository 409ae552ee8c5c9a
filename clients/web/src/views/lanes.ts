// The lanes of the overview: per thread and step, how much of the time was spent in which state.
import type { Filter } from "../data/filter";
import type { Overview } from "../data/overview";
import type { Ink } from "./colours";

export const LANE_PX = 16;
export const LABEL_PX = 120;

// In the order of the palette; what the service may add later is drawn as the last.
const STATES = ["Running", "Runnable", "Lock", "IO", "Sleep"];

/** The filter with only this thread, or (together) with it besides; without threads when it was that. */
export function threadsOf(filter: Filter, tid: number, together: boolean): Filter {
  const { threads = [], ...rest } = filter;
  const there = threads.includes(tid);
  const others = together ? threads.filter((one) => one !== tid) : [];
  const alone = there && (together || threads.length === 1);
  const next = alone ? others : [...others, tid];
  return next.length ? { ...rest, threads: next } : rest;
}

export function drawLanes(
  context: CanvasRenderingContext2D,
  overview: Overview,
  width: number,
  ink: Ink,
  threads: readonly number[] | null,
  window_us: readonly [number, number] | null,
): void {
  const { lanes, steps, states, step_us, period_us, origin_us } = overview;
  const pixels = (width - LABEL_PX) / steps;
  const colours = states.map((state) => ink.states[Math.max(0, STATES.indexOf(state))]);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const full = Math.max(1, step_us / period_us); // as many samples fill a step
  lanes.forEach((lane, i) => {
    const top = i * LANE_PX;
    context.globalAlpha = threads && !threads.includes(lane.tid) ? 0.35 : 1;
    context.fillStyle = ink.text;
    context.fillText(
      cut(context, lane.name || String(lane.tid), LABEL_PX - 12),
      6,
      top + LANE_PX / 2,
    );
    for (let step = 0; step < steps; step++) {
      let bottom = top + LANE_PX - 1;
      for (let state = 0; state < states.length; state++) {
        const count = lane.states[step * states.length + state];
        if (!count) continue;
        const height = Math.min(Math.max(1, (count / full) * (LANE_PX - 3)), bottom - top - 1);
        context.fillStyle = colours[state];
        context.fillRect(LABEL_PX + step * pixels, bottom - height, Math.max(1, pixels), height);
        bottom -= height;
      }
    }
    context.globalAlpha = 1;
    context.fillStyle = ink.line;
    context.fillRect(0, top + LANE_PX - 1, width, 1);
  });
  if (!window_us) return;
  const at = (time_us: number) => LABEL_PX + ((time_us - origin_us) / step_us) * pixels;
  const [left, right] = window_us.map(at);
  context.fillStyle = ink.paper;
  context.globalAlpha = 0.6;
  const height = lanes.length * LANE_PX;
  context.fillRect(LABEL_PX, 0, Math.max(0, left - LABEL_PX), height);
  context.fillRect(right, 0, Math.max(0, width - right), height);
  context.globalAlpha = 1;
}

function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let length = Math.min(text.length, 40);
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}
