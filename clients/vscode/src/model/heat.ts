// How hot a line is: a level of the gutter. Levels are of the total share, each some three times the one below it.
import type { LineRow } from "../../../editor/src/lsp/own_messages";

export const LEVELS = 5;
const LEAST = [0.001, 0.01, 0.05, 0.15, 0.4]; // of levels 1 to 5

/** 0: it is not hot at all. */
export function levelOf(share: number): number {
  return LEAST.filter((least) => share >= least).length;
}

/** The lines of each level, 1 to LEVELS at 0 to LEVELS - 1. */
export function byLevel(lines: readonly LineRow[]): LineRow[][] {
  const levels: LineRow[][] = Array.from({ length: LEVELS }, () => []);
  for (const line of lines) {
    const level = levelOf(line.total);
    if (level > 0) levels[level - 1].push(line);
  }
  return levels;
}

// A scale that is read without its colours, too: hotter is longer.
const COLOURS = ["#f2c14e", "#f2a541", "#ee7f32", "#e2562b", "#c8281f"];

export const colourOf = (level: number) => COLOURS[level - 1];

/** A bar at the right of the gutter, as an SVG picture. */
export function barOf(level: number): string {
  const width = 2 + 2 * level;
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="18" viewBox="0 0 16 18">' +
    `<rect x="${15 - width}" y="3" width="${width}" height="12" rx="1.5" fill="${colourOf(level)}"/></svg>`
  );
}
