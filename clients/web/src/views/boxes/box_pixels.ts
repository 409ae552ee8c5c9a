// Rows of boxes as pixels. All lines of a row are alike: one is painted, the others are copies of it.
// Thousands of boxes cost a canvas a call each and a colour to read; here they are a memory fill.
import type { Pixel } from "../parts/colours";

const HATCH_EVERY = 4; // pixels between two lines of a hatch

export function faint(colour: Pixel, alpha: number): Pixel {
  return ((Math.round(255 * alpha) << 24) | (colour & 0xffffff)) >>> 0;
}

export class BoxPixels {
  /** Line by line from the top. */
  readonly pixels: Uint32Array<ArrayBuffer>;
  readonly #line: Uint32Array;
  #hatched: { from: number; to: number; colour: Pixel }[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint32Array(width * height);
    this.#line = new Uint32Array(width);
  }

  /** Fills [from, to) of the row that is being painted. */
  fill(from: number, to: number, colour: Pixel): void {
    this.#line.fill(colour, Math.max(0, from), Math.max(0, to));
  }

  /** Lines from below on the left to above on the right, on what is there. */
  hatch(from: number, to: number, colour: Pixel): void {
    this.#hatched.push({ from: Math.max(0, from), to: Math.min(this.width, to), colour });
  }

  /** The row stands in lines [top, bottom), as far as there are such; the next one begins. */
  endRow(top: number, bottom: number): void {
    for (let y = Math.max(0, top); y < Math.min(this.height, bottom); y++) {
      this.pixels.set(this.#line, y * this.width);
      for (const { from, to, colour } of this.#hatched)
        for (let x = from + modulo(-1 - y - from, HATCH_EVERY); x < to; x += HATCH_EVERY)
          this.pixels[y * this.width + x] = colour;
    }
    this.#line.fill(0);
    this.#hatched = [];
  }
}

function modulo(a: number, b: number): number {
  return ((a % b) + b) % b;
}
