// A canvas of boxes as a tree, for those who do not see it: the box that the arrows are on, its
// callers and what it calls. It stands inside the canvas, where browsers show it to nobody else.
import type { FlameRows } from "../../data/layouts/flame_layout";
import { calleesOf, pathOf, type Spot } from "./box_place";

const CALLEES_MOST = 50;

interface Props {
  boxes: FlameRows;
  current: Spot | null;
  id: string; // of the current item
  words(box: number): string;
}

export function BoxTwin({ boxes, current, id, words }: Props) {
  if (!current) return null;
  const { box, row } = current;
  const callees = calleesOf(boxes, box, row).slice(0, CALLEES_MOST);
  const path = pathOf(boxes, box, row);
  const last = path.length - 1;
  return (
    <>
      {path.map((one, level) => (
        <span
          id={level === last ? id : undefined}
          role="treeitem"
          aria-level={level + 1}
          aria-expanded={level < last || callees.length > 0}
          aria-selected={level === last}
        >
          {words(one)}
        </span>
      ))}
      {callees.map((one) => (
        <span role="treeitem" aria-level={last + 2} aria-selected={false}>
          {words(one)}
        </span>
      ))}
    </>
  );
}
