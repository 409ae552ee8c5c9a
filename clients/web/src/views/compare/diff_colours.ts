// More is orange, less is blue: people who do not tell red from green do tell these.
import { isDark } from "../parts/colours";

const STEPS = 6;

/** before and after: shares. The larger the change is to what was there, the stronger. */
export function changeFill(before: number, after: number): string {
  const change = (after - before) / (Math.max(before, after) || 1); // -1 to 1
  const strength = Math.round(Math.abs(change) * STEPS) / STEPS;
  const light = isDark.value ? 0.36 + 0.2 * strength : 0.94 - 0.2 * strength;
  return `oklch(${light} ${0.002 + 0.13 * strength} ${change > 0 ? 60 : 250})`;
}

/** In points of a percent, with its sign. */
export function points(before: number, after: number): string {
  const change = 100 * (after - before);
  if (Math.abs(change) < 0.05) return "±0.0";
  return `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(1)}`;
}
