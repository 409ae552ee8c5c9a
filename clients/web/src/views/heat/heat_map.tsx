// Time within seconds: one column each. Dragging or Shift and arrows select a range, from cell to cell.
import { useEffect, useRef, useState } from "preact/hooks";
import { CELLS, type HeatMap as Map } from "../../data/layouts/heat_map";
import { useAnswer } from "../../state/answer";
import { byUnit, data, isTime, kindShown, look } from "../../state/live";
import { selection } from "../../state/selection";
import { Canvas } from "../parts/canvas";
import { weightText } from "../parts/cells";
import { ink } from "../parts/colours";
import { Empty } from "../parts/empty";
import { duration, grouped } from "../parts/format";
import { tip } from "../parts/tip";
import { useSize } from "../parts/use_size";
import { AXIS_FONT, drawTicks } from "../time/time_axis";
import { setWindow } from "../time/time_drag";
import type { Span } from "../time/time_window";
import {
  cellAfter,
  cellAt,
  cellLength,
  cellUnder,
  drawCells,
  drawCursor,
  drawSelected,
  type Place,
  SHADES,
  shadeColour,
  spanOf,
} from "./heat_cells";

const LEFT_PX = 56; // for the scale of parts of a column
const BELOW_PX = 20; // for the scale of seconds
const EDGE_PX = 8;
const COLUMN_PX = 5; // at least
const CURRENT = "heat-cell";
const NAME = "Heat map: CPU time within seconds. Arrows go from cell to cell, with Shift they mark a range, Enter selects it.";

/** Of lengths that are read well: "20 ms", "0.5 s". */
function lengthText(us: number): string {
  return us < 1e6 ? `${+(us / 1000).toFixed(1)} ms` : `${+(us / 1e6).toFixed(1)} s`;
}

function secondsText(map: Map, [from, to]: Span): string {
  const zero = data.value?.extent_us?.[0] ?? map.origin_us;
  const digits = Math.max(1, Math.ceil(6 - Math.log10(cellLength(map))));
  return `${[from, to].map((at) => ((at - zero) / 1e6).toFixed(digits)).join(" – ")} s`;
}

const amount = (weight: number) =>
  isTime.value ? `${duration(weight)} CPU time` : `${weightText(weight, true)} ${kindShown.value.noun}`;

/** Of cells: when, and how much. */
function wordsOf(map: Map, first: number, last: number): string[] {
  const span = spanOf(map, first, last);
  let sum = 0;
  for (let cell = Math.min(first, last); cell <= Math.max(first, last); cell++) sum += map.cells[cell];
  const used = (sum / (1000 * (span[1] - span[0]))).toFixed(2);
  const values = byUnit([`${grouped(sum)} samples`], [amount(sum), ...(isTime.value ? [`${used} CPUs in use`] : [])]);
  return [secondsText(map, span), ...values];
}

export function HeatMap() {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const maxColumns = Math.max(10, Math.floor((width - LEFT_PX - EDGE_PX) / COLUMN_PX));
  const { window_us: _, ...filter } = look.value.filter;
  const args = { ...look.value, filter, range_us: selection.value.overview, maxColumns };
  const map = useAnswer("heat", width ? args : null);
  return (
    <div class="stacked">
      <Bar map={map} />
      <div class="rest" ref={box}>
        {map && map.most > 0 && <Cells map={map} width={width} height={height} />}
        {(map?.most === 0 || data.value?.samples === 0) && <Empty />}
      </div>
    </div>
  );
}

/** What columns, cells and colours stand for. */
function Bar({ map }: { map: Map | null }) {
  if (!map?.most) return <div class="bar-of-view" />;
  const { window_us } = selection.value.filter;
  const stops = Array.from({ length: SHADES }, (_, i) => shadeColour(i + 1));
  return (
    <div class="bar-of-view">
      <span>
        0 <i class="heat-scale" style={{ background: `linear-gradient(to right, ${stops})` }} />{" "}
        {byUnit(`${grouped(map.most)} ${map.most === 1 ? "sample" : "samples"}`, amount(map.most))} per cell
      </span>
      <span class="faint">
        column: {lengthText(map.column_us)}, cell: {lengthText(cellLength(map))}
      </span>
      {window_us && <span>selected: {secondsText(map, window_us)}</span>}
    </div>
  );
}

interface CellsProps {
  map: Map;
  width: number;
  height: number;
}

/** Times, since cells become others when the range grows. */
interface Marked {
  anchor_us: number;
  cursor_us: number;
  by: "drag" | "keys";
}

