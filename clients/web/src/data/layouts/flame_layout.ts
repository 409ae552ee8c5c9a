// Boxes in rows: what flame graph and flame chart draw.
//
// Units    x and width: of the weight (samples, ns, or us of time in the chart), from 0 to whole.
// Order    Boxes of a row stand from left to right, and do not overlap.
import { type Calls, ROOT } from "../call_tree";
import type { Children } from "../children";
import type { Totals } from "../totals";

export interface FlameRows {
  whole: number;
  rows: Int32Array; // row r: boxes rows[r] .. rows[r + 1] - 1
  x: Float64Array;
  width: Float64Array;
  self: Float64Array; // part of width; empty where nothing is told of it
  node: Int32Array; // of the calls that were laid out
  fn: Int32Array; // JOINED: several boxes, too thin to be told apart
  slots?: Uint8Array; // their colours, where these are not their functions'
  bands?: Int32Array; // rows where something else begins: callers are no farther out
  slices?: Slices; // what programs told, where rows of it stand with the others
}

/** By box, but keys. Those that are joined tell of the longest. */
export interface Slices {
  label: Int32Array; // -1: it is a call
  start_us: Float64Array; // exactly
  duration: Float64Array; // ns
  count: Int32Array; // how many are joined
  keys: string[]; // by row: "pid/tid/row of the timeline"; "": a row of calls
}

/** The function of a slice, which has none. */
export const SLICE = -(2 ** 31);

export const JOINED = -1;

/** Row 0 is what the root calls. */
export function flameLayout(calls: Calls, { self, total }: Totals, children: Children): FlameRows {
  const count = children.list.length;
  const boxes: FlameRows = {
    whole: total[ROOT],
    rows: new Int32Array(0),
    x: new Float64Array(count),
    width: new Float64Array(count),
    self: new Float64Array(count),
    node: new Int32Array(count),
    fn: new Int32Array(count),
  };
  const { first, list } = children;
  const { x, width, node, fn } = boxes;
  const functions = calls.functions;
  const rows = [0];
  let end = 0;
  const lay = (parent: number, from: number) => {
    for (let i = first[parent]; i < first[parent + 1]; i++, end++) {
      x[end] = from;
      width[end] = total[list[i]];
      boxes.self[end] = self[list[i]];
      node[end] = list[i];
      fn[end] = functions[list[i]];
      from += width[end];
    }
  };
  lay(ROOT, 0);
  for (let start = 0; start < end;) {
    rows.push(end);
    const last = end;
    for (; start < last; start++) lay(node[start], x[start]);
  }
  boxes.rows = Int32Array.from(rows);
  return boxes;
}

/** The box of row r that holds x, else the next one to its right: binary search. */
export function boxAt(boxes: FlameRows, row: number, x: number): number {
  let low = boxes.rows[row];
  let high = boxes.rows[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes.x[middle] + boxes.width[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}
