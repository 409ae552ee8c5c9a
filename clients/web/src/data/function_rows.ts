// Functions as rows of a table: which of them, and in what order.
import type { Totals } from "./totals";

export type FunctionColumn = "total" | "self" | "name" | "library";

export interface FunctionSort {
  by: FunctionColumn;
  ascending: boolean;
}

export interface Texts {
  name(fn: number): string;
  library(fn: number): string;
}

/** Functions with any weight, and (hits) that were found. What is equal stands heaviest first, then by name. */
export function functionRows(
  { self, total }: Totals,
  { by, ascending }: FunctionSort,
  hits: Uint8Array | null,
  texts: Texts,
): number[] {
  const rows: number[] = [];
  for (let fn = 0; fn < total.length; fn++) if (total[fn] > 0 && (!hits || hits[fn])) rows.push(fn);
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const compare: Record<FunctionColumn, (a: number, b: number) => number> = {
    total: (a, b) => total[a] - total[b],
    self: (a, b) => self[a] - self[b],
    name: (a, b) => text(texts.name(a), texts.name(b)),
    library: (a, b) => text(texts.library(a), texts.library(b)),
  };
  const sign = ascending ? 1 : -1;
  return rows.sort(
    (a, b) =>
      sign * compare[by](a, b) ||
      total[b] - total[a] ||
      self[b] - self[a] ||
      compare.name(a, b) ||
      a - b,
  );
}
