// The colours of streams.
import { OTHERS, slotsOf } from "../colour_slots";
import type { Timeline } from "./timeline";

/** The colour of each stream, by its text: a number of the palette. */
export function streamSlots(timeline: Timeline): (stream: number) => number {
  const { texts } = timeline.texts;
  const slots = slotsOf(new Map(timeline.streams.map((stream) => [texts[stream], 1])));
  return (stream) => slots.get(texts[stream]) ?? OTHERS;
}
