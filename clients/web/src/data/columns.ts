// Columns of numbers that grow, and an index from two numbers to one.

type Numbers = Int32Array | Float64Array;

const LARGE = 1 << 16; // numbers: from there on what is kept free would weigh more than what is copied

abstract class Column<A extends Numbers> {
  length = 0;
  constructor(public data: A) {}
  protected abstract larger(size: number): A;

  push(value: number): number {
    if (this.length === this.data.length) {
      const data = this.larger(Math.ceil(this.length * (this.length < LARGE ? 2 : 1.25)));
      data.set(this.data);
      this.data = data;
    }
    this.data[this.length] = value;
    return this.length++;
  }

  /** Forgets the first count. */
  drop(count: number): void {
    this.data.copyWithin(0, count, this.length);
    this.length -= count;
  }

  /** Lent until the next push. */
  view(): A {
    return this.data.subarray(0, this.length) as A;
  }
}

export class IntColumn extends Column<Int32Array> {
  constructor() {
    super(new Int32Array(64));
  }
  protected override larger(size: number): Int32Array {
    return new Int32Array(size);
  }

  /** Each number becomes the one that numbers has in its place. */
  renumber(numbers: Int32Array): void {
    for (let i = 0; i < this.length; i++) this.data[i] = numbers[this.data[i]];
  }
}

export class FloatColumn extends Column<Float64Array> {
  constructor() {
    super(new Float64Array(64));
  }
  protected override larger(size: number): Float64Array {
    return new Float64Array(size);
  }
}

function mix(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** The number of each pair (a, b), given in order of arrival from 0 on. */
export class PairIndex {
  readonly a = new IntColumn();
  readonly b = new IntColumn();
  #slots = new Int32Array(128).fill(-1); // linear probing, at most half full

  get length(): number {
    return this.a.length;
  }

  #slot(a: number, b: number): number {
    const mask = this.#slots.length - 1;
    const as = this.a.data;
    const bs = this.b.data;
    for (let at = mix(a, b) & mask; ; at = (at + 1) & mask) {
      const found = this.#slots[at];
      if (found < 0 || (as[found] === a && bs[found] === b)) return at;
    }
  }

  /** -1: it was never interned. */
  find(a: number, b: number): number {
    return this.#slots[this.#slot(a, b)];
  }

  /** Its number; new ones have the length there was before. */
  intern(a: number, b: number): number {
    const slot = this.#slot(a, b);
    const found = this.#slots[slot];
    if (found >= 0) return found;
    const number = this.a.push(a);
    this.b.push(b);
    this.#slots[slot] = number;
    if (2 * this.length > this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    const size = 2 ** Math.ceil(Math.log2(4 * this.length));
    this.#slots = new Int32Array(size).fill(-1);
    for (let number = 0; number < this.length; number++)
      this.#slots[this.#slot(this.a.data[number], this.b.data[number])] = number;
  }
}

/** The number of each text, given in order of arrival from 0 on. */
export class TextIndex {
  readonly texts: string[] = [];
  #numbers = new Map<string, number>();

  intern(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.texts.push(text) - 1;
      this.#numbers.set(text, number);
    }
    return number;
  }

  find(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }
}

/** The number of each number, given in order of arrival from 0 on: for those that need 53 bits. */
export class NumberIndex {
  readonly numbers: number[] = [];
  #places = new Map<number, number>();

  intern(number: number): number {
    let place = this.#places.get(number);
    if (place === undefined) {
      place = this.numbers.push(number) - 1;
      this.#places.set(number, place);
    }
    return place;
  }
}
