// Draws rows of boxes on a canvas: only what is visible, and thin neighbours as one hatch.
import { boxAt, type FlameRows, JOINED } from "../data/flame_layout";
import type { Ink } from "./colours";
import { shortened } from "./format";

export const ROW_PX = 20;
const THIN_PX = 1; // below: part of a hatch
const HATCH_PX = 4; // below: no lines are seen in a hatch
const FRAME_PX = 8; // below: what is picked is underlined, as a frame would hide it
const TEXT_PX = 28; // below: no text is tried
const PAD_PX = 4;

/** Which part of the boxes is seen, and where. */
export interface Viewport {
  from: number; // in the unit of x
  to: number;
  width: number; // CSS pixels, as the next two
  height: number;
  top: number; // scrolled: of row 0's far edge
  rootBelow: boolean;
}

export interface Look {
  ink: Ink;
  fill(box: number): string;
  label(box: number): string;
  /** 2: search hit, 1: plain, 0: faint, as search looks for others. */
  emphasis(box: number): 0 | 1 | 2;
  isPicked(box: number): boolean;
}

export function rowCount(boxes: FlameRows): number {
  return boxes.rows.length - 1;
}

/** Where row r begins, in CSS pixels of the canvas. */
export function rowTop(viewport: Viewport, row: number): number {
  const offset = row * ROW_PX - viewport.top;
  return viewport.rootBelow ? viewport.height - offset - ROW_PX : offset;
}

/** The row at y; it may be none of the boxes'. */
export function rowAt(viewport: Viewport, y: number): number {
  const offset = viewport.rootBelow ? viewport.height - y : y;
  return Math.floor((offset + viewport.top) / ROW_PX);
}

export interface Thin {
  boxes: number;
  weight: number;
}

/** The box at a point: its number, or what a hatch there holds, or null. */
export function boxUnder(
  boxes: FlameRows,
  viewport: Viewport,
  x: number,
  y: number,
): { box: number; row: number; thin: Thin | null } | null {
  const row = rowAt(viewport, y);
  if (row < 0 || row >= rowCount(boxes)) return null;
  const scale = viewport.width / (viewport.to - viewport.from);
  const at = viewport.from + x / scale;
  const box = boxAt(boxes, row, at);
  if (box >= boxes.rows[row + 1] || boxes.x[box] > at + THIN_PX / scale) return null;
  if (boxes.width[box] * scale >= THIN_PX) return { box, row, thin: null };
  return { box, row, thin: thinAround(boxes, row, box, scale) };
}

function thinAround(boxes: FlameRows, row: number, box: number, scale: number): Thin {
  const isThin = (i: number) => boxes.width[i] * scale < THIN_PX;
  const follows = (i: number) => boxes.x[i] - boxes.x[i - 1] - boxes.width[i - 1] < THIN_PX / scale;
  let [first, last] = [box, box];
  while (first > boxes.rows[row] && isThin(first - 1) && follows(first)) first--;
  while (last + 1 < boxes.rows[row + 1] && isThin(last + 1) && follows(last + 1)) last++;
  let weight = 0;
  for (let i = first; i <= last; i++) weight += boxes.width[i];
  return { boxes: last - first + 1, weight };
}

export function drawBoxes(
  context: CanvasRenderingContext2D,
  boxes: FlameRows,
  viewport: Viewport,
  look: Look,
): void {
  const painter = new Painter(context, boxes, viewport, look);
  context.clearRect(0, 0, viewport.width, viewport.height);
  context.textBaseline = "middle";
  const rows = [rowAt(viewport, 0), rowAt(viewport, viewport.height)].sort((a, b) => a - b);
  const last = Math.min(rows[1], rowCount(boxes) - 1);
  for (let row = Math.max(0, rows[0]); row <= last; row++) painter.row(row);
}

/** Around the box that keys are on. */
export function outline(
  context: CanvasRenderingContext2D,
  boxes: FlameRows,
  viewport: Viewport,
  { box, row }: { box: number; row: number },
  colour: string,
): void {
  const scale = viewport.width / (viewport.to - viewport.from);
  const left = (boxes.x[box] - viewport.from) * scale;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(
    left,
    rowTop(viewport, row),
    Math.max(2, boxes.width[box] * scale),
    ROW_PX - 1,
  );
}

