// The tree upside down: leaves first, below each what called it. It can be far larger than the call
// tree, so only what is opened is built, and one level more to know what can be opened.
//
// A row stands for samples whose leaf is its root and whose stack goes on as its path says. So its
// total is its share of the leaf's self; its self is that of the samples that have no further caller.
import { NOBODY, ROOT } from "../call_tree";
import { itself, keyOf, ROOT_KEY, type TreeRows, type WordOf } from "./tree_rows";
import type { Counted } from "../totals";

export interface Row {
  fn: number;
  key: number;
  total: number;
  time_ns: number;
  ends: number; // samples
  endsTime_ns: number;
  at: number[]; // nodes of the call tree on the path's last function, beside the leaf they belong to
  leaves: number[];
  children: Row[];
  more: boolean;
}

function newRow(fn: number, key: number): Row {
  const counts = { total: 0, time_ns: 0, ends: 0, endsTime_ns: 0 };
  return { fn, key, ...counts, at: [], leaves: [], children: [], more: false };
}

/** What called: grouped by function. at and leaves run beside each other. */
function group(
  counted: Counted,
  parent: Row,
  at: number[],
  leaves: number[],
  word: WordOf,
): Row[] {
  const groups = new Map<number, Row>();
  const { functions, parents } = counted.calls;
  for (let i = 0; i < at.length; i++) {
    const fn = functions[at[i]];
    if (fn <= NOBODY) continue;
    let row = groups.get(fn);
    if (!row) groups.set(fn, (row = newRow(fn, keyOf(parent.key, word(fn)))));
    const samples = counted.samples.self[leaves[i]];
    const time_ns = counted.time_ns.self[leaves[i]];
    row.at.push(at[i]);
    row.leaves.push(leaves[i]);
    row.total += samples;
    row.time_ns += time_ns;
    if (functions[parents[at[i]]] <= NOBODY) {
      row.ends += samples;
      row.endsTime_ns += time_ns;
    }
  }
  return [...groups.values()];
}

/** opened: keys of the rows whose callers are wanted. sorted: siblings as they are to stand. */
export function bottomUp(
  counted: Counted,
  opened: ReadonlySet<number>,
  sorted: (siblings: Row[]) => Row[],
  word = itself,
): TreeRows {
  const leaves: number[] = [];
  const { self } = counted.samples;
  for (let node = ROOT + 1; node < self.length; node++) if (self[node] > 0) leaves.push(node);
  const root = newRow(-1, ROOT_KEY);
  root.children = sorted(group(counted, root, leaves, leaves, word));
  const rows = [root];
  const { parents } = counted.calls;
  for (const row of rows) {
    if (row !== root && opened.has(row.key)) {
      const callers = row.at.map((node) => parents[node]);
      row.children = sorted(group(counted, row, callers, row.leaves, word));
    } else if (row !== root) row.more = row.ends < row.total;
    for (const child of row.children) rows.push(child); // a call takes only so many arguments
  }
  root.total = counted.samples.total[ROOT];
  root.time_ns = counted.time_ns.total[ROOT];
  return flat(rows);
}

function flat(rows: Row[]): TreeRows {
  const first = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => (first[i + 1] = first[i] + row.children.length));
  return {
    whole: { samples: rows[0].total, time_ns: rows[0].time_ns },
    first,
    // Breadth first: the children of all rows, one row after the other, are rows 1, 2, 3 ...
    list: Int32Array.from({ length: rows.length - 1 }, (_, i) => i + 1),
    fn: Int32Array.from(rows, (row) => row.fn),
    inlined: new Uint8Array(rows.length), // below the root a function is one row, inlined or not
    key: Float64Array.from(rows, (row) => row.key),
    more: Uint8Array.from(rows, (row) => (row.more ? 1 : 0)),
    self: Float64Array.from(rows, (row) => row.ends),
    total: Float64Array.from(rows, (row) => row.total),
    selfTime_ns: Float64Array.from(rows, (row) => row.endsTime_ns),
    totalTime_ns: Float64Array.from(rows, (row) => row.time_ns),
  };
}
