// A canvas of boxes that one looks around in, by hand (box_gestures.ts) and by keys (box_keys.ts). What
// is drawn and what a pick means is the caller's.
import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { JOINED } from "../../data/layouts/flame_layout";
import { selection } from "../../state/selection";
import { drawBoxes, outline, ROW_PX } from "./box_draw";
import { useGestures } from "./box_gestures";
import { boxKeys } from "./box_keys";
import { boxOf, isName, type Place, placeOf, type Spot, spotOf } from "./box_place";
import { BoxTwin } from "./box_twin";
import { type BoxCanvasProps, type BoxView, useBoxView } from "./box_view";

export function BoxCanvas(props: BoxCanvasProps) {
  const { boxes, onPick } = props;
  const around = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useBoxView(props, around);
  const [place, setPlace] = useState<Place | null>(null); // of the keys
  const current = place && spotOf(boxes, place);
  const id = useId();
  useDrawing(canvas, props, view, current);
  usePickedInSight(props, view);
  const { handlers } = useGestures(props, view, current, (box, row) => {
    setPlace(placeOf(boxes, box, row));
    if (isName(boxes, row)) props.onName?.(box);
    else onPick(box, row);
  });
  const goTo = (next: Place) => {
    const box = boxOf(boxes, next);
    if (box < 0) return;
    setPlace(next);
    if (!isName(boxes, next.row)) onPick(box, next.row);
    reveal(props, view, { box, row: next.row });
  };
  return (
    <div class="boxes" ref={around}>
      <canvas
        ref={canvas}
        role="tree"
        tabIndex={0}
        aria-label={props.label}
        aria-activedescendant={current ? id : undefined}
        onKeyDown={boxKeys(props, view, current, goTo)}
        {...handlers}
      >
        <BoxTwin
          boxes={boxes}
          current={current}
          id={id}
          words={(box) => props.tip(box, null).join(", ")}
        />
      </canvas>
    </div>
  );
}

/** Moves as little as it can until the box is seen. */
function reveal({ boxes }: BoxCanvasProps, view: BoxView, { box, row }: Spot): void {
  const { from, to, top, height } = view.viewport;
  const y = row * ROW_PX;
  view.scroll(Math.max(y + ROW_PX - height, Math.min(top, y)));
  const [left, right] = [boxes.x[box], boxes.x[box] + boxes.width[box]];
  const extent = to - from;
  if (right <= from || left >= to)
    view.show((left + right - extent) / 2, (left + right + extent) / 2, true);
}

const SEEN_PX = 4; // of width: thinner, a box that is looked for is zoomed to

/** What is picked elsewhere, by search or in the side panel: one of its boxes comes into sight. */
function usePickedInSight(props: BoxCanvasProps, view: BoxView): void {
  const { picked } = selection.value;
  const shown = useRef(picked); // by a link, it stays where it was
  useEffect(() => {
    if (picked === shown.current) return;
    shown.current = picked;
    const { boxes, paint } = props;
    const { from, to, top, width, height } = view.viewport;
    const wide = (SEEN_PX * (to - from)) / width;
    let heaviest: Spot | null = null;
    for (let row = 0; row + 1 < boxes.rows.length; row++) {
      const isRowSeen = row * ROW_PX >= top && (row + 1) * ROW_PX <= top + height;
      for (let box = boxes.rows[row]; box < boxes.rows[row + 1]; box++) {
        if (boxes.fn[box] === JOINED || !paint.isPicked(box)) continue;
        const [left, right] = [boxes.x[box], boxes.x[box] + boxes.width[box]];
        if (isRowSeen && Math.min(right, to) - Math.max(left, from) >= wide) return;
        if (!heaviest || boxes.width[box] > boxes.width[heaviest.box]) heaviest = { box, row };
      }
    }
    if (!heaviest) return;
    reveal(props, view, heaviest);
    const [x, extent] = [boxes.x[heaviest.box], boxes.width[heaviest.box]];
    if (extent < wide) view.show(x - 10 * extent, x + 11 * extent, true);
  }, [picked]);
}

/** Draws anew whenever something may have changed. */
function useDrawing(
  canvas: RefObject<HTMLCanvasElement | null>,
  { boxes, paint }: BoxCanvasProps,
  { viewport }: BoxView,
  current: Spot | null,
): void {
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !viewport.width) return;
    const ratio = devicePixelRatio || 1;
    const width = Math.round(viewport.width * ratio);
    const height = Math.round(viewport.height * ratio);
    // A canvas that is given a size, be it the same, begins anew.
    if (element.width !== width) element.width = width;
    if (element.height !== height) element.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = getComputedStyle(element).font;
    drawBoxes(context, boxes, viewport, paint);
    if (current && document.activeElement === element)
      outline(context, boxes, viewport, current, paint.ink.pick);
  });
}
