// A tree as tables show it: what can be opened, row by row. Call tree and bottom-up have this form.
//
// Nodes are numbered so that children follow their parent's numbers; key stays the same for the same
// path of functions, also when numbers change and in another recording, so that what was opened stays open.
import { type Calls, ROOT } from "../call_tree";
import type { Children } from "../children";
import type { Counted } from "../totals";

export interface TreeRows {
  whole: { samples: number; time_ns: number };
  first: Int32Array; // children of row n: list[first[n]] .. list[first[n + 1] - 1]
  list: Int32Array;
  fn: Int32Array; // NOBODY: the root; below: a group
  inlined: Uint8Array; // 1: into its parent
  key: Float64Array;
  more: Uint8Array; // 1: has children that are not here yet; ask with this key opened
  self: Float64Array;
  total: Float64Array;
  selfTime_ns: Float64Array;
  totalTime_ns: Float64Array;
}

export const ROOT_KEY = 0;

/** 52 bits of the path: two paths that meet are opened together, which does no harm. */
export function keyOf(parent: number, fn: number): number {
  const low = parent % 0x4000000;
  const high = Math.floor(parent / 0x4000000);
  const a = Math.imul(low ^ Math.imul(fn + 1, 0x9e3779b1), 0x85ebca6b);
  const b = Math.imul(high ^ Math.imul(fn + 7, 0xc2b2ae35) ^ (a >>> 13), 0x27d4eb2f);
  return ((a ^ (b >>> 15)) >>> 6) * 0x4000000 + ((b ^ (a >>> 11)) >>> 6);
}

/** 32 bits of a text: the same in every recording, as numbers of functions are not. */
export function wordOf(text: string): number {
  let word = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < text.length; i++) word = Math.imul(word ^ text.charCodeAt(i), 0x01000193);
  return word;
}

/** What stands for functions and groups in keys. */
export type WordOf = (fn: number) => number;
export const itself: WordOf = (fn) => fn;

function keysOf(calls: Calls, word: WordOf): Float64Array {
  const { parents, functions, inlined, length } = calls;
  const keys = new Float64Array(length);
  keys[ROOT] = ROOT_KEY;
  for (let node = ROOT + 1; node < length; node++)
    keys[node] = keyOf(keys[parents[node]], 2 * word(functions[node]) + inlined[node]);
  return keys;
}

export function treeRows(counted: Counted, children: Children, word = itself): TreeRows {
  const { calls, samples, time_ns } = counted;
  return {
    whole: { samples: samples.total[ROOT], time_ns: time_ns.total[ROOT] },
    ...children,
    fn: calls.functions.slice(),
    inlined: Uint8Array.from(calls.inlined),
    key: keysOf(calls, word),
    more: new Uint8Array(calls.length),
    self: samples.self.slice(),
    total: samples.total.slice(),
    selfTime_ns: time_ns.self.slice(),
    totalTime_ns: time_ns.total.slice(),
  };
}
