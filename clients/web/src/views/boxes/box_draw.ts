// Draws rows of boxes on a canvas: only what is visible, and thin neighbours as one hatch.
import { boxAt, type FlameRows, JOINED } from "../../data/layouts/flame_layout";
import { shortName } from "../../data/short_name";
import { BOX_TEXT, type Ink, type Pixel, pixelOf } from "../parts/colours";
import { BoxPixels, faint } from "./box_pixels";
import type { Spot } from "./box_place";

export const ROW_PX = 20;
const THIN_PX = 1; // below: part of a hatch
const HATCH_PX = 4; // below: no lines are seen in a hatch
const FRAME_PX = 8; // below: what is picked is underlined, as a frame would hide it
const TEXT_PX = 28; // below: no text is tried
const PAD_PX = 4;
const JOINED_PART = 0.7; // the alpha of several that are drawn as one
const FAINT = 0.35; // the alpha of what search did not look for

/** Which part of the boxes is seen, and where. */
export interface Viewport {
  from: number; // in the unit of x
  to: number;
  width: number; // CSS pixels, as the next two
  height: number;
  top: number; // scrolled: of row 0's far edge
  rootBelow: boolean;
}

/** What boxes look like. */
export interface BoxPaint {
  ink: Ink;
  letters: string; // their colour
  fill(box: number): string;
  label(box: number): string;
  /** 2: search hit, 1: plain, 0: faint, as search looks for others. */
  emphasis(box: number): 0 | 1 | 2;
  isPicked(box: number): boolean;
  /** What fits into so many letters; not given: a short form of the label, which is a function's name. */
  short?(box: number, letters: number): string;
  /** Of one that stands for several; "": a hatch. */
  joined?(box: number): string;
  /** What lies above the boxes. */
  over?(context: CanvasRenderingContext2D, viewport: Viewport): void;
}

export function rowCount(boxes: FlameRows): number {
  return boxes.rows.length - 1;
}

/** Where row r begins, in CSS pixels of the canvas. */
function rowTop(viewport: Viewport, row: number): number {
  const offset = row * ROW_PX - viewport.top;
  return viewport.rootBelow ? viewport.height - offset - ROW_PX : offset;
}

