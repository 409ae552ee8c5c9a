// A scale of time: seconds since the profile's first sample.
import type { Ink } from "../parts/colours";

const APART_PX = 80; // between two labels, at least
export const AXIS_FONT = "11px system-ui, sans-serif";

/** Which part of time is seen, and where on a canvas. */
export interface TimeView {
  from_us: number;
  to_us: number;
  zero_us: number; // what is called 0 s
  left: number; // CSS pixels, as width
  width: number;
}

export function xOf(view: TimeView, time_us: number): number {
  return view.left + ((time_us - view.from_us) / (view.to_us - view.from_us)) * view.width;
}

/** The time at x, at most as far as is seen. */
export function timeAt(view: TimeView, x: number): number {
  const part = Math.min(1, Math.max(0, (x - view.left) / view.width));
  return Math.round(view.from_us + part * (view.to_us - view.from_us));
}

/** 1, 2 or 5 times a power of ten, so that labels do not meet. */
function tickStep(view: TimeView): number {
  const least = ((view.to_us - view.from_us) * APART_PX) / Math.max(1, view.width);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}

export function ticks(view: TimeView): { time_us: number; label: string }[] {
  const step = tickStep(view);
  const digits = Math.max(0, Math.ceil(6 - Math.log10(step)));
  const found = [];
  for (let i = Math.ceil((view.from_us - view.zero_us) / step); ; i++) {
    const time_us = view.zero_us + i * step;
    if (time_us > view.to_us) return found;
    found.push({ time_us, label: `${((i * step) / 1e6).toFixed(digits)} s` });
  }
}

/** Lines through rows top to bottom, and labels on y; those that would be cut at the end are left out. */
export function drawTicks(
  context: CanvasRenderingContext2D,
  view: TimeView,
  ink: Ink,
  [top, bottom]: [number, number],
  y: number,
): void {
  context.font = AXIS_FONT;
  context.textBaseline = "middle";
  for (const { time_us, label } of ticks(view)) {
    const x = Math.round(xOf(view, time_us));
    context.fillStyle = ink.line;
    context.fillRect(x, top, 1, bottom - top);
    if (x + context.measureText(label).width + 4 > view.left + view.width) continue;
    context.fillStyle = ink.faint;
    context.fillText(label, x + 4, y);
  }
}
