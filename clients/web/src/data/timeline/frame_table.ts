// Frames one by one: when each began, what it took, and how many were dropped meanwhile.
import type { Filter } from "../filter";
import { type FrameSort, orderOf } from "../sort";
import { matcher, type Search } from "../sums/search";
import { droppedBy, levelOf } from "./frames";
import { eventKey } from "./sums";
import type { Timeline } from "./timeline";

/** By frame, as they came. */
export interface FrameTable {
  keys: string[]; // of events
  names: string[];
  number: Float64Array;
  start_us: Float64Array;
  elapsed: Float64Array; // ns, as the next two, which are NaN where the program told none
  build: Float64Array;
  raster: Float64Array;
  dropped: Float64Array;
  level: Uint8Array;
  rows: Int32Array; // of these, sorted, those that were found
  sort: FrameSort;
}

const PARTS = ["build", "raster"]; // arguments, in microseconds

/** Those of the filter's threads that overlap its window. Their names are searched. */
export function frameTable(
  timeline: Timeline,
  { window_us, threads, processes, until_us }: Filter,
  refresh: number,
  sort: FrameSort,
  search: Search | null,
): FrameTable {
  const budget = 1e9 / refresh;
  const ns = (time_us: number) => 1000 * (time_us - timeline.origin_us);
  const from = ns(window_us?.[0] ?? -Infinity);
  const to = Math.min(ns(window_us?.[1] ?? Infinity), ns(until_us ?? Infinity));
  const found = finder(search);
  const [keys, names]: string[][] = [[], []];
  const numbers: number[][] = [[], [], [], [], []]; // number, start, elapsed, build, raster
  for (const { tid, pid, rows } of timeline.threads) {
    if ((threads && !threads.includes(tid)) || (processes && !processes.includes(pid))) continue;
    for (const { key, track } of rows.values()) {
      if (key[0] !== "f" || !track.length || !found(timeline.nameOf(track.label.data[0]))) continue;
      for (let i = track.firstAfter(from); i < track.length && track.start.data[i] < to; i++) {
        const serial = track.serial.data[i];
        const given = new Map(timeline.arguments.of(serial));
        const start_us = timeline.origin_us + track.start.data[i] / 1000;
        const parts = PARTS.map((part) => 1000 * Number(given.get(part) ?? NaN));
        const one = [timeline.numbers.get(serial) ?? 0, start_us, track.duration.data[i], ...parts];
        one.forEach((value, column) => numbers[column].push(value));
        keys.push(eventKey(`${pid}/${tid}/${key}`, start_us));
        names.push(timeline.nameOf(track.label.data[i]));
      }
    }
  }
  const [number, start_us, elapsed, build, raster] = numbers.map((column) => Float64Array.from(column));
  const dropped = elapsed.map((length) => droppedBy(length, budget));
  const table = { keys, names, number, start_us, elapsed, build, raster, dropped, level: Uint8Array.from(dropped, levelOf) };
  // What was not told stands behind all that was.
  const told = (column: Float64Array) => column.map((value) => (value === value ? value : -1));
  const columns = { ...table, name: names, start: start_us, build: told(build), raster: told(raster) };
  const rows = Int32Array.from(keys.keys()).sort(orderOf(sort, columns, [start_us.map((time) => -time)]));
  return { ...table, rows, sort };
}

/** What is no expression finds nothing. */
function finder(search: Search | null): (name: string) => boolean {
  if (!search?.text) return () => true;
  try {
    const isHit = matcher(search);
    return (name) => isHit(name, "");
  } catch {
    return () => false;
  }
}
