// Keys of the overview, while it has the focus.
import { data } from "../state/live";
import { overviewRange } from "../state/page";
import { select, selection } from "../state/selection";
import { threadsOf } from "./lanes";
import { setWindow, shownSpan } from "./time_drag";
import { moved, zoomed } from "./time_window";

const KEY_ZOOM = 460; // as much of the wheel: to a half, or twice as much

/** tids: of the lanes, from above. */
function pickThread(tids: number[], direction: 1 | -1): void {
  const { filter } = selection.value;
  const at = filter.threads
    ? tids.indexOf(filter.threads[direction < 0 ? 0 : filter.threads.length - 1])
    : -1;
  const next = tids[at < 0 ? (direction < 0 ? tids.length - 1 : 0) : at + direction];
  const { threads: _, ...rest } = filter;
  // Beyond the first and the last: all of them.
  select({ filter: next === undefined ? rest : threadsOf(rest, next, false) });
}

export function onTimeKey(event: KeyboardEvent, tids: number[]): void {
  const [shown, all] = [shownSpan(), data.value?.extent_us];
  if (!shown || !all || event.ctrlKey || event.altKey || event.metaKey) return;
  const window = selection.value.filter.window_us ?? null;
  const zoom = (delta: number) => {
    const middle = window ? (window[0] + window[1]) / 2 : (shown[0] + shown[1]) / 2;
    const part = Math.min(1, Math.max(0, (middle - shown[0]) / (shown[1] - shown[0])));
    overviewRange.value = zoomed(shown, all, delta, part);
  };
  const move = (direction: 1 | -1) =>
    setWindow(moved(window, shown, direction, event.shiftKey), true);
  const acts: Record<string, () => void> = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    ArrowUp: () => pickThread(tids, -1),
    ArrowDown: () => pickThread(tids, 1),
    "+": () => zoom(-KEY_ZOOM),
    "-": () => zoom(KEY_ZOOM),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
