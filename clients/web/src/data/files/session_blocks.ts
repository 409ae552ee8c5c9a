// The blocks of a session file (docs/session_format.md): checked, and unpacked one after the other.
//
// Errors  BadFile, with where in the file it is.
import { Decompress } from "fzstd";
import { BadFile } from "./builder";

const MAGIC = [0x89, 0x49, 0x53, 0x4f, 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION = 1;
const HEAD_SIZE = 16;
const BLOCK_HEAD_SIZE = 20;
const CONTENT_MOST = 2 ** 24;

export interface Block {
  type: string;
  at: number; // of its head, in the file
  stored: Uint8Array;
  unpacked: number; // bytes
}

export function isSession(file: Uint8Array): boolean {
  return MAGIC.every((byte, i) => file[i] === byte);
}

/** It says where. */
export class BadFileAt extends BadFile {}

export function wrong(at: number, what: string): BadFileAt {
  return new BadFileAt(`session file, at byte ${at.toLocaleString("en-US")}: ${what}`);
}

/** Without an incomplete last one: the file ends in it, or goes on with nothing but zeros. */
export function* blocksOf(file: Uint8Array): Generator<Block> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEAD_SIZE) throw wrong(file.length, "it ends within its head");
  const version = view.getUint32(8, true);
  if (version < 1 || version > VERSION)
    throw wrong(8, `version ${version}; this page reads version ${VERSION}: a newer isoscope reads it`);
  for (let at = HEAD_SIZE; file.length - at >= BLOCK_HEAD_SIZE; ) {
    const [size, unpacked] = [view.getUint32(at + 4, true), view.getUint32(at + 8, true)];
    if (crc32(file.subarray(at, at + 16)) !== view.getUint32(at + 16, true)) {
      if (file.subarray(at).every((byte) => byte === 0)) return;
      throw wrong(at, "the checksum of a block's head is wrong");
    }
    const type = String.fromCharCode(...file.subarray(at, at + 4));
    if (size > CONTENT_MOST || unpacked > CONTENT_MOST) throw wrong(at, `block ${type} is too large`);
    const end = at + BLOCK_HEAD_SIZE + size;
    if (end > file.length) return;
    const stored = file.subarray(at + BLOCK_HEAD_SIZE, end);
    if (crc32(stored) !== view.getUint32(at + 12, true))
      throw wrong(at, `the checksum of block ${type} is wrong`);
    yield { type, at, stored, unpacked };
    at = end;
  }
}

/** A zstd frame that goes on from block to block. */
export class Unpacker {
  #content = new Uint8Array(0);
  #filled = 0;
  #begun = false;
  #frame = new Decompress((part) => {
    if (this.#filled + part.length > this.#content.length) throw new Error("it is longer than it says");
    this.#content.set(part, this.#filled);
    this.#filled += part.length;
  });

  read({ type, at, stored, unpacked }: Block): Uint8Array {
    if (!this.#begun && windowOf(stored) > CONTENT_MOST) throw wrong(at, `block ${type} wants too much memory`);
    this.#begun = true;
    this.#content = new Uint8Array(unpacked);
    this.#filled = 0;
    try {
      this.#frame.push(stored);
    } catch (error) {
      throw wrong(at, `block ${type} cannot be unpacked: ${(error as Error).message}`);
    }
    if (this.#filled !== unpacked) throw wrong(at, `block ${type} is not ${unpacked} bytes, as it says`);
    return this.#content;
  }
}

/** What its reader keeps: of a zstd frame's head (RFC 8878, 3.1.1.1). */
function windowOf(frame: Uint8Array): number {
  const [descriptor, window] = frame.subarray(4);
  if (!(descriptor & 0x20)) return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  const bytes = 1 << (descriptor >> 6);
  const at = 5 + ((1 << (descriptor & 3)) >> 1);
  return frame.subarray(at, at + bytes).reduceRight((size, byte) => size * 256 + byte, 0);
}

/** By the remainders of each byte: zlib's polynomial. */
const REMAINDERS = Int32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

export function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = REMAINDERS[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
