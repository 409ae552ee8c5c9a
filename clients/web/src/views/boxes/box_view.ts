// What a canvas of boxes is given, and which part of them it shows.
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { FlameRows } from "../../data/layouts/flame_layout";
import { useSize } from "../parts/use_size";
import { type BoxPaint, ROW_PX, rowCount, type Thin, type Viewport } from "./box_draw";

export interface Range {
  from: number;
  to: number;
}

export interface BoxCanvasProps {
  boxes: FlameRows;
  paint: BoxPaint;
  range: Range; // what is seen
  /** Zoomed or moved by hand: the caller keeps it; null: it is the whole again. */
  /** isPart: of the pick before it, with which it is taken back. */
  onRange(range: Range | null, isPart?: boolean): void;
  rootBelow: boolean;
  label: string; // for those who do not see the canvas
  onPick(box: number, row: number): void;
  onName?(box: number): void; // a press on the name of a band
  onZoom(box: number, row: number): void;
  onJoined?(box: number): void; // a press on several that are drawn as one
  tip(box: number, thin: Thin | null): string[]; // the first line is the name
}

export interface BoxView {
  whole: number; // what can be seen at most, in the unit of x
  viewport: Viewport;
  /** That part, as far as there is so much; isPart: as onRange has it. */
  show(from: number, to: number, isPart?: boolean): void;
  /** Row 0's far edge so far out of sight, as far as rows go. */
  scroll(top: number): void;
}

export function useBoxView(props: BoxCanvasProps, place: RefObject<HTMLElement | null>): BoxView {
  const { boxes, range, rootBelow, onRange } = props;
  const size = useSize(place);
  const [top, setTop] = useState(0);
  const whole = boxes.whole || 1;
  const highest = Math.max(0, rowCount(boxes) * ROW_PX - size.height);
  return {
    whole,
    viewport: { ...range, ...size, top: Math.min(top, highest), rootBelow },
    show(from, to, isPart) {
      const extent = Math.min(to - from, whole);
      const start = Math.min(Math.max(0, from), whole - extent);
      onRange(extent >= whole * 0.9999 ? null : { from: start, to: start + extent }, isPart);
    },
    scroll: (to) => setTop(Math.max(0, Math.min(highest, to))),
  };
}
