// Slices of one thread and depth: columns in the order of their starts, and what is longest in each eight of
// them, each sixty-four, and so on. So what is seen costs what is seen, however many there are.
//
//   level 1   [0..7] [8..15] ...     the number of the longest slice in each; complete ones only
//   level 2   [0..63] ...
//
// They do not overlap, so a group is as wide as from its first's start to its last's end. What comes late goes
// to its place with settle().
//
// Units  Nanoseconds since the timeline's origin.
import { FloatColumn, IntColumn } from "../columns";

const SHIFT = 3; // groups are of 2^SHIFT

/** count: slices from number first on that stand close together; longest: of these. */
export type Emit = (first: number, count: number, longest: number) => void;

/** The first of count numbers for which it holds; it holds for all behind that one. */
export function firstThat(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class Track {
  readonly start = new FloatColumn();
  readonly duration = new FloatColumn();
  readonly label = new IntColumn(); // of the timeline's
  readonly serial = new IntColumn(); // in the order of arrival
  #levels: IntColumn[] = []; // [0] is level 1
  #settled = 0; // so many are in order, and in the levels
  #late = Infinity; // the earliest start that came behind a later one

  get length(): number {
    return this.start.length;
  }

  push(start: number, duration: number, label: number, serial: number): void {
    const last = this.length - 1;
    if (last >= 0 && start < this.start.data[last]) this.#late = Math.min(this.#late, start);
    this.start.push(start);
    this.duration.push(duration);
    this.label.push(label);
    this.serial.push(serial);
  }

  end(i: number): number {
    return this.start.data[i] + this.duration.data[i];
  }

  /** Before it is asked for anything, when some were added. */
  settle(): void {
    if (this.#late < Infinity) this.#sort();
    for (; this.#settled < this.length; this.#settled++) this.#raise(this.#settled + 1);
  }

  #sort(): void {
    const start = this.start.data;
    // What came late may come late among itself, but all before it were in order.
    const from = firstThat(this.#settled, (i) => start[i] > this.#late);
    const order = Int32Array.from({ length: this.length - from }, (_, i) => from + i);
    order.sort((a, b) => start[a] - start[b] || a - b);
    for (const { data } of [this.start, this.duration, this.label, this.serial])
      data.set(Array.from(order, (i) => data[i]), from);
    this.#late = Infinity;
    this.#keepLevels(from);
  }

  #keepLevels(count: number): void {
    this.#settled = Math.min(this.#settled, count);
    this.#levels.forEach((level, i) => {
      level.length = Math.min(level.length, count >> (SHIFT * (i + 1)));
    });
  }

  /** count slices are there now: groups that this completes. */
  #raise(count: number): void {
    const { data } = this.duration;
    for (let level = 0; (count & ((1 << (SHIFT * (level + 1))) - 1)) === 0; level++) {
      const below = level ? this.#levels[level - 1] : null;
      const first = (below ? below.length : count) - (1 << SHIFT);
      let longest = below ? below.data[first] : first;
      for (let i = 1; i < 1 << SHIFT; i++) {
        const one = below ? below.data[first + i] : first + i;
        if (data[one] > data[longest]) longest = one;
      }
      (this.#levels[level] ??= new IntColumn()).push(longest);
    }
  }

  /** The first that ends behind a time. */
  firstAfter(time: number): number {
    return firstThat(this.length, (i) => this.end(i) > time);
  }

  /**
   * Those that overlap [from, to) or stand in it, from left to right. Groups that are narrower than thin
   * are told as one.
   */
  eachIn(from: number, to: number, thin: number, emit: Emit): void {
    const start = this.start.data;
    const last = firstThat(this.length, (i) => start[i] >= to);
    let i = Math.min(last, firstThat(this.length, (one) => this.end(one) >= from));
    while (i < last) {
      let level = 0;
      for (let size = 1 << SHIFT; ; size <<= SHIFT) {
        const group = i >> (SHIFT * (level + 1));
        const isWhole = (i & (size - 1)) === 0 && i + size <= last && group < (this.#levels[level]?.length ?? 0);
        if (!isWhole || this.end(i + size - 1) - start[i] >= thin) break;
        level++;
      }
      const longest = level ? this.#levels[level - 1].data[i >> (SHIFT * level)] : i;
      const count = 1 << (SHIFT * level);
      emit(i, count, longest);
      i += count;
    }
  }

  /** Forgets those from the oldest on whose serial is below. */
  drop(serial: number): void {
    let count = 0;
    while (count < this.length && this.serial.data[count] < serial) count++;
    if (!count) return;
    for (const column of [this.start, this.duration, this.label, this.serial]) column.drop(count);
    this.#keepLevels(0);
    this.settle();
  }
}
