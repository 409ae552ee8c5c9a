// What colours stand for now, as the worker told last: for all that draws functions.
import { signal } from "@preact/signals";
import { OTHERS } from "../data/colour_slots";
import type { Legend } from "../data/colouring";

/** null: nothing was told yet, and all is grey. */
export const legend = signal<Legend | null>(null);

/** A number of the palette. */
export function slotOf(fn: number, inlined = 0): number {
  const told = legend.value;
  if (!told || fn < 0) return OTHERS;
  return inlined && told.inlined >= 0 ? told.inlined : (told.slots[fn] ?? OTHERS);
}
