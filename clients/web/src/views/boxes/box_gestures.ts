// Boxes by hand: the wheel zooms at the pointer, dragging moves, a click picks, a double click zooms
// to the box, and a pointer that rests gets a tip.
import { useEffect, useRef } from "preact/hooks";
import { JOINED } from "../../data/layouts/flame_layout";
import { openMenu } from "../../state/page";
import { tip } from "../parts/tip";
import { boxUnder } from "./box_draw";
import { isName, type Spot } from "./box_place";
import type { BoxCanvasProps, BoxView, Range } from "./box_view";

const ZOOM_STEP = 1.0015; // per unit of the wheel
const CLICK_PX = 4; // moved by more, it was no click

interface Drag {
  x: number; // of the pointer, where it began
  y: number;
  top: number; // what was seen then
  seen: Range;
  moved: boolean;
}

/**
 * pick: a box that is one function's was clicked
 * spot: the one that was picked last, for a menu that is opened by a key
 */
export function useGestures(
  { boxes, rootBelow, tip: tipOf, onZoom, onJoined }: BoxCanvasProps,
  { viewport, whole, show, scroll }: BoxView,
  spot: Spot | null,
  pick: (box: number, row: number) => void,
) {
  const pointer = useRef<PointerEvent | null>(null); // where it rests over the canvas
  const drag = useRef<Drag | null>(null);
  const { from, to, width, top } = viewport;
  const under = (event: MouseEvent) => boxUnder(boxes, viewport, event.offsetX, event.offsetY);
  const onBox = (event: MouseEvent, act: (box: number, row: number) => void) => {
    const found = under(event);
    if (found && !found.thin && boxes.fn[found.box] !== JOINED) act(found.box, found.row);
  };
  const showTip = () => {
    const event = pointer.current;
    const found = event && under(event);
    const lines = found && tipOf(found.box, found.thin);
    tip.value = lines && { x: event!.clientX, y: event!.clientY, lines };
  };
  // What is below the pointer may be another box now; it goes with the canvas.
  useEffect(() => {
    if (pointer.current && !drag.current) showTip();
  }, [boxes, from, to, width, top]);
  useEffect(
    () => () => {
      if (pointer.current) tip.value = null;
    },
    [],
  );
  const move = (begun: Drag, event: PointerEvent) => {
    const [dx, dy] = [event.clientX - begun.x, event.clientY - begun.y];
    begun.moved ||= Math.abs(dx) + Math.abs(dy) > CLICK_PX;
    if (!begun.moved) return;
    const by = (-dx / width) * (begun.seen.to - begun.seen.from);
    show(begun.seen.from + by, begun.seen.to + by);
    scroll(begun.top + (rootBelow ? dy : -dy));
    tip.value = null;
  };
  const handlers = {
    onWheel(event: WheelEvent) {
      event.preventDefault();
      const extent = to - from;
      if (event.altKey) return scroll(top + (rootBelow ? -event.deltaY : event.deltaY));
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / width) * extent;
        return show(from + by, to + by);
      }
      const next = Math.min(whole, extent * ZOOM_STEP ** event.deltaY);
      const start = from + (event.offsetX / width) * (extent - next);
      show(start, start + next);
    },
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      const canvas = event.currentTarget as HTMLCanvasElement;
      canvas.focus();
      canvas.setPointerCapture(event.pointerId);
      const { clientX: x, clientY: y } = event;
      drag.current = { x, y, top, seen: { from, to }, moved: false };
    },
    onPointerMove(event: PointerEvent) {
      if (drag.current) return move(drag.current, event);
      pointer.current = event;
      showTip();
    },
    onPointerUp(event: PointerEvent) {
      const begun = drag.current;
      drag.current = null;
      if (!begun || begun.moved) return;
      const found = under(event);
      if (found && boxes.fn[found.box] === JOINED) onJoined?.(found.box);
      else onBox(event, pick);
    },
    onPointerLeave() {
      pointer.current = tip.value = null;
    },
    onContextMenu(event: MouseEvent) {
      pointer.current = tip.value = null;
      const open = (box: number, row: number) => openMenu(event, () => onZoom(box, row));
      if (event.button !== 2 && !(event as PointerEvent).pointerType) {
        if (spot && !isName(boxes, spot.row)) open(spot.box, spot.row); // by a key
      } else
        onBox(event, (box, row) => {
          if (isName(boxes, row)) return;
          pick(box, row);
          open(box, row);
        });
    },
    onDblClick: (event: MouseEvent) => onBox(event, onZoom),
  };
  return { handlers };
}
