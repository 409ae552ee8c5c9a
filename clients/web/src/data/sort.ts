// The order of rows that a user picks by a column's head.

export const COLUMNS = ["total", "self", "name", "library"] as const;
export type Column = (typeof COLUMNS)[number];

/** Of the table of threads. */
export const THREAD_COLUMNS = [
  ...(["name", "process", "tid", "time", "samples", "first", "last", "states", "busiest"] as const),
];
export type ThreadColumn = (typeof THREAD_COLUMNS)[number];

/** Of the table of slices. */
export const SLICE_COLUMNS = ["name", "stream", "count", "total", "p50", "p95", "most"] as const;
export type SliceColumn = (typeof SLICE_COLUMNS)[number];
export type SliceSort = Sort<SliceColumn>;

/** Of the table of frames. */
export const FRAME_COLUMNS = ["number", "start", "elapsed", "build", "raster", "dropped", "level", "name"] as const;
export type FrameColumn = (typeof FRAME_COLUMNS)[number];
export type FrameSort = Sort<FrameColumn>;

/** Of the table of stalls, and of that of loops. */
export const STALL_COLUMNS = [
  ...(["number", "start", "loop", "thread", "level", "length", "cause", "culprit", "caller", "equals"] as const),
];
export type StallColumn = (typeof STALL_COLUMNS)[number];
export type StallSort = Sort<StallColumn>;
export const LOOP_COLUMNS = [
  ...(["name", "thread", "kind", "busy", "dispatches", "p50", "p95", "p99", "most", "delay", "blocking", "stalls"] as const),
];
export type LoopColumn = (typeof LOOP_COLUMNS)[number];
export type LoopSort = Sort<LoopColumn>;

export interface Sort<By extends string = Column> {
  by: By;
  ascending: boolean;
}

/** What stands in a column, by row; of texts in the worker their ranks. */
export type Keys = ArrayLike<number> | ArrayLike<string>;

/** Texts by their letters, not by a language: the same everywhere. */
export const difference = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);

/** Compares rows. What is equal stands heaviest first, by each of weights in turn, then by name. */
export function orderOf<By extends string>(
  { by, ascending }: Sort<By>,
  columns: Record<By | "name", Keys>,
  weights: ArrayLike<number>[],
): (a: number, b: number) => number {
  const [key, { name }] = [columns[by], columns];
  const sign = ascending ? 1 : -1;
  return (a, b) => {
    let order = sign * difference(key[a], key[b]);
    for (let i = 0; order === 0 && i < weights.length; i++) order = weights[i][b] - weights[i][a];
    return order || difference(name[a], name[b]);
  };
}