/** The row at y; it may be none of the boxes'. */
function rowAt(viewport: Viewport, y: number): number {
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

/** Draws over all that is there. The context is scaled to CSS pixels. */
export function drawBoxes(
  context: CanvasRenderingContext2D,
  boxes: FlameRows,
  viewport: Viewport,
  paint: BoxPaint,
): void {
  const painter = new Painter(context, boxes, viewport, paint);
  const rows = [rowAt(viewport, 0), rowAt(viewport, viewport.height)].sort((a, b) => a - b);
  const last = Math.min(rows[1], rowCount(boxes) - 1);
  for (let row = Math.max(0, rows[0]); row <= last; row++) painter.row(row);
  painter.end();
}

/** Around the box that keys are on. */
export function outline(
  context: CanvasRenderingContext2D,
  boxes: FlameRows,
  viewport: Viewport,
  { box, row }: Spot,
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

/** A box that has more than its colour. */
interface Drawn {
  box: number;
  left: number; // CSS pixels
  width: number;
  top: number;
}

class Painter {
  readonly #scale: number;
  readonly #ratio: number; // pixels of the canvas in a CSS pixel
  readonly #canvas: BoxPixels;
  readonly #thin: Pixel;
  readonly #hatch: Pixel;
  readonly #hit: Pixel;
  readonly #named: Drawn[] = [];
  readonly #picked: Drawn[] = [];

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly boxes: FlameRows,
    private readonly viewport: Viewport,
    private readonly paint: BoxPaint,
  ) {
    const { width, height } = context.canvas;
    this.#scale = viewport.width / (viewport.to - viewport.from);
    this.#ratio = context.getTransform().a;
    this.#canvas = new BoxPixels(width, height);
    this.#hatch = pixelOf(paint.ink.hatch);
    this.#thin = faint(this.#hatch, FAINT);
    this.#hit = pixelOf(paint.ink.hit);
  }

  row(row: number): void {
    const { x, width, rows } = this.boxes;
    const { viewport } = this;
    const top = rowTop(viewport, row);
    let thinFrom = -1; // pixels; where a run of thin boxes began
    let thinTo = 0;
    const endRun = () => {
      if (thinFrom >= 0) this.#run(thinFrom, thinTo);
      thinFrom = -1;
    };
    for (let box = boxAt(this.boxes, row, viewport.from); box < rows[row + 1]; box++) {
      if (x[box] >= viewport.to) break;
      const left = (x[box] - viewport.from) * this.#scale;
      const right = left + width[box] * this.#scale;
      if (this.boxes.fn[box] === JOINED) {
        endRun();
        const colour = this.paint.joined?.(box);
        if (colour) this.#joined(left, right, pixelOf(colour), this.paint.emphasis(box));
        else this.#run(left, right);
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
    this.#canvas.endRow(this.#round(top), this.#round(top + ROW_PX - 1));
  }

  /** What was painted comes to the canvas; then names and outlines. */
  end(): void {
    const { context } = this;
    const { pixels, width, height } = this.#canvas;
    const bytes = new Uint8ClampedArray(pixels.buffer);
    context.putImageData(new ImageData(bytes, width, height), 0, 0);
    context.textBaseline = "middle";
    const character = context.measureText("abcdefghijklmnopqrst").width / 20;
    for (const drawn of this.#named) this.#name(drawn, character);
    context.globalAlpha = 1;
    for (const drawn of this.#picked) this.#outline(drawn);
    this.paint.over?.(context, this.viewport);
  }

  #round(pixels: number): number {
    return Math.round(pixels * this.#ratio);
  }

  #run(left: number, right: number): void {
    if (right - left < 0.3) return; // not even a part of a pixel
    const from = this.#round(left);
    const to = Math.max(from + 1, this.#round(right));
    this.#canvas.fill(from, to, this.#thin);
    if (right - left >= HATCH_PX) this.#canvas.hatch(from, to, this.#hatch);
  }

  /** In the colour of the longest, less than if it were alone. */
  #joined(left: number, right: number, colour: Pixel, emphasis: 0 | 1 | 2): void {
    const from = this.#round(left);
    const to = Math.max(from + 1, this.#round(right));
    this.#canvas.fill(from, to, emphasis === 2 ? this.#hit : faint(colour, emphasis ? JOINED_PART : FAINT));
  }

  #box(box: number, left: number, right: number, top: number): void {
    const { paint } = this;
    const width = right - left - (right - left > 3 ? 1 : 0);
    const emphasis = paint.emphasis(box);
    const colour = emphasis === 2 ? this.#hit : pixelOf(paint.fill(box));
    const from = this.#round(left);
    const to = Math.max(from + 1, this.#round(left + width));
    this.#canvas.fill(from, to, emphasis === 0 ? faint(colour, FAINT) : colour);
    if (width >= TEXT_PX) this.#named.push({ box, left, width, top });
    if (paint.isPicked(box)) this.#picked.push({ box, left, width, top });
  }

  #name({ box, left, width, top }: Drawn, character: number): void {
    const { context, paint } = this;
    const start = Math.max(left, 0) + PAD_PX;
    const room = left + width - start - PAD_PX;
    const short = (part: number) => {
      const letters = Math.floor((part * room) / character);
      return paint.short ? paint.short(box, letters) : shortName(paint.label(box), letters);
    };
    // Wide letters are seldom; measured only where it is close.
    let text = short(1.15);
    if (text && context.measureText(text).width > room) text = short(0.85);
    if (!text || context.measureText(text).width > room) return;
    const emphasis = paint.emphasis(box);
    context.globalAlpha = emphasis === 0 ? FAINT : 1;
    context.fillStyle = emphasis === 0 ? paint.ink.text : emphasis === 2 ? BOX_TEXT : paint.letters;
    context.fillText(text, start, top + ROW_PX / 2);
  }

  #outline({ left, width, top }: Drawn): void {
    const { context, paint } = this;
    if (width < FRAME_PX) {
      context.fillStyle = paint.ink.pick;
      context.fillRect(left, top + ROW_PX - 3, Math.max(1, width), 2);
      return;
    }
    context.strokeStyle = paint.ink.pick;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, top + 0.75, Math.max(1, width - 1.5), ROW_PX - 2.5);
  }
}
