// Numbers as people read them: as `isoscope table` prints them.
import type { FunctionFact, Whole } from "../core/reading";
import type { Trend } from "../core/trend";

export const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

export const many = (count: number, what: string) => `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;

/** What a lens says of a function. */
export function shares({ self, total, totalSamples }: FunctionFact, trend: Trend | null): string {
  return [`self ${percent(self)}`, `total ${percent(total)}`, many(totalSamples, "sample"), ...trendWords(trend)].join(" · ");
}

export function trendWords(trend: Trend | null): string[] {
  if (!trend) return [];
  if (!trend.isClear) return ["as before"];
  const points = (100 * Math.abs(trend.difference)).toFixed(1);
  return [trend.difference > 0 ? `▲ ${points}` : `▼ ${points}`];
}

/** How far chance may move a share: 95 % of the time it is within. */
export function errorOf(share: number, { samples }: Whole): string {
  return `±${(100 * 1.96 * Math.sqrt((share * (1 - share)) / Math.max(1, samples))).toFixed(1)}`;
}

export const milliseconds = ([least, most]: readonly [number, number]) => {
  const [from, to] = [least, most].map((us) => Math.round(us / 1000));
  return from === to ? `${from} ms` : `${from}-${to} ms`;
};
