// A stall in short: what a row of the table says of it, and a mark in the lanes.
import type { Stall } from "../../wire/protocol";
import { orderOf, type StallSort } from "../sort";
import { matcher, type Search } from "../sums/search";

/** At least, and at most. */
export type Range = [number, number];

export interface StallBrief {
  number: number;
  pid: number;
  tid: number;
  thread: string;
  loop: string;
  level: Stall["level"];
  ongoing: boolean;
  told: boolean;
  equals: number;
  cause: string;
  culprit: string; // "": not known, as the next two
  culpritKey: string; // as functionKey makes it
  caller: string;
  start_us: Range;
  duration_us: Range;
  end_us: Range; // of one that goes on: so far
  window_us: [number, number]; // of its samples
}

export const LEVELS: readonly Stall["level"][] = ["stall", "hang", "dead"];

/** That its samples have: of pids that came twice, the service's number. */
export function pidOf({ isolateId, pid }: Stall): number {
  return Number(/\d+/.exec(isolateId)?.[0] ?? pid);
}

export function briefOf(stall: Stall): StallBrief {
  const { number, tid, thread, level, ongoing, told, equals, cause, culprit, caller } = stall;
  const { startMicros: start, durationMicros: length, timeOriginMicros: from, timeExtentMicros: extent } = stall;
  return {
    ...{ number, pid: pidOf(stall), tid, thread, level, ongoing, told, equals, cause },
    loop: stall.name,
    culprit: culprit?.function ?? "",
    culpritKey: culprit?.function ? `${culprit.library}!${culprit.function}` : "",
    caller: caller?.function ?? "",
    start_us: [start[0], start[1]],
    duration_us: [length[0], length[1]],
    // It lasted at least from its latest start to its earliest end.
    end_us: [start[1] + length[0], Math.max(start[1] + length[0], start[0] + length[1])],
    window_us: [from, from + Math.max(1, extent)],
  };
}

/** Those that are found, by their loop, thread, cause, culprit or its caller; of equals the newest first. */
export function stallRows(all: StallBrief[], sort: StallSort, search: Search | null): StallBrief[] {
  const found = search?.text ? all.filter(matches(search)) : all;
  const of = <T extends number | string>(value: (one: StallBrief) => T) => found.map(value);
  const columns = {
    number: of((one) => one.number),
    start: of((one) => one.start_us[0]),
    loop: of((one) => one.loop),
    name: of((one) => one.loop), // what is equal is in this order
    thread: of((one) => one.thread),
    level: of((one) => LEVELS.indexOf(one.level)),
    length: of((one) => one.duration_us[1]),
    cause: of((one) => one.cause),
    culprit: of((one) => one.culprit),
    caller: of((one) => one.caller),
    equals: of((one) => one.equals),
  };
  const order = orderOf(sort, columns, [columns.number]);
  return [...found.keys()].sort(order).map((row) => found[row]);
}

/** What is no expression finds nothing. */
function matches(search: Search): (one: StallBrief) => boolean {
  try {
    const isHit = matcher(search);
    return ({ loop, thread, cause, culprit, caller }) => isHit(loop, thread) || isHit(cause, culprit) || isHit(caller, "");
  } catch {
    return () => false;
  }
}
