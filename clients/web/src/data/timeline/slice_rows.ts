// A thread's slices as rows of boxes: instants, then what others overlap, then each depth, the outermost first.
import { FloatColumn, IntColumn } from "../columns";
import { type FlameRows, JOINED, SLICE } from "../layouts/flame_layout";
import type { Open, Row, Timeline } from "./timeline";
import { Track } from "./track";

const JOINED_MOST = 4; // pixels: so wide at most, joined ones keep their colours apart
const SEEN = 1.01; // pixels: the shortest is seen
const OPEN_ROWS = 8; // of what has begun and not ended, and overlaps

/** What is seen, and how: microseconds of the samples' clock. */
export interface Seen {
  window_us: [number, number];
  origin_us: number; // where x is 0
  whole: number; // what x goes to
  thin_us: number; // a pixel
}

/** Of a key, whatever comes behind its letter. */
export function depthOf(key: string): number {
  return Number(key.replace(/^\D/, ""));
}

const RANKS = ["i", "a"]; // instants, overlapping ones; depths stand behind them

export function sortedRows(timeline: Timeline, thread: number): Row[] {
  const rank = ({ key }: Row) => 1000 * (RANKS.indexOf(key[0]) + 1 || 3) + depthOf(key);
  const rows = [...timeline.threads[thread].rows.values()].filter(({ key }) => key[0] !== "f");
  return rows.sort((a, b) => rank(a) - rank(b));
}

class Boxes {
  readonly rows = [0];
  readonly x = new FloatColumn();
  readonly width = new FloatColumn();
  readonly start_us = new FloatColumn();
  readonly duration = new FloatColumn();
  readonly label = new IntColumn();
  readonly count = new IntColumn();
  readonly keys: string[] = [];

  constructor(
    private readonly timeline: Timeline,
    private readonly seen: Seen,
  ) {}

  row(key: string, { track, open }: Pick<Row, "track" | "open">): void {
    const { origin_us, seen } = { origin_us: this.timeline.origin_us, seen: this.seen };
    const [from, to] = seen.window_us.map((time) => 1000 * (time - origin_us));
    const { start, duration, label } = track;
    track.eachIn(from, to, 1000 * seen.thin_us, (first, count, longest) => {
      const end = track.end(first + count - 1);
      const length = duration.data[longest];
      this.#add(start.data[first], end, start.data[longest], length, label.data[longest], count);
    });
    for (const one of open)
      if (one.start < to && one.start + one.duration >= from)
        this.#add(one.start, one.start + one.duration, one.start, one.duration, one.label, 1);
    this.rows.push(this.x.length);
    this.keys.push(key);
  }

  /** Of those that are thinner than a pixel and stand close together, one tells of all. */
  #add(from: number, to: number, start: number, duration: number, label: number, count: number): void {
    const { origin_us, thin_us } = this.seen;
    const shift = this.timeline.origin_us - origin_us;
    const [left, right] = [from / 1000 + shift, to / 1000 + shift];
    const last = this.x.length - 1;
    const isFirst = last < this.rows[this.rows.length - 1];
    const before = isFirst ? -Infinity : this.x.data[last];
    const end = isFirst ? -Infinity : before + this.width.data[last];
    const isThin = right - left < thin_us;
    if (isThin && left < end + thin_us && right - before < JOINED_MOST * thin_us && this.#isThin(last)) {
      this.width.data[last] = Math.max(this.width.data[last], right - before);
      this.count.data[last] += count;
      if (duration <= this.duration.data[last]) return;
    } else {
      this.x.push(left);
      this.width.push(Math.max(right - left, SEEN * thin_us));
      this.count.push(count);
      for (const column of [this.start_us, this.duration, this.label]) column.push(0);
    }
    const at = this.x.length - 1;
    this.start_us.data[at] = start / 1000 + this.timeline.origin_us;
    this.duration.data[at] = duration;
    this.label.data[at] = label;
  }

  #isThin(box: number): boolean {
    return this.count.data[box] > 1 || this.width.data[box] <= SEEN * this.seen.thin_us;
  }

  /** Their columns are moved. */
  flat(): FlameRows {
    const label = this.label.view().slice();
    const count = this.count.view().slice();
    return {
      whole: this.seen.whole,
      rows: Int32Array.from(this.rows),
      x: this.x.view().slice(),
      width: this.width.view().slice(),
      self: new Float64Array(0),
      node: new Int32Array(label.length).fill(JOINED),
      fn: count.map((of) => (of > 1 ? JOINED : SLICE)),
      slices: {
        ...{ label, count, keys: this.keys },
        start_us: this.start_us.view().slice(),
        duration: this.duration.view().slice(),
      },
    };
  }
}

/** null: the thread has none. */
export function sliceRows(timeline: Timeline, thread: number, seen: Seen): FlameRows | null {
  const { pid, tid } = timeline.threads[thread];
  const rows = sortedRows(timeline, thread);
  const overlapping = timeline.openHalves(thread).slice(0, OPEN_ROWS);
  if (!rows.length && !overlapping.length) return null;
  const boxes = new Boxes(timeline, seen);
  const add = (key: string, track: Row["track"], open: Open[]) =>
    boxes.row(`${pid}/${tid}/${key}`, { track, open });
  overlapping.forEach((one, i) => add(`o${i}`, new Track(), [one]));
  for (const { key, track, open } of rows) add(key, track, open);
  return boxes.flat();
}
