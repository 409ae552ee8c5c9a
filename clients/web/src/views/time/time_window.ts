// The selected window of time: what dragging and keys make of it.

export type Span = [number, number]; // microseconds, [from, to)

const STEP = 0.1; // of the window, for a key
const SHORTEST_US = 1000;
const ZOOM_STEP = 1.0015; // per unit of the wheel

/** The part of outer that holds span, as far as it can without becoming shorter. */
export function inside(span: Span, outer: Span): Span {
  const length = Math.min(span[1] - span[0], outer[1] - outer[0]);
  const from = Math.min(Math.max(span[0], outer[0]), outer[1] - length);
  return [from, from + length];
}

/** Arrows move a window by a tenth of itself, or its end; without one they begin with the last tenth. */
export function moved(window: Span | null, shown: Span, direction: 1 | -1, end: boolean): Span {
  if (!window) {
    const tenth = (shown[1] - shown[0]) / 10;
    return direction < 0 ? [shown[1] - tenth, shown[1]] : [shown[0], shown[0] + tenth];
  }
  const length = window[1] - window[0];
  const by = direction * Math.max(SHORTEST_US, Math.round(length * STEP));
  if (!end) return inside([window[0] + by, window[1] + by], shown);
  return [window[0], Math.min(shown[1], Math.max(window[0] + SHORTEST_US, window[1] + by))];
}

/** Nearer or further with the point at part (0 to 1) held; null: all there is. */
export function zoomed(shown: Span, all: Span, delta: number, part: number): Span | null {
  const before = shown[1] - shown[0];
  const length = Math.max(SHORTEST_US, before * ZOOM_STEP ** delta);
  if (length >= all[1] - all[0]) return null;
  const from = shown[0] + part * (before - length);
  return inside([from, from + length], all);
}

export function panned(shown: Span, all: Span, part: number): Span {
  const by = part * (shown[1] - shown[0]);
  return inside([shown[0] + by, shown[1] + by], all);
}
