// Which rows of a tree are in the list: those whose callers are all open.
import type { TreeRows } from "../../data/layouts/tree_rows";

export interface Visible {
  row: number;
  depth: number;
  isOpen: boolean;
  canOpen: boolean;
}

const ROOT_ROW = 0;

/** Without the root itself. */
export function visibleRows(rows: TreeRows, opened: ReadonlySet<number>): Visible[] {
  const visible: Visible[] = [];
  const waiting: number[] = []; // row and depth in turn, the next one last
  const wait = (parent: number, depth: number) => {
    for (let i = rows.first[parent + 1] - 1; i >= rows.first[parent]; i--)
      waiting.push(rows.list[i], depth);
  };
  wait(ROOT_ROW, 0);
  while (waiting.length) {
    const depth = waiting.pop()!;
    const row = waiting.pop()!;
    const count = rows.first[row + 1] - rows.first[row];
    const canOpen = count > 0 || rows.more[row] === 1;
    const isOpen = canOpen && opened.has(rows.key[row]);
    visible.push({ row, depth, isOpen, canOpen });
    if (isOpen) wait(row, depth + 1);
  }
  return visible;
}

/** The keys of a row and of its heaviest descendants, until one spends more itself than in any other. */
export function hotPath(rows: TreeRows, from: number): number[] {
  const keys: number[] = [];
  for (let row = from; ;) {
    let heaviest = -1;
    for (let i = rows.first[row]; i < rows.first[row + 1]; i++)
      if (heaviest < 0 || rows.total[rows.list[i]] > rows.total[heaviest]) heaviest = rows.list[i];
    if (heaviest < 0) return keys;
    if (row !== ROOT_ROW) keys.push(rows.key[row]);
    if (rows.total[heaviest] < Math.max(rows.self[row], 0.05 * rows.total[ROOT_ROW])) return keys;
    row = heaviest;
  }
}
