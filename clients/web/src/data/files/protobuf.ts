// The wire form of protocol buffers: what pprof files need of it. Numbers beyond 2^53 lose their ends.
import { BadFile } from "./builder";

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export type Value = number | Uint8Array;

class Cursor {
  at = 0;
  constructor(readonly bytes: Uint8Array) {}

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.at >= this.bytes.length || scale > 2 ** 63)
        throw new BadFile("truncated number");
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw new BadFile("truncated message");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** Calls each with the number and value of each field, in order; bytes are lent. */
export function fields(bytes: Uint8Array, each: (field: number, value: Value) => void): void {
  const cursor = new Cursor(bytes);
  while (cursor.at < bytes.length) {
    const key = cursor.varint();
    const field = Math.floor(key / 8);
    switch (key % 8) {
      case VARINT:
        each(field, cursor.varint());
        break;
      case BYTES:
        each(field, cursor.take(cursor.varint()));
        break;
      case FIXED64:
        cursor.take(8);
        break;
      case FIXED32:
        cursor.take(4);
        break;
      default:
        throw new BadFile(`a field of kind ${key % 8}`);
    }
  }
}

/** The plain numbers of a message, by field. */
export function numberFields(value: Value): Map<number, number> {
  const numbers = new Map<number, number>();
  fields(message(value), (field, one) => {
    if (typeof one === "number") numbers.set(field, one);
  });
  return numbers;
}

export function message(value: Value): Uint8Array {
  if (typeof value === "number") throw new BadFile("a number where a message should be");
  return value;
}

/** A repeated number, packed or not. */
export function numbers(value: Value): number[] {
  if (typeof value === "number") return [value];
  const cursor = new Cursor(value);
  const list = [];
  while (cursor.at < value.length) list.push(cursor.varint());
  return list;
}

/** int64 is written as its two's complement. */
export function signed(value: number): number {
  return value >= 2 ** 63 ? value - 2 ** 64 : value;
}

/** Writes; what is 0 or empty is left out, as protocol buffers have it. */
export class Message {
  #bytes = new Uint8Array(64);
  #length = 0;

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  number(field: number, value: number): this {
    if (value) {
      this.#varint(8 * field + VARINT);
      this.#varint(value);
    }
    return this;
  }

  data(field: number, value: Uint8Array): this {
    this.#varint(8 * field + BYTES);
    this.#varint(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  packed(field: number, values: readonly number[]): this {
    const inner = new Message();
    for (const value of values) inner.#varint(value);
    return this.data(field, inner.bytes());
  }

  #room(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + extra));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  #varint(value: number): void {
    if (!(value >= 0)) throw new Error(`not a number to be written: ${value}`);
    this.#room(10);
    for (; value >= 128; value = Math.floor(value / 128))
      this.#bytes[this.#length++] = (value % 128) | 128;
    this.#bytes[this.#length++] = value;
  }
}