function Cells({ map, width, height }: CellsProps) {
  const [marked, setMarked] = useState<Marked | null>(null);
  const pointer = useRef<PointerEvent | null>(null);
  const { window_us } = selection.value.filter;
  const zero_us = data.value?.extent_us?.[0] ?? map.origin_us;
  const place: Place = {
    ...{ from_us: map.origin_us, to_us: map.origin_us + map.columns * map.column_us, zero_us },
    ...{ left: LEFT_PX, width: Math.max(1, width - LEFT_PX - EDGE_PX) },
    ...{ top: EDGE_PX, height: Math.max(CELLS, height - EDGE_PX - BELOW_PX) },
  };
  const middle = (cell: number) => map.origin_us + (cell + 0.5) * cellLength(map);
  const under = (event: PointerEvent) => cellUnder(map, place, event.offsetX, event.offsetY);
  const anchor = marked && cellAt(map, marked.anchor_us);
  const cursor = marked && cellAt(map, marked.cursor_us);
  const isRange = anchor !== null && cursor !== null && anchor !== cursor;
  const shown: [number, number] | null = isRange
    ? [Math.min(anchor, cursor), Math.max(anchor, cursor)]
    : window_us && window_us[1] > place.from_us && window_us[0] < place.to_us
      ? [cellAt(map, window_us[0]), cellAt(map, window_us[1] - 1)]
      : null;
  const apply = (first: number, last: number) => {
    const span = spanOf(map, first, last);
    const isSame = String(span) === String(selection.value.filter.window_us);
    setWindow(isSame ? null : span, true); // once more: all time again
    setMarked({ anchor_us: middle(last), cursor_us: middle(last), by: "keys" });
  };
  const showTip = () => {
    const event = pointer.current!;
    const cell = under(event);
    const from = marked?.by === "drag" ? anchor! : cell;
    tip.value = { x: event.clientX, y: event.clientY, lines: wordsOf(map, from, cell) };
  };
  useEffect(() => {
    if (pointer.current) showTip(); // other numbers are below it now
  }, [map, marked]);
  useEffect(() => () => void (tip.value = null), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = cursor ?? shown?.[0] ?? cellAt(map, place.from_us);
    const next = cellAfter(event.key, at, map.cells.length);
    if (next !== undefined) {
      const from_us = event.shiftKey ? (marked?.anchor_us ?? middle(at)) : middle(next);
      setMarked({ anchor_us: from_us, cursor_us: middle(next), by: "keys" });
    } else if (event.key === "Enter" && cursor !== null) apply(anchor!, cursor);
    else if (event.key === "Escape" && marked) setMarked(null);
    else return;
    event.preventDefault();
  };
  return (
    <Canvas
      class="heat"
      tabIndex={0}
      role="grid"
      aria-label={NAME}
      aria-activedescendant={cursor === null ? undefined : CURRENT}
      pixels={[width, height]}
      of={[map, anchor, cursor, String(shown), zero_us, ink.value]}
      draw={(context) => {
        drawScale(context, map, place);
        drawTicks(context, place, ink.value, [place.top, height - BELOW_PX + 4], height - BELOW_PX / 2);
        drawCells(context, map, place);
        if (shown) drawSelected(context, map, place, shown, ink.value);
        if (cursor !== null) drawCursor(context, map, place, cursor, ink.value);
      }}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = middle(under(event));
        const anchor_us = event.shiftKey && marked ? marked.anchor_us : at;
        setMarked({ anchor_us, cursor_us: at, by: "drag" });
      }}
      onPointerMove={(event) => {
        pointer.current = event;
        if (marked?.by === "drag") setMarked({ ...marked, cursor_us: middle(under(event)) });
        showTip();
      }}
      onPointerUp={() => {
        if (marked?.by === "drag") apply(anchor!, cursor!);
      }}
      onPointerCancel={() => setMarked(null)}
      onPointerLeave={() => {
        pointer.current = tip.value = null;
      }}
    >
      {cursor !== null && (
        <span role="row">
          <span id={CURRENT} role="gridcell" aria-selected={true}>
            {wordsOf(map, anchor!, cursor).join(", ")}
          </span>
        </span>
      )}
    </Canvas>
  );
}

/** Parts of a column, upwards. */
function drawScale(context: CanvasRenderingContext2D, map: Map, { left, top, height }: Place): void {
  context.font = AXIS_FONT;
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = ink.value.faint;
  for (const part of height > 160 ? [0, 0.2, 0.4, 0.6, 0.8, 1] : [0, 0.5, 1]) {
    context.fillText(lengthText(part * map.column_us), left - 6, Math.max(top + 2, top + height * (1 - part)));
  }
  context.textAlign = "left";
}
