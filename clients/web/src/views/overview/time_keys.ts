// Keys of the overview, while it has the focus.
import type { Lane } from "../../data/layouts/lanes";
import { data } from "../../state/live";
import { select, selection, toggleOpen } from "../../state/selection";
import { laneAfter, laneOf, threadsOf } from "./lanes";
import { setWindow, shownSpan, zoomOverviewTo } from "../time/time_drag";
import { moved, zoomed } from "../time/time_window";

const KEY_ZOOM = 460; // as much of the wheel: to a half, or twice as much

/** What they do, in words. */
export const TIME_KEYS =
  "arrows left and right move the range (with Shift its end), up and down select threads, Enter opens a group; + and - zoom";

function pickLane(lanes: readonly Lane[], direction: 1 | -1): void {
  const { threads = [], ...rest } = selection.value.filter;
  const next = laneAfter(lanes, threads, direction);
  // Beyond the first and the last: all of them.
  select({ filter: next ? threadsOf(rest, next.tids, false) : rest });
}

function openPicked(lanes: readonly Lane[]): void {
  const lane = lanes[laneOf(lanes, selection.value.filter.threads ?? [])];
  if (lane?.kind === "group") toggleOpen(lane.key);
}

export function onTimeKey(event: KeyboardEvent, lanes: readonly Lane[]): void {
  const [shown, all] = [shownSpan(), data.value?.extent_us];
  if (!shown || !all || event.ctrlKey || event.altKey || event.metaKey) return;
  const window = selection.value.filter.window_us ?? null;
  const zoom = (delta: number) => {
    const middle = window ? (window[0] + window[1]) / 2 : (shown[0] + shown[1]) / 2;
    const part = Math.min(1, Math.max(0, (middle - shown[0]) / (shown[1] - shown[0])));
    zoomOverviewTo(zoomed(shown, all, delta, part));
  };
  const move = (direction: 1 | -1) =>
    setWindow(moved(window, shown, direction, event.shiftKey), true);
  const acts: Record<string, () => void> = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    ArrowUp: () => pickLane(lanes, -1),
    ArrowDown: () => pickLane(lanes, 1),
    Enter: () => openPicked(lanes),
    "+": () => zoom(-KEY_ZOOM),
    "-": () => zoom(KEY_ZOOM),
  };
  const isButtons = event.key === "Enter" && event.target !== event.currentTarget;
  if (!acts[event.key] || isButtons) return;
  event.preventDefault();
  acts[event.key]();
}
