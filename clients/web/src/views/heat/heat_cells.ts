// Cells of a heat map: where they lie, which times they are, and how they are drawn. Columns go from left to right, the
// cells of a column upwards, as in FlameScope.
import { CELLS, type HeatMap } from "../../data/layouts/heat_map";
import { isDark, type Ink } from "../parts/colours";
import { type TimeView, xOf } from "../time/time_axis";
import type { Span } from "../time/time_window";

export const SHADES = 12;

/** Where the cells are on the canvas, in CSS pixels. */
export interface Place extends TimeView {
  top: number;
  height: number;
}

export function cellLength(map: HeatMap): number {
  return map.column_us / CELLS;
}

/** The cell of a time, at most the first or the last. */
export function cellAt(map: HeatMap, time_us: number): number {
  const cell = Math.floor((time_us - map.origin_us) / cellLength(map) + 1e-6);
  return Math.max(0, Math.min(map.cells.length - 1, cell));
}

export function spanOf(map: HeatMap, one: number, other: number): Span {
  const at = (cell: number) => Math.round(map.origin_us + cell * cellLength(map));
  return [at(Math.min(one, other)), at(Math.max(one, other) + 1)];
}

/** The nearest one. */
export function cellUnder(map: HeatMap, { left, width, top, height }: Place, x: number, y: number): number {
  const part = (value: number, count: number) =>
    Math.max(0, Math.min(count - 1, Math.floor(value * count)));
  const column = part((x - left) / width, map.columns);
  return column * CELLS + part((top + height - y) / height, CELLS);
}

/** One hue; paler or darker than the paper, as little or much of the whole as it is. shade: 0 to SHADES. */
export function shadeColour(shade: number): string {
  const part = shade / SHADES;
  const light = isDark.value ? 0.3 + 0.56 * part : 0.95 - 0.53 * part;
  return `oklch(${light.toFixed(3)} ${(0.03 + 0.14 * part).toFixed(3)} 45)`;
}

/** What a key does to the cell it is on; undefined: nothing. */
export function cellAfter(key: string, cell: number, count: number): number | undefined {
  const within = (at: number) => Math.max(0, Math.min(count - 1, at));
  const next: Record<string, () => number> = {
    ArrowUp: () => within(cell + 1),
    ArrowDown: () => within(cell - 1),
    ArrowRight: () => (cell + CELLS < count ? cell + CELLS : cell),
    ArrowLeft: () => (cell >= CELLS ? cell - CELLS : cell),
    Home: () => 0,
    End: () => count - 1,
  };
  return next[key]?.();
}

/** Around the cells from first to last: parts of two columns, and all of those between. */
function pathOf(map: HeatMap, place: Place, first: number, last: number): Path2D {
  const y = (cells: number) => Math.round(place.top + place.height - (cells * place.height) / CELLS);
  const [one, other] = [Math.floor(first / CELLS), Math.floor(last / CELLS)];
  const [from, to] = [y(first - one * CELLS), y(last + 1 - other * CELLS)];
  const [x, x1, x2, end] = [one, one + 1, other, other + 1].map((at) => edge(map, place, at));
  const path = new Path2D();
  if (one === other) path.rect(x, to, end - x, from - to);
  else {
    const [high, low] = [y(CELLS), y(0)];
    path.moveTo(x, from);
    for (const [right, at] of [[x, high], [x2, high], [x2, to], [end, to], [end, low], [x1, low], [x1, from]])
      path.lineTo(right, at);
    path.closePath();
  }
  return path;
}

function edge(map: HeatMap, place: Place, column: number): number {
  return Math.round(xOf(place, map.origin_us + column * map.column_us));
}

export function drawCells(context: CanvasRenderingContext2D, map: HeatMap, place: Place): void {
  const { top, height } = place;
  const colours = Array.from({ length: SHADES + 1 }, (_, shade) => shadeColour(shade));
  const ends = Array.from({ length: CELLS + 1 }, (_, i) => Math.round(top + height - (i * height) / CELLS));
  for (let column = 0; column < map.columns; column++) {
    const [x, end] = [edge(map, place, column), edge(map, place, column + 1)];
    const gap = end - x > 3 ? 1 : 0; // so that columns are told apart
    for (let i = 0; i < CELLS; i++) {
      const value = map.cells[column * CELLS + i];
      if (!value) continue;
      context.fillStyle = colours[Math.ceil((value / map.most) * SHADES)];
      context.fillRect(x, ends[i + 1], end - x - gap, ends[i] - ends[i + 1]);
    }
  }
}

/** What is selected stays as it is, the rest is paler. */
export function drawSelected(
  context: CanvasRenderingContext2D,
  map: HeatMap,
  place: Place,
  [first, last]: [number, number],
  ink: Ink,
): void {
  const around = new Path2D();
  around.rect(place.left, place.top, place.width, place.height);
  const path = pathOf(map, place, first, last);
  around.addPath(path);
  context.globalAlpha = 0.6;
  context.fillStyle = ink.paper;
  context.fill(around, "evenodd");
  context.globalAlpha = 1;
  context.strokeStyle = ink.states[0];
  context.stroke(path);
}

export function drawCursor(
  context: CanvasRenderingContext2D,
  map: HeatMap,
  place: Place,
  cell: number,
  ink: Ink,
): void {
  context.strokeStyle = ink.pick;
  context.lineWidth = 2;
  context.stroke(pathOf(map, place, cell, cell));
  context.lineWidth = 1;
}