class Painter {
  readonly #scale: number;
  readonly #hatch: CanvasPattern | string;
  readonly #character: number; // pixels

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly boxes: FlameRows,
    private readonly viewport: Viewport,
    private readonly look: Look,
  ) {
    this.#scale = viewport.width / (viewport.to - viewport.from);
    this.#hatch = hatchOf(context, look.ink.hatch);
    this.#character = context.measureText("abcdefghijklmnopqrst").width / 20;
  }

  row(row: number): void {
    const { x, width, rows } = this.boxes;
    const { viewport } = this;
    const top = rowTop(viewport, row);
    let thinFrom = -1; // pixels; where a run of thin boxes began
    let thinTo = 0;
    const endRun = () => {
      if (thinFrom >= 0) this.#run(thinFrom, thinTo, top);
      thinFrom = -1;
    };
    for (let box = boxAt(this.boxes, row, viewport.from); box < rows[row + 1]; box++) {
      if (x[box] >= viewport.to) break;
      const left = (x[box] - viewport.from) * this.#scale;
      const right = left + width[box] * this.#scale;
      if (this.boxes.fn[box] === JOINED) {
        endRun();
        this.#run(left, right, top);
        continue;
      }
      if (right - left >= THIN_PX) {
        endRun();
        this.#box(box, Math.max(left, -1), Math.min(right, viewport.width + 1), top);
        continue;
      }
      if (thinFrom >= 0 && left - thinTo > THIN_PX) endRun();
      if (thinFrom < 0) thinFrom = left;
      thinTo = right;
    }
    endRun();
  }

  #run(left: number, right: number, top: number): void {
    if (right - left < 0.3) return; // not even a part of a pixel
    const { context } = this;
    const width = Math.max(1, right - left);
    context.globalAlpha = 0.35;
    context.fillStyle = this.look.ink.hatch;
    context.fillRect(left, top, width, ROW_PX - 1);
    context.globalAlpha = 1;
    if (width < HATCH_PX) return;
    context.fillStyle = this.#hatch;
    context.fillRect(left, top, width, ROW_PX - 1);
  }

  #box(box: number, left: number, right: number, top: number): void {
    const { context, look } = this;
    const width = right - left - (right - left > 3 ? 1 : 0);
    const emphasis = look.emphasis(box);
    context.globalAlpha = emphasis === 0 ? 0.35 : 1;
    context.fillStyle = emphasis === 2 ? look.ink.hit : look.fill(box);
    context.fillRect(left, top, width, ROW_PX - 1);
    if (width >= TEXT_PX) this.#text(box, left, width, top, emphasis === 2);
    context.globalAlpha = 1;
    if (!look.isPicked(box)) return;
    if (width < FRAME_PX) {
      context.fillStyle = look.ink.pick;
      context.fillRect(left, top + ROW_PX - 3, width, 2);
      return;
    }
    context.strokeStyle = look.ink.pick;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, top + 0.75, Math.max(1, width - 1.5), ROW_PX - 2.5);
  }

  #text(box: number, left: number, width: number, top: number, hit: boolean): void {
    const { context, look } = this;
    const start = Math.max(left, 0) + PAD_PX;
    const room = left + width - start - PAD_PX;
    const label = look.label(box);
    // Wide letters are seldom; measured only where it is close.
    let text = shortened(label, Math.floor((1.15 * room) / this.#character));
    if (text && context.measureText(text).width > room)
      text = shortened(label, Math.floor((0.85 * room) / this.#character));
    if (!text || context.measureText(text).width > room) return;
    context.fillStyle = hit ? "#1b1f24" : look.ink.text;
    context.fillText(text, start, top + ROW_PX / 2);
  }
}

function hatchOf(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 4;
  const lines = tile.getContext("2d");
  if (!lines) return colour;
  lines.strokeStyle = colour;
  lines.beginPath();
  for (const shift of [-4, 0, 4]) {
    lines.moveTo(shift, 4);
    lines.lineTo(shift + 4, 0);
  }
  lines.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}
