// A canvas of boxes that one looks around in: wheel zooms at the pointer, dragging moves, a click
// picks, a double click zooms to the box. What is drawn and what a pick means is the caller's.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FlameRows } from "../data/flame_layout";
import {
  boxUnder,
  drawBoxes,
  type Look,
  ROW_PX,
  rowCount,
  type Thin,
  type Viewport,
} from "./box_draw";

export interface Range {
  from: number;
  to: number;
}

export interface BoxCanvasProps {
  boxes: FlameRows;
  look: Look;
  range: Range; // what is seen when nothing was zoomed by hand
  rootBelow: boolean;
  label: string; // for those who do not see the canvas
  onPick(box: number): void;
  onZoom(box: number, row: number): void;
  tip(box: number, thin: Thin | null): string[]; // the first line is the name
}

interface Tip {
  x: number;
  y: number;
  lines: string[];
}

const ZOOM_STEP = 1.0015; // per unit of the wheel
const CLICK_PX = 4; // moved by more, it was no click

export function BoxCanvas(props: BoxCanvasProps) {
  const { boxes, look, range, rootBelow } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [byHand, setByHand] = useState<Range | null>(null); // parts of the whole, 0 to 1
  const [top, setTop] = useState(0);
  const [tip, setTip] = useState<Tip | null>(null);
  const drag = useRef<{ x: number; y: number; top: number; seen: Range; moved: boolean } | null>(
    null,
  );

  const whole = boxes.whole || 1;
  const seen = byHand ? { from: byHand.from * whole, to: byHand.to * whole } : range;
  const highest = Math.max(0, rowCount(boxes) * ROW_PX - size.height);
  const viewport: Viewport = { ...seen, ...size, top: Math.min(top, highest), rootBelow };
  const show = (from: number, to: number) => {
    const extent = Math.min(to - from, whole);
    const start = Math.min(Math.max(0, from), whole - extent);
    const isWhole = extent >= whole * 0.9999;
    setByHand(isWhole ? null : { from: start / whole, to: (start + extent) / whole });
  };

  useEffect(() => setByHand(null), [range.from / whole, range.to / whole]);
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
    element.width = Math.round(size.width * ratio);
    element.height = Math.round(size.height * ratio);
    context.scale(ratio, ratio);
    context.font = getComputedStyle(element).font;
    drawBoxes(context, boxes, viewport, look);
  });

  const at = (event: MouseEvent) => boxUnder(boxes, viewport, event.offsetX, event.offsetY);
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
      return setTip(null);
    }
    const under = at(event);
    const lines = under && props.tip(under.box, under.thin);
    setTip(lines && { x: event.offsetX, y: event.offsetY, lines });
  };
  const onUp = (event: PointerEvent) => {
    const moved = drag.current?.moved;
    drag.current = null;
    const under = moved ? null : at(event);
    if (under && !under.thin) props.onPick(under.box);
  };
  return (
    <div class="boxes">
      <canvas
        ref={canvas}
        role="img"
        aria-label={props.label}
        onWheel={onWheel}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          canvas.current?.setPointerCapture(event.pointerId);
          const { clientX: x, clientY: y } = event;
          drag.current = { x, y, top: viewport.top, seen, moved: false };
        }}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerLeave={() => setTip(null)}
        onDblClick={(event) => {
          const under = at(event);
          if (under && !under.thin) props.onZoom(under.box, under.row);
        }}
      />
      {tip && <BoxTip tip={tip} width={size.width} height={size.height} />}
    </div>
  );
}

/** Beside the pointer, on the side where there is more room. */
function BoxTip({ tip, width, height }: { tip: Tip; width: number; height: number }) {
  const style: Record<string, string> = {};
  if (tip.x < width / 2) style.left = `${tip.x + 14}px`;
  else style.right = `${width - tip.x + 14}px`;
  if (tip.y < height / 2) style.top = `${tip.y + 14}px`;
  else style.bottom = `${height - tip.y + 14}px`;
  return (
    <div class="tip" style={style} dir="auto">
      <b>{tip.lines[0]}</b>
      {tip.lines.slice(1).map((line) => (
        <div>{line}</div>
      ))}
    </div>
  );
}
