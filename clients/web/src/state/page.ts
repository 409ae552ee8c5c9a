// What the page shows beside its data, and no link tells of.
import { signal } from "@preact/signals";
import { selection } from "./selection";

export const helpShown = signal(false);

/** The part of time that the overview shows; null: all there is, growing. */
export const overviewRange = signal<[number, number] | null>(null);

/** To the selected window, or back to all. */
export function zoomOverview(toWindow: boolean): void {
  const window_us = selection.value.filter.window_us;
  overviewRange.value = toWindow && window_us ? window_us : null;
}
