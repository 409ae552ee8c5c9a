// The curve of processors in use over time, or of another kind's weight a second, with its two scales.
import type { KindRow } from "../../data/kinds";
import type { Overview } from "../../data/layouts/overview";
import { rateText } from "../parts/cells";
import type { Ink } from "../parts/colours";
import { AXIS_FONT, drawTicks, type TimeView, xOf } from "../time/time_axis";

const AXIS_PX = 16; // below the curve
const TOP_PX = 22; // for the words about the selection

export function drawCurve(
  context: CanvasRenderingContext2D,
  overview: Overview,
  picked: Float64Array | null, // of the picked function, by step
  baseline: Float64Array | null, // of the file that is compared with
  view: TimeView,
  height: number,
  ink: Ink,
  kind: KindRow | null, // null: of time
): void {
  const base = height - AXIS_PX;
  let high = kind ? Number.MIN_VALUE : 1;
  for (const values of [overview.cpu, baseline ?? []])
    for (const value of values) if (value > high) high = value;
  const y = (value: number) => base - (value / (high * 1.05)) * (base - TOP_PX);
  const whole = kind ? high : Math.floor(high);

  drawTicks(context, view, ink, [TOP_PX, base], height - AXIS_PX / 2);
  context.font = AXIS_FONT;
  context.fillStyle = ink.line;
  for (const value of [0, whole]) context.fillRect(view.left, Math.round(y(value)), view.width, 1);
  context.fillStyle = ink.faint;
  context.textAlign = "right";
  context.fillText(kind ? rateText(whole) : String(whole), view.left - 6, Math.max(8, y(whole)));
  context.textAlign = "left";
  context.fillStyle = ink.text;
  context.fillText(kind ? kind.curve : "CPU", 6, TOP_PX + 8); // below the words, which may need the whole width

  const { origin_us, step_us, steps } = overview;
  const along = (values: Float64Array) => {
    const x = (step: number) => xOf(view, origin_us + (step + 0.5) * step_us);
    context.beginPath();
    context.moveTo(x(0), base);
    for (let step = 0; step < steps; step++) context.lineTo(x(step), y(values[step]));
    context.lineTo(x(steps - 1), base);
  };
  along(overview.cpu);
  context.globalAlpha = 0.25;
  context.fillStyle = ink.states[0];
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = ink.states[0];
  context.stroke();
  if (picked) {
    along(picked);
    context.globalAlpha = 0.7;
    context.fillStyle = ink.hit;
    context.fill();
    context.globalAlpha = 1;
  }
  if (!baseline) return;
  along(baseline);
  context.strokeStyle = ink.before;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineWidth = 1;
}
