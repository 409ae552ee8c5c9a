// What the page shows beside its data, and no link tells of.
import { signal } from "@preact/signals";
import { select, selection } from "./selection";

export const helpShown = signal(false);
export const savingShown = signal(false);
export const filtersShown = signal(false);
export const processesShown = signal(false);

/** The stack of the box that was picked last, outermost first; another function is picked: of no use. */
export const pickedStack = signal<readonly string[]>([]);

/** To the selected window; without one to all. */
export function zoomOverview(): void {
  select({ overview: selection.value.filter.window_us ?? null });
}

/** Where the menu of the picked function is open, in the window; null: it is not. */
export interface MenuAt {
  x: number;
  y: number;
  zoom?(): void; // to the frame that it was opened on
}
export const menuAt = signal<MenuAt | null>(null);

/** For a context menu's event; what it is about has been picked. */
export function openMenu(event: MouseEvent, zoom?: () => void): void {
  event.preventDefault();
  menuAt.value = { x: event.clientX, y: event.clientY, zoom };
}
