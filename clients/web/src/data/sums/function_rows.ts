// Functions as rows of a table: which of them, and in what order.
import { orderOf, type Sort } from "../sort";
import type { Totals } from "../totals";

export interface Texts {
  name(fn: number): string;
  library(fn: number): string;
}

/** Functions with any weight, and (hits) that were found. What is equal stands heaviest first, then by name. */
export function functionRows(
  { self, total }: Totals,
  sort: Sort,
  hits: Uint8Array | null,
  texts: Texts,
): number[] {
  const rows: number[] = [];
  for (let fn = 0; fn < total.length; fn++) if (total[fn] > 0 && (!hits || hits[fn])) rows.push(fn);
  const told = (text: (fn: number) => string) => Array.from(total, (_, fn) => text(fn));
  const columns = { total, self, name: told(texts.name), library: told(texts.library) };
  return rows.sort(orderOf(sort, columns, [total, self]));
}
