// A canvas of boxes that one looks around in: wheel zooms at the pointer, dragging moves, a click
// picks, a double click zooms to the box; with the focus, arrows go from box to box. What is drawn and
// what a pick means is the caller's.
import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type FlameRows, JOINED } from "../data/flame_layout";
import {
  boxUnder,
  drawBoxes,
  type Look,
  outline,
  ROW_PX,
  rowCount,
  type Thin,
  type Viewport,
} from "./box_draw";
import { boxOf, type Place, placeOf, type Step, stepFrom } from "./box_place";
import { BoxTwin } from "./box_twin";
import { PointerTip, type Tip } from "./tip";

export interface Range {
  from: number;
  to: number;
}

export interface BoxCanvasProps {
  boxes: FlameRows;
  look: Look;
  range: Range; // what is seen
  /** Zoomed or moved by hand: the caller keeps it; null: it is the whole again. */
  onRange(range: Range | null): void;
  rootBelow: boolean;
  label: string; // for those who do not see the canvas
  onPick(box: number, row: number): void;
  onZoom(box: number, row: number): void;
  tip(box: number, thin: Thin | null): string[]; // the first line is the name
}

const ZOOM_STEP = 1.0015; // per unit of the wheel
const CLICK_PX = 4; // moved by more, it was no click

export function BoxCanvas(props: BoxCanvasProps) {
  const { boxes, look, range: seen, rootBelow } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [top, setTop] = useState(0);
  const tip = useSignal<Tip | null>(null);
  const drag = useRef<{ x: number; y: number; top: number; seen: Range; moved: boolean } | null>(
    null,
  );

  const whole = boxes.whole || 1;
  const [place, setPlace] = useState<Place | null>(null); // of the keys
  const id = useId();
  const at = place ? boxOf(boxes, place) : -1;
  const current = place && at >= 0 && boxes.fn[at] !== JOINED ? { box: at, row: place.row } : null;
  const highest = Math.max(0, rowCount(boxes) * ROW_PX - size.height);
  const viewport: Viewport = { ...seen, ...size, top: Math.min(top, highest), rootBelow };
  const show = (from: number, to: number) => {
    const extent = Math.min(to - from, whole);
    const start = Math.min(Math.max(0, from), whole - extent);
    const isWhole = extent >= whole * 0.9999;
    props.onRange(isWhole ? null : { from: start, to: start + extent });
  };

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element.parentElement ?? element;
      setSize({ width: clientWidth, height: clientHeight });
    });
    observer.observe(element.parentElement ?? element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !size.width) return;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    // A canvas that is given a size, be it the same, begins anew.
    if (element.width !== width) element.width = width;
    if (element.height !== height) element.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = getComputedStyle(element).font;
    drawBoxes(context, boxes, viewport, look);
    if (current && document.activeElement === element)
      outline(context, boxes, viewport, current, look.ink.pick);
  });

  const under = (event: MouseEvent) => boxUnder(boxes, viewport, event.offsetX, event.offsetY);
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const extent = seen.to - seen.from;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / size.width) * extent;
      return show(seen.from + by, seen.to + by);
    }
    const next = Math.min(whole, extent * ZOOM_STEP ** event.deltaY);
    const part = event.offsetX / size.width;
    const from = seen.from + part * (extent - next);
    show(from, from + next);
  };
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from) {
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      from.moved ||= Math.abs(dx) + Math.abs(dy) > CLICK_PX;
      if (!from.moved) return;
      const by = (-dx / size.width) * (from.seen.to - from.seen.from);
      show(from.seen.from + by, from.seen.to + by);
      setTop(Math.max(0, Math.min(highest, from.top + (rootBelow ? dy : -dy))));
      return void (tip.value = null);
    }
    const found = under(event);
    const lines = found && props.tip(found.box, found.thin);
    tip.value = lines && { x: event.offsetX, y: event.offsetY, lines };
  };
  const onUp = (event: PointerEvent) => {
    const moved = drag.current?.moved;
    drag.current = null;
    const found = moved ? null : under(event);
    if (!found || found.thin || boxes.fn[found.box] === JOINED) return;
    setPlace(placeOf(boxes, found.box, found.row));
    props.onPick(found.box, found.row);
  };
  const goTo = (next: Place) => {
    const box = boxOf(boxes, next);
    if (box < 0) return;
    setPlace(next);
    props.onPick(box, next.row);
    const y = next.row * ROW_PX;
    setTop(Math.max(y + ROW_PX - size.height, Math.min(viewport.top, y)));
    const [from, to] = [boxes.x[box], boxes.x[box] + boxes.width[box]];
    const extent = seen.to - seen.from;
    if (to <= seen.from || from >= seen.to)
      show((from + to - extent) / 2, (from + to + extent) / 2);
  };
  const zoomKey = (factor: number) => {
    const middle = current
      ? boxes.x[current.box] + boxes.width[current.box] / 2
      : (seen.from + seen.to) / 2;
    const extent = Math.min(whole, (seen.to - seen.from) * factor);
    show(middle - extent / 2, middle + extent / 2);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const steps: Record<string, Step> = {
      ArrowUp: rootBelow ? "in" : "out",
      ArrowDown: rootBelow ? "out" : "in",
      ArrowLeft: "left",
      ArrowRight: "right",
    };
    const step = steps[event.key];
    if (step) {
      const next = current
        ? stepFrom(boxes, current.box, current.row, step)
        : rowCount(boxes) > 0 && stepFrom(boxes, -1, 0, "right"); // the first that is somebody's
      if (next) goTo(next);
    } else if (event.key === "Enter" && current) props.onZoom(current.box, current.row);
    else if (event.key === "+") zoomKey(0.5);
    else if (event.key === "-") zoomKey(2);
    else return;
    event.preventDefault();
  };
  return (
    <div class="boxes">
      <canvas
        ref={canvas}
        role="tree"
        tabIndex={0}
        aria-label={props.label}
        aria-activedescendant={current ? id : undefined}
        onKeyDown={onKeyDown}
        onWheel={onWheel}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          canvas.current?.focus();
          canvas.current?.setPointerCapture(event.pointerId);
          const { clientX: x, clientY: y } = event;
          drag.current = { x, y, top: viewport.top, seen, moved: false };
        }}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerLeave={() => (tip.value = null)}
        onDblClick={(event) => {
          const found = under(event);
          if (found && !found.thin && boxes.fn[found.box] !== JOINED)
            props.onZoom(found.box, found.row);
        }}
      >
        <BoxTwin
          boxes={boxes}
          current={current}
          id={id}
          words={(box) => props.tip(box, null).join(", ")}
        />
      </canvas>
      <PointerTip tip={tip} width={size.width} height={size.height} />
    </div>
  );
}
