// Slices by name: how many, how long in all, the usual and the longest; and which names a search finds.
import type { Filter } from "../filter";
import { orderOf, type SliceSort } from "../sort";
import { matcher, type Search } from "../sums/search";
import { streamSlots } from "./stream_slots";
import type { Row, Timeline } from "./timeline";

export interface SliceTable {
  names: string[];
  streams: string[];
  slots: Uint8Array; // the colours of these
  count: Float64Array;
  total: Float64Array; // ns, as the next three
  p50: Float64Array;
  p95: Float64Array;
  most: Float64Array;
  longest: string[]; // keys of events
  rows: Int32Array; // of these, sorted, those that were found
  sort: SliceSort;
}

/** What names an event in a link, too. */
export function eventKey(row: string, start_us: number): string {
  return `${row}/${start_us.toFixed(3)}`;
}

/** The least value that so many of them, at least, do not exceed. They change their places. */
export function percentile(values: Float64Array, percent: number): number {
  const wanted = Math.max(0, Math.ceil((percent * values.length) / 100) - 1);
  for (let [low, high] = [0, values.length - 1]; low < high; ) {
    const pivot = values[(low + high) >> 1];
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      [values[i], values[j]] = [values[j], values[i]];
      i++;
      j--;
    }
    if (wanted <= j) high = j;
    else if (wanted >= i) low = i;
    else break;
  }
  return values[wanted];
}

type Each = (label: number, duration: number, row: Row, thread: number, start: number) => void;

/** Slices of a thread that overlap the filter's window, of its threads. Of those that have not ended, what there is of them. */
function eachSlice(timeline: Timeline, { window_us, threads, processes, until_us }: Filter, each: Each): void {
  const ns = (time_us: number) => 1000 * (time_us - timeline.origin_us);
  const from = ns(window_us?.[0] ?? -Infinity);
  const to = Math.min(ns(window_us?.[1] ?? Infinity), ns(until_us ?? Infinity));
  timeline.threads.forEach(({ tid, pid, rows }, thread) => {
    if ((threads && !threads.includes(tid)) || (processes && !processes.includes(pid))) return;
    for (const row of rows.values()) {
      if (row.key > ":") continue; // instants, frames, what begins and ends anywhere
      const { label, start, duration } = row.track;
      for (let i = row.track.firstAfter(from - 1); i < row.track.length && start.data[i] < to; i++)
        each(label.data[i], duration.data[i], row, thread, start.data[i]);
      for (const one of row.open)
        if (one.start < to && one.start + one.duration >= from)
          each(one.label, one.duration, row, thread, one.start);
    }
  });
}

export function sliceTable(timeline: Timeline, filter: Filter, sort: SliceSort, search: Search | null): SliceTable {
  const labels = timeline.labels.length;
  const [counts, totals, most] = [0, 1, 2].map(() => new Float64Array(labels));
  const longest: string[] = [];
  eachSlice(timeline, filter, (label, duration, { key }, thread, start) => {
    counts[label]++;
    totals[label] += duration;
    if (longest[label] !== undefined && duration <= most[label]) return;
    most[label] = duration;
    const { pid, tid } = timeline.threads[thread];
    longest[label] = eventKey(`${pid}/${tid}/${key}`, timeline.origin_us + start / 1000);
  });
  const ends = Int32Array.from(counts);
  for (let label = 1; label < labels; label++) ends[label] += ends[label - 1];
  const begins = ends.map((end, label) => end - counts[label]);
  const filled = begins.slice();
  const durations = new Float64Array(ends[labels - 1] ?? 0); // one name's after another's
  eachSlice(timeline, filter, (label, duration) => void (durations[filled[label]++] = duration));
  const there = [...counts.keys()].filter((label) => counts[label]);
  const names = there.map((label) => timeline.nameOf(label));
  const streams = there.map((label) => timeline.streamOf(label));
  const of = (percent: number) =>
    Float64Array.from(there, (label) => percentile(durations.subarray(begins[label], ends[label]), percent));
  const slotOf = streamSlots(timeline);
  const table = {
    slots: Uint8Array.from(there, (label) => slotOf(timeline.labels.b.data[label])),
    ...{ names, streams, p50: of(50), p95: of(95), longest: there.map((label) => longest[label]) },
    count: Float64Array.from(there, (label) => counts[label]),
    total: Float64Array.from(there, (label) => totals[label]),
    most: Float64Array.from(there, (label) => most[label]),
  };
  const isHit = matcherOf(search);
  const order = orderOf(sort, { ...table, name: names, stream: streams }, [table.total]);
  const rows = Int32Array.from(names.keys()).filter((row) => isHit(names[row], streams[row]));
  return { ...table, rows: rows.sort(order), sort };
}

/** What is no expression finds nothing. */
function matcherOf(search: Search | null): (name: string, stream: string) => boolean {
  if (!search?.text) return () => true;
  try {
    return matcher(search);
  } catch {
    return () => false;
  }
}

export interface EventHits {
  names: { name: string; stream: string; count: number }[]; // the most frequent
  count: number; // of names
}

const HITS_MOST = 20;

export function eventHits(timeline: Timeline, search: Search): EventHits {
  const isHit = matcherOf(search);
  const { counts } = timeline;
  const found = [...counts.view().keys()].filter((label) => isHit(timeline.nameOf(label), timeline.streamOf(label)));
  found.sort((a, b) => counts.data[b] - counts.data[a]);
  const names = found.slice(0, HITS_MOST).map((label) => ({
    ...{ name: timeline.nameOf(label), stream: timeline.streamOf(label), count: counts.data[label] },
  }));
  return { names, count: found.length };
}
