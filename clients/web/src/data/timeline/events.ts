// What is asked of a timeline, beside a profile whose threads it shares. It stands in the page's second file: until
// that is there, and without events, nobody has one.
import type { TimelineTable } from "../../wire/protocol";
import type { Filter } from "../filter";
import type { FlameRows } from "../layouts/flame_layout";
import type { Profile } from "../profile";
import type { FrameSort, SliceSort } from "../sort";
import type { Search } from "../sums/search";
import type { Steps } from "../spread";
import { type Arrows, arrowsIn } from "./arrows";
import { eventOf } from "./details";
import { frameTable } from "./frame_table";
import { type Seen, sliceRows } from "./slice_rows";
import { streamSlots } from "./stream_slots";
import { laneSlices, strips } from "./strips";
import { eventHits, sliceTable } from "./sums";
import { addTable } from "./table_reader";
import { Timeline } from "./timeline";

/** A name of slices. */
export interface ToldSlice {
  name: string;
  stream: string;
  slot: number; // its colour
}

export class Events {
  timeline = new Timeline();
  #of: number[] = []; // of each thread of the profile, which is the timeline's; -1: none

  /** A reply; hardly more than most events stay. */
  add(table: TimelineTable, most: number): this {
    if (table.reset && this.timeline.length) this.timeline = new Timeline();
    addTable(this.timeline, table);
    this.timeline.keep(most);
    return this;
  }

  /** Threads that have events and no samples are threads of the profile, too. */
  share(profile: Profile): void {
    const known = this.timeline.threads.map(({ pid, tid, name }) => profile.thread(pid, tid, name, false));
    this.#of = profile.threads.map((_, thread) => known.indexOf(thread));
  }

  /** How many each thread of the profile has. */
  counts(): number[] {
    return this.#of.map((of) => this.timeline.threads[of]?.events ?? 0);
  }

  rows(thread: number, seen: Seen): FlameRows | null {
    return this.#of[thread] >= 0 ? sliceRows(this.timeline, this.#of[thread], seen) : null;
  }

  lane(threads: readonly number[], steps: Steps): Uint8Array | undefined {
    const own = threads.map((one) => this.#of[one]).filter((one) => one >= 0);
    return own.length ? laneSlices(this.timeline, own, steps) : undefined;
  }

  /** Names of the slices among boxes, whose labels are numbers of these from now on; and arrows between them. */
  told({ slices }: FlameRows, { window_us, origin_us }: Seen): { told: ToldSlice[]; arrows: Arrows | null } {
    if (!slices) return { told: [], arrows: null };
    const { timeline } = this;
    const slotOf = streamSlots(timeline);
    const known = new Map([[-1, -1]]);
    const told: ToldSlice[] = [];
    slices.label.forEach((label, box) => {
      let number = known.get(label);
      if (number === undefined) {
        const [name, stream] = [timeline.nameOf(label), timeline.streamOf(label)];
        number = told.push({ name, stream, slot: slotOf(timeline.labels.b.data[label]) }) - 1;
        known.set(label, number);
      }
      slices.label[box] = number;
    });
    return { told, arrows: arrowsIn(timeline, slices.keys, window_us, origin_us) };
  }

  slices = (filter: Filter, sort: SliceSort, search: Search | null) => sliceTable(this.timeline, filter, sort, search);
  frames = (filter: Filter, refresh: number, sort: FrameSort, search: Search | null) =>
    frameTable(this.timeline, filter, refresh, sort, search);
  strips = (...asked: [window_us: [number, number], width: number, refresh: number]) => strips(this.timeline, ...asked);
  event = (key: string) => eventOf(this.timeline, key);
  /** Nothing where only the service told something. */
  hits = (search: Search) => (this.timeline.extent_us() ? eventHits(this.timeline, search) : undefined);
}
