// Columns of numbers in the blocks of a session file. Each number is LEB128.

/** Throws a RangeError where a column ends within a number, or has another length than it should. */
export class Numbers {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** Up to 2^53: more is nowhere counted. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.done) throw new RangeError("it ends within a number");
      const byte = this.bytes[this.#at++];
      value += (byte & 127) * scale;
      if (byte < 128) break;
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`a number of ${value}`);
    return value;
  }

  /** Zigzag. */
  signed(): number {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  /** Of any size. */
  unsigned(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (this.done) throw new RangeError("it ends within a number");
      const byte = this.bytes[this.#at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
      if (shift > 63n) throw new RangeError("a number of more than 64 bits");
    }
  }

  /** Zigzag, of any size. */
  wide(): bigint {
    const value = this.unsigned();
    return (value >> 1n) ^ -(value & 1n);
  }

  /** The next so many bytes. */
  take(count: number): Uint8Array {
    if (count > this.bytes.length - this.#at) throw new RangeError("a column is longer than its block");
    this.#at += count;
    return this.bytes.subarray(this.#at - count, this.#at);
  }

  /** Must be at its end. */
  end(): void {
    if (!this.done) throw new RangeError("a column is longer than what it is of");
  }
}

/** A block's columns, in their order. */
export function columnsOf(content: Uint8Array, count: number): Uint8Array[] {
  const all = new Numbers(content);
  return Array.from({ length: count }, () => all.take(all.next()));
}
