// The lanes of the overview: in each step, how much of the time threads were in which state.
import type { Filter } from "../../data/filter";
import type { Lane } from "../../data/layouts/lanes";
import type { LaneInTime, Overview } from "../../data/layouts/overview";
import { fill, type Ink, stateColour, STATES } from "../parts/colours";

export const LANE_PX = 24;
export const LABEL_PX = 120;
const SLICE_PX = 4; // with the gap
const LEAST_PX = 2; // what is there is seen
const ROUNDING = 1e-4; // of sums of parts

/** The filter with only these threads, or (together) with more; without them when it was that. */
export function threadsOf(filter: Filter, tids: readonly number[], together: boolean): Filter {
  const { threads = [], ...rest } = filter;
  const there = tids.every((tid) => threads.includes(tid));
  const others = together ? threads.filter((tid) => !tids.includes(tid)) : [];
  const isOut = there && (together || threads.length === tids.length);
  const next = isOut ? others : [...others, ...tids];
  return next.length ? { ...rest, threads: next } : rest;
}

/** The filter with only this tag, or (together) with more; without it when it was that. */
export function tagsOf(filter: Filter, tag: string, together: boolean): Filter {
  const { tags = [], ...rest } = filter;
  const others = together ? tags.filter((one) => one !== tag) : [];
  const isOut = tags.includes(tag) && (together || tags.length === 1);
  const next = isOut ? others : [...others, tag];
  return next.length ? { ...rest, tags: next } : rest;
}

const isOfThreads = ({ kind }: Lane) => kind === "group" || kind === "thread";

/** The number of the lane that has these threads and no others; -1: none has. */
export function laneOf(lanes: readonly Lane[], threads: readonly number[]): number {
  const isThese = (tids: number[]) =>
    tids.length === threads.length && tids.every((tid) => threads.includes(tid));
  return lanes.findIndex((lane) => isOfThreads(lane) && isThese(lane.tids));
}

/** The next of the groups and threads, from the picked one; undefined: there is none beyond. */
export function laneAfter(
  lanes: readonly Lane[],
  threads: readonly number[],
  direction: 1 | -1,
): Lane | undefined {
  const list = lanes.filter(isOfThreads);
  let at = laneOf(list, threads);
  if (at < 0) at = list.findIndex(({ tids }) => tids.includes(threads[threads.length - 1]));
  if (at < 0) return list[direction < 0 ? list.length - 1 : 0];
  return list[at + direction];
}

/** Behind its name: how many threads a group has; which one it is, where names are the same. */
export function noteOf({ kind, name, pid, tids }: Lane, lanes: readonly Lane[]): string {
  if (kind === "group") return `(${tids.length})`;
  const alike = lanes.filter((one) => one.name === name && one.pid === pid);
  return kind === "thread" && alike.length > 1 ? `${tids[0]}` : "";
}

/**
 * How many of its threads, at work for the whole step, make a lane full: as many as were so at most. A
 * pool of hundreds would be a line at the bottom otherwise, since only so many run at once.
 */
export function threadsAtFull(
  { states, tids }: Pick<LaneInTime, "states" | "tids">,
  steps: number,
): number {
  const kinds = states.length / (steps || 1);
  let most = 0;
  for (let at = 0; at < states.length; at += kinds) {
    let sum = 0;
    for (let state = 0; state < kinds; state++) sum += states[at + state];
    if (sum > most) most = sum;
  }
  return Math.max(1, Math.min(tids.length || most, Math.ceil(most - ROUNDING)));
}

/** lanes: those that are drawn, from above. */
export function drawLanes(
  context: CanvasRenderingContext2D,
  { steps, states }: Overview,
  lanes: readonly LaneInTime[],
  width: number,
  ink: Ink,
  isPicked: (lane: Lane) => boolean,
  runs: (slot: number) => string, // the colour of what runs
): void {
  const pixels = (width - LABEL_PX) / steps;
  const colours = states.map((state) => stateColour(state, ink));
  // What runs stands at the bottom in each step, what sleeps on top.
  const stacked = [...states.keys()].sort(
    (a, b) => STATES.indexOf(states[a]) - STATES.indexOf(states[b]),
  );
  const bottoms = new Float64Array(steps); // how far each step is filled, in pixels
  lanes.forEach((lane, i) => {
    const top = i * LANE_PX;
    context.globalAlpha = isPicked(lane) ? 1 : 0.35;
    const below = lane.slices ? drawSlices(context, lane.slices, steps, top + LANE_PX - 1, pixels) : 0;
    const each = (LANE_PX - 3 - below) / threadsAtFull(lane, steps);
    bottoms.fill(top + LANE_PX - 1 - below);
    for (const state of stacked) {
      const isRunning = states[state] === STATES[0];
      context.fillStyle = colours[state];
      for (let step = 0; step < steps; step++) {
        const threads = lane.states[step * states.length + state];
        if (!threads) continue;
        const room = bottoms[step] - top - 1;
        const height = Math.min(Math.max(LEAST_PX, threads * each), room);
        bottoms[step] -= height;
        if (isRunning) context.fillStyle = runs(lane.slots[step]);
        context.fillRect(LABEL_PX + step * pixels, bottoms[step], Math.max(1, pixels), height);
      }
    }
    context.globalAlpha = 1;
    context.fillStyle = ink.line;
    context.fillRect(0, top + LANE_PX - 1, width, 1);
  });
}

/** From the outermost depth down, in the lowest part of a lane. Returns how high that is. */
function drawSlices(
  context: CanvasRenderingContext2D,
  slices: Uint8Array,
  steps: number,
  bottom: number,
  pixels: number,
): number {
  const depths = slices.length / steps;
  slices.forEach((slot, i) => {
    if (!slot) return;
    context.fillStyle = fill(slot - 1, "kind");
    const y = bottom - (depths - Math.floor(i / steps)) * SLICE_PX;
    context.fillRect(LABEL_PX + (i % steps) * pixels, y, Math.max(1, pixels), SLICE_PX - 1);
  });
  return depths && depths * SLICE_PX + 1;
}

/** Is any of it in the filter? */
export function isIn({ kind, name, tids }: Lane, { threads, tags }: Filter): boolean {
  if (kind === "tag") return !tags || tags.includes(name);
  return !threads || tids.some((tid) => threads.includes(tid));
}
