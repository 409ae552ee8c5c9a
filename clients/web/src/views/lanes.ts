// The lanes of the overview: per thread and step, how much of the time was spent in which state.
import type { Filter } from "../data/filter";
import type { Lane, Overview } from "../data/overview";
import type { Ink } from "./colours";

export const LANE_PX = 16;
export const LABEL_PX = 120;

// In the order of the palette; what the service may add later is drawn as the last.
export const STATES = ["Running", "Runnable", "Lock", "IO", "Sleep"];

export function stateColour(state: string, ink: Ink): string {
  const place = STATES.indexOf(state);
  return ink.states[place < 0 ? STATES.length - 1 : place];
}

/** The filter with only this thread, or (together) with it besides; without threads when it was that. */
export function threadsOf(filter: Filter, tid: number, together: boolean): Filter {
  const { threads = [], ...rest } = filter;
  const there = threads.includes(tid);
  const others = together ? threads.filter((one) => one !== tid) : [];
  const alone = there && (together || threads.length === 1);
  const next = alone ? others : [...others, tid];
  return next.length ? { ...rest, threads: next } : rest;
}

/** Its name; with its number, where another lane has the same. */
export function labelOf(lane: Lane, lanes: readonly Lane[]): string {
  if (!lane.name) return String(lane.tid);
  const alone = lanes.every((other) => other === lane || other.name !== lane.name);
  return alone ? lane.name : `${lane.name} ${lane.tid}`;
}

export function drawLanes(
  context: CanvasRenderingContext2D,
  overview: Overview,
  width: number,
  ink: Ink,
  threads: readonly number[] | null,
): void {
  const { lanes, steps, states, step_us, period_us } = overview;
  const pixels = (width - LABEL_PX) / steps;
  const colours = states.map((state) => stateColour(state, ink));
  // What runs stands at the bottom in each step, what sleeps on top.
  const stacked = [...states.keys()].sort(
    (a, b) => STATES.indexOf(states[a]) - STATES.indexOf(states[b]),
  );
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const bottoms = new Float64Array(steps); // how far each step is filled, in pixels
  const full = Math.max(1, step_us / period_us); // as many samples fill a step
  lanes.forEach((lane, i) => {
    const top = i * LANE_PX;
    context.globalAlpha = threads && !threads.includes(lane.tid) ? 0.35 : 1;
    context.fillStyle = ink.text;
    context.fillText(cut(context, labelOf(lane, lanes), LABEL_PX - 12), 6, top + LANE_PX / 2);
    bottoms.fill(top + LANE_PX - 1);
    for (const state of stacked) {
      context.fillStyle = colours[state];
      for (let step = 0; step < steps; step++) {
        const count = lane.states[step * states.length + state];
        if (!count) continue;
        const room = bottoms[step] - top - 1;
        const height = Math.min(Math.max(1, (count / full) * (LANE_PX - 3)), room);
        bottoms[step] -= height;
        context.fillRect(LABEL_PX + step * pixels, bottoms[step], Math.max(1, pixels), height);
      }
    }
    context.globalAlpha = 1;
    context.fillStyle = ink.line;
    context.fillRect(0, top + LANE_PX - 1, width, 1);
  });
}

function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let length = Math.min(text.length, 40);
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}
