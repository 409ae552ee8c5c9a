// The blocks of a session file (docs/session_format.md): checked, and unpacked one after the other.
//
// Errors  BadFile, with where in the file it is.
import { decompress } from "fzstd";
import { BadFile } from "./builder";

const MAGIC = [0x89, 0x49, 0x53, 0x4f, 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION = 1;
const HEAD_SIZE = 16;
const BLOCK_HEAD_SIZE = 20;
const CONTENT_MOST = 2 ** 24;

export interface Block {
  type: string;
  at: number; // of its head, in the file
  content: Uint8Array;
}

export function isSession(file: Uint8Array): boolean {
  return MAGIC.every((byte, i) => file[i] === byte);
}

export function wrong(at: number, what: string): BadFile {
  return new BadFile(`session file, at byte ${at.toLocaleString("en-US")}: ${what}`);
}

/** Without an incomplete last one. wanted: those of other types are passed over. */
export function* blocksOf(file: Uint8Array, wanted: ReadonlySet<string>): Generator<Block> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEAD_SIZE) throw wrong(file.length, "it ends within its head");
  const version = view.getUint32(8, true);
  if (version < 1 || version > VERSION)
    throw wrong(8, `version ${version}; this page reads version ${VERSION}: a newer isoscope reads it`);
  for (let at = HEAD_SIZE; file.length - at >= BLOCK_HEAD_SIZE; ) {
    const [size, unpacked] = [view.getUint32(at + 4, true), view.getUint32(at + 8, true)];
    if (crc32(file.subarray(at, at + 16)) !== view.getUint32(at + 16, true))
      throw wrong(at, "the checksum of a block's head is wrong");
    const type = String.fromCharCode(...file.subarray(at, at + 4));
    if (size > CONTENT_MOST || unpacked > CONTENT_MOST) throw wrong(at, `block ${type} is too large`);
    const end = at + BLOCK_HEAD_SIZE + size;
    if (end > file.length) return;
    const stored = file.subarray(at + BLOCK_HEAD_SIZE, end);
    if (wanted.has(type)) {
      if (crc32(stored) !== view.getUint32(at + 12, true))
        throw wrong(at, `the checksum of block ${type} is wrong`);
      yield { type, at, content: unpackedBy(stored, unpacked, type, at) };
    }
    at = end;
  }
}

function unpackedBy(stored: Uint8Array, size: number, type: string, at: number): Uint8Array {
  try {
    return decompress(stored, new Uint8Array(size));
  } catch (error) {
    throw wrong(at, `block ${type} cannot be unpacked: ${(error as Error).message}`);
  }
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
