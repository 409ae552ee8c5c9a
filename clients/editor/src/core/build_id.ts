// The build id of an ELF file, by which a module here is known to be the one that was sampled.
import { closeSync, openSync, readSync } from "node:fs";

const NOTES = 4; // PT_NOTE
const BUILD_ID = 3; // NT_GNU_BUILD_ID
const HEADER = 64;
const ENTRIES_MOST = 256;
const NOTES_MOST = 65_536; // bytes

/** In hexadecimal; "": it has none, or is no 64-bit ELF file of this byte order. */
export function buildIdOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    return idIn(file);
  } catch {
    return "";
  } finally {
    closeSync(file);
  }
}

function part(file: number, at: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, readSync(file, bytes, 0, size, at));
}

function idIn(file: number): string {
  const header = part(file, 0, HEADER);
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1) return "";
  const at = Number(header.readBigUInt64LE(32));
  const size = header.readUInt16LE(54);
  const count = Math.min(header.readUInt16LE(56), ENTRIES_MOST);
  const entries = part(file, at, size * count);
  for (let entry = 0; entry + size <= entries.length; entry += size) {
    if (entries.readUInt32LE(entry) !== NOTES) continue;
    const from = Number(entries.readBigUInt64LE(entry + 8));
    const length = Math.min(Number(entries.readBigUInt64LE(entry + 32)), NOTES_MOST);
    const found = idInNotes(part(file, from, length));
    if (found) return found;
  }
  return "";
}

const aligned = (size: number) => (size + 3) & ~3;

function idInNotes(notes: Buffer): string {
  for (let at = 0; at + 12 <= notes.length; ) {
    const [nameSize, size, type] = [0, 4, 8].map((offset) => notes.readUInt32LE(at + offset));
    const name = at + 12;
    const from = name + aligned(nameSize);
    if (type === BUILD_ID && notes.toString("latin1", name, name + nameSize) === "GNU\0")
      return notes.toString("hex", from, from + size);
    at = from + aligned(size);
  }
  return "";
}
