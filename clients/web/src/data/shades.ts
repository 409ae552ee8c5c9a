// The colours themselves. Python's pictures have the same (formats/colours.py), and the cases in
// tests/labels/colours.json.
import { hash } from "./colour_slots";

// Everybody tells these apart, also without one kind of cones; black letters can be read on them. The
// last one is of the others.
export const PALETTE = "#8a8ae7 #f3a845 #30a8b1 #e499e7 #7b9921 #e4f37b #d57b7b #6cd58d #d4d4d4".split(" ");
export const SELF_STEPS = 3;
const NAME_SHADE = 0.06; // towards white, as the next one
const SELF_SHADE = 0.05;

/**
 * name: those of one colour differ a little, so that neighbours do; "": the colour itself. step: how much of it
 * is its own, 0 to SELF_STEPS: the more, the stronger. light: of it, on dark paper.
 */
export function shaded(colour: string, name: string, step: number, light = 1): string {
  const white = name ? NAME_SHADE * (hash(name) % 3) + SELF_SHADE * (SELF_STEPS - step) : 0;
  const parts = [1, 3, 5].map((at) => {
    const one = parseInt(colour.slice(at, at + 2), 16);
    const mixed = Math.floor(light * (one + (255 - one) * white) + 0.5);
    return mixed.toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}
