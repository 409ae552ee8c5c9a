// A counter's values in the order of time, with least and most of each eight, each sixty-four, and so on.
//
// Units  Nanoseconds since the timeline's origin.
import { FloatColumn } from "../columns";
import { firstThat } from "./track";

const SHIFT = 3;

interface Level {
  least: FloatColumn;
  most: FloatColumn;
}

export class Series {
  readonly time = new FloatColumn();
  readonly value = new FloatColumn();
  #levels: Level[] = [];

  get length(): number {
    return this.time.length;
  }

  /** Threads' values come one thread after another: a late one goes to its place. */
  push(time: number, value: number): void {
    let at = this.length;
    while (at > 0 && this.time.data[at - 1] > time) at--;
    this.time.push(time);
    this.value.push(value);
    if (at === this.length - 1) return this.#raise();
    for (const [column, one] of [[this.time, time], [this.value, value]] as const) {
      column.data.copyWithin(at + 1, at, this.length - 1);
      column.data[at] = one;
    }
    this.#rebuild(at);
  }

  #rebuild(from: number): void {
    const { length } = this;
    this.#levels.forEach(({ least, most }, i) => {
      least.length = most.length = Math.min(least.length, from >> (SHIFT * (i + 1)));
    });
    for (let count = ((from >> SHIFT) + 1) << SHIFT; count <= length; count += 1 << SHIFT) this.#raise(count);
  }

  #raise(count = this.length): void {
    for (let level = 0; (count & ((1 << (SHIFT * (level + 1))) - 1)) === 0; level++) {
      const below = this.#levels[level - 1] ?? { least: this.value, most: this.value };
      const first = (count >> (SHIFT * level)) - (1 << SHIFT);
      const own = (this.#levels[level] ??= { least: new FloatColumn(), most: new FloatColumn() });
      if (own.least.length > first >> SHIFT) continue; // a level that was kept
      own.least.push(Math.min(...below.least.data.subarray(first, first + (1 << SHIFT))));
      own.most.push(Math.max(...below.most.data.subarray(first, first + (1 << SHIFT))));
    }
  }

  /** Least and most of values [first, last). */
  #between(first: number, last: number): [number, number] {
    let [least, most] = [Infinity, -Infinity];
    for (let i = first; i < last; ) {
      let level = 0;
      for (let size = 1 << SHIFT; (i & (size - 1)) === 0 && i + size <= last; size <<= SHIFT) level++;
      const own = this.#levels[level - 1] ?? { least: this.value, most: this.value };
      least = Math.min(least, own.least.data[i >> (SHIFT * level)]);
      most = Math.max(most, own.most.data[i >> (SHIFT * level)]);
      i += 1 << (SHIFT * level);
    }
    return [least, most];
  }

  /** The value at a time, by its number; -1: there is none yet. */
  at(time: number): number {
    return firstThat(this.length, (i) => this.time.data[i] > time) - 1;
  }

  /** Least and most in each of count steps from a time on, one after the other; NaN: before the first. */
  steps(from: number, step: number, count: number): Float64Array {
    const told = new Float64Array(2 * count).fill(NaN);
    let first = this.at(from);
    for (let i = 0; i < count; i++) {
      const end = from + (i + 1) * step;
      const last = this.at(end) + 1;
      if (last > 0) told.set(this.#between(Math.max(0, first), last), 2 * i);
      first = last - 1;
    }
    return told;
  }

  drop(before: number): void {
    const count = Math.max(0, this.at(before)); // the one that holds then stays
    if (!count) return;
    this.time.drop(count);
    this.value.drop(count);
    this.#rebuild(0);
  }
}
