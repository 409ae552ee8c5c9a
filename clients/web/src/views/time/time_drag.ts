// Dragging over time selects a window, everywhere in the overview; the wheel zooms, with Shift it moves.
import { useRef } from "preact/hooks";
import { data } from "../../state/live";
import { adjust, select, selection } from "../../state/selection";
import { timeAt, type TimeView, xOf } from "./time_axis";
import { panned, type Span, zoomed } from "./time_window";

const CLICK_PX = 3; // moved by more, it was no click
const EDGE_PX = 4; // so near to it, a window's edge is taken

/** What the overview was zoomed to, if any of this recording is there. */
export function zoomedSpan(): Span | null {
  const { overview } = selection.value;
  const all = data.value?.extent_us;
  return overview && all && overview[0] < all[1] && overview[1] > all[0] ? overview : null;
}

export function shownSpan(): Span | null {
  return zoomedSpan() ?? data.value?.extent_us ?? null;
}

/** By hand: all turns of a wheel are one step. null: all there is. */
export function zoomOverviewTo(overview: Span | null): void {
  select({ overview: overview && [Math.round(overview[0]), Math.round(overview[1])] }, "overview");
}

/** One step of undo for a whole drag: the first change is a new one, those behind it go with it. */
export function setWindow(window_us: Span | null, first: boolean): void {
  const { window_us: _, ...rest } = selection.value.filter;
  const filter = window_us ? { ...rest, window_us } : rest;
  if (first) select({ filter });
  else adjust({ filter });
}

function edgeNear(view: TimeView, x: number): number {
  const edges = selection.value.filter.window_us?.map((edge) => Math.abs(xOf(view, edge) - x));
  return edges ? edges.findIndex((distance) => distance <= EDGE_PX) : -1;
}

export function zoomTime(view: TimeView, event: WheelEvent): void {
  const [all, shown] = [data.value?.extent_us, shownSpan()];
  if (!all || !shown) return;
  event.preventDefault();
  const part = (event.offsetX - view.left) / view.width;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = (event.deltaX || event.deltaY) / view.width;
    if (zoomedSpan()) zoomOverviewTo(panned(shown, all, by));
  } else zoomOverviewTo(zoomed(shown, all, event.deltaY, Math.min(1, Math.max(0, part))));
}

/** onClick: pressed and let go at one place. */
export function useTimeDrag(view: TimeView, onClick: (event: PointerEvent) => void) {
  const drag = useRef<{ x: number; fixed_us: number; moved: boolean } | null>(null);
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      const x = event.offsetX;
      const window = selection.value.filter.window_us;
      const edge = edgeNear(view, x);
      const fixed_us = window && edge >= 0 ? window[1 - edge] : timeAt(view, x);
      drag.current = { x, fixed_us, moved: false };
    },
    onPointerMove(event: PointerEvent) {
      const from = drag.current;
      const x = event.offsetX;
      const element = event.currentTarget as HTMLElement;
      if (!from) return void (element.style.cursor = edgeNear(view, x) < 0 ? "" : "ew-resize");
      if (!from.moved && Math.abs(x - from.x) <= CLICK_PX) return;
      const at = timeAt(view, x);
      if (at !== from.fixed_us)
        setWindow([Math.min(at, from.fixed_us), Math.max(at, from.fixed_us)], !from.moved);
      from.moved = true;
    },
    onPointerUp(event: PointerEvent) {
      const from = drag.current;
      drag.current = null;
      if (from && !from.moved) onClick(event);
    },
    onPointerCancel() {
      drag.current = null;
    },
  };
}
