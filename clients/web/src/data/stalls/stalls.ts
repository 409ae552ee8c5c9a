// Stalls of loops, as the service tells of them: each is told anew, whole, whenever it changed. It stands in the page's
// second file, as the timeline does.
import type { LoopStats, Stall, StallList } from "../../wire/protocol";
import type { Profile } from "../profile";
import type { LoopSort, StallSort } from "../sort";
import type { Search } from "../sums/search";
import { briefOf, pidOf, stallRows, type StallBrief } from "./brief";
import { type LoopTable, loopTable } from "./loops";

const KEPT_MOST = 10_000; // the service keeps fewer; this bounds a page that is open for days

const threadOf = (profile: Profile, stall: Stall) => profile.thread(pidOf(stall), stall.tid, stall.thread, false);

export class Stalls {
  #byNumber = new Map<number, Stall>();

  /** stats: of a file, whose loops nobody can be asked about. */
  constructor(readonly stats: LoopStats | null = null) {}

  get length(): number {
    return this.#byNumber.size;
  }

  get ongoing(): number {
    let count = 0;
    for (const { ongoing } of this.#byNumber.values()) count += ongoing ? 1 : 0;
    return count;
  }

  /** Returns whether that changed anything. */
  add({ stalls, reset }: Pick<StallList, "stalls"> & { reset?: true }): boolean {
    const before = reset ? this.length : 0;
    if (reset) this.#byNumber.clear();
    for (const one of stalls) this.#byNumber.set(one.number, one);
    if (this.length > KEPT_MOST) {
      const oldest = [...this.#byNumber.keys()].sort((a, b) => a - b);
      for (const number of oldest.slice(0, this.length - KEPT_MOST)) this.#byNumber.delete(number);
    }
    return before + stalls.length > 0;
  }

  /** From the first one's start to the last one's end; null: there are none. */
  extent_us(): [number, number] | null {
    if (!this.length) return null;
    let [first, last] = [Infinity, -Infinity];
    for (const { timeOriginMicros: start, timeExtentMicros: extent } of this.#byNumber.values()) {
      first = Math.min(first, start);
      last = Math.max(last, start + extent);
    }
    return [first, last];
  }

  /** Threads of stalls are threads of the profile, whether they have samples or not. */
  share(profile: Profile): void {
    for (const one of this.#byNumber.values()) threadOf(profile, one);
  }

  /** Threads of the profile that were late in the time from..to. */
  threadsIn(profile: Profile, [from, to]: [number, number]): number[] {
    const found = new Set<number>();
    for (const one of this.#byNumber.values())
      if (one.timeOriginMicros < to && one.timeOriginMicros + one.timeExtentMicros > from) found.add(threadOf(profile, one));
    return [...found];
  }

  one = (number: number): Stall | null => this.#byNumber.get(number) ?? null;

  /** until_us: only those that had begun by then. */
  rows(sort: StallSort, search: Search | null, until_us = Infinity): StallBrief[] {
    const begun = [...this.#byNumber.values()].filter(({ startMicros }) => startMicros[0] <= until_us);
    return stallRows(begun.map(briefOf), sort, search);
  }

  loops = (stats: LoopStats | null, sort: LoopSort): LoopTable | null => stats && loopTable(stats, sort);
}
