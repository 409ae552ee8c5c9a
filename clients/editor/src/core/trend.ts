// What became of a function since another run: shares of the total, by the name that both runs know it by.
import type { Reading } from "./reading";

/** By key of each function; what is kept of a run when the next one comes. */
export type Shares = ReadonlyMap<string, { self: number; total: number }>;

export interface Trend {
  difference: number; // of shares of the total: 0.1 is ten points more
  isClear: boolean; // more than chance: beyond three standard errors of both
}

/** A run, remembered. */
export interface Before {
  name: string; // for people
  shares: Shares;
  samples: number;
}

export function beforeOf(reading: Reading, name: string): Before {
  const shares = new Map(reading.functions.map(({ key, self, total }) => [key, { self, total }]));
  return { name, shares, samples: reading.whole.samples };
}

const ERRORS_CLEAR = 3;

/** null: there is nothing to compare with. */
export function trendOf(before: Before | null, key: string, total: number, samples: number): Trend | null {
  if (!before || !before.samples || !samples) return null;
  const was = before.shares.get(key)?.total ?? 0;
  const difference = total - was;
  const error = Math.sqrt(variance(was, before.samples) + variance(total, samples));
  return { difference, isClear: Math.abs(difference) > ERRORS_CLEAR * error };
}

/** Of a share that so many samples told; one that was never met may still be one in so many. */
function variance(share: number, samples: number): number {
  const least = 1 / samples;
  const p = Math.min(Math.max(share, least), 1 - Math.min(least, 0.5));
  return (p * (1 - p)) / samples;
}
