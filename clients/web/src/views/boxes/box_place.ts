// Ways among boxes, for keys and for those who do not see them.
import { boxAt, type FlameRows, JOINED } from "../../data/layouts/flame_layout";

/** The box of a row that holds a point. It stays good when the boxes are new ones, as far as they are alike. */
export interface Place {
  row: number;
  at: number; // part of the whole, 0 to 1
}

export interface Spot {
  box: number;
  row: number;
}

/** Is the row one box, the name of what is below it? */
export const isName = ({ bands }: FlameRows, row: number) => bands?.includes(row) ?? false;

const isBegin = ({ bands }: FlameRows, row: number) => bands?.includes(row) ?? row === 0;

/** The boxes from row 0, or its band's first, down to a box. */
export function pathOf(boxes: FlameRows, box: number, row: number): number[] {
  const path = [box];
  const inside = boxes.x[box] + boxes.width[box] / 2;
  for (let at = row; at > 0 && !isBegin(boxes, at); at--)
    path.unshift(boxAt(boxes, at - 1, inside));
  return path;
}

/** -1: none is there. */
export function boxOf(boxes: FlameRows, { row, at }: Place): number {
  if (row < 0 || row + 1 >= boxes.rows.length) return -1;
  const x = at * boxes.whole;
  const box = boxAt(boxes, row, x);
  return box < boxes.rows[row + 1] && boxes.x[box] <= x ? box : -1;
}

/** null: none is there that is one function's. */
export function spotOf(boxes: FlameRows, place: Place): Spot | null {
  const box = boxOf(boxes, place);
  return box >= 0 && boxes.fn[box] !== JOINED ? { box, row: place.row } : null;
}

export function placeOf(boxes: FlameRows, box: number, row: number): Place {
  return { row, at: (boxes.x[box] + boxes.width[box] / 2) / (boxes.whole || 1) };
}

/** What a box calls, from left to right; without those that are too thin to be anybody's. */
export function calleesOf(boxes: FlameRows, box: number, row: number): number[] {
  const callees: number[] = [];
  if (row + 2 >= boxes.rows.length || isBegin(boxes, row + 1)) return callees;
  const end = boxes.x[box] + boxes.width[box];
  for (let one = boxAt(boxes, row + 1, boxes.x[box]); one < boxes.rows[row + 2]; one++) {
    if (boxes.x[one] >= end) break;
    if (boxes.fn[one] !== JOINED) callees.push(one);
  }
  return callees;
}

export type Step = "in" | "out" | "left" | "right";

/** The next box that way: in to what is widest; null: there is none. */
export function stepFrom(boxes: FlameRows, box: number, row: number, step: Step): Place | null {
  if (step === "out") {
    const caller = row > 0 && !isBegin(boxes, row) ? boxOf(boxes, { ...placeOf(boxes, box, row), row: row - 1 }) : -1;
    return caller < 0 ? null : placeOf(boxes, caller, row - 1);
  }
  if (step === "in") {
    const callees = calleesOf(boxes, box, row);
    if (!callees.length) return null;
    const widest = callees.reduce((a, b) => (boxes.width[b] > boxes.width[a] ? b : a));
    return placeOf(boxes, widest, row + 1);
  }
  const by = step === "left" ? -1 : 1;
  for (let one = box + by; one >= boxes.rows[row] && one < boxes.rows[row + 1]; one += by)
    if (boxes.fn[one] !== JOINED) return placeOf(boxes, one, row);
  // A band's first row is one box: beside it are the other bands.
  const next = boxes.bands?.[boxes.bands.indexOf(row) + by];
  return next !== undefined && isBegin(boxes, row) ? placeOf(boxes, boxes.rows[next], next) : null;
}
