// What slices look like among boxes: coloured by their stream, with their time behind the name; flows as arrows.
import { JOINED } from "../../data/layouts/flame_layout";
import { shortName } from "../../data/short_name";
import { matcher, type Search } from "../../data/sums/search";
import { selection } from "../../state/selection";
import type { ChartRows } from "../../worker/messages";
import { type BoxPaint, ROW_PX, type Viewport } from "../boxes/box_draw";
import { fill, type Ink } from "../parts/colours";
import { duration, grouped } from "../parts/format";

/** The number of the row that a box stands in. */
function rowOf({ rows }: ChartRows, box: number): number {
  let row = 0;
  while (row + 2 < rows.length && rows[row + 1] <= box) row++;
  return row;
}

/** What a link calls it. */
export function keyOf(boxes: ChartRows, box: number): string {
  const { keys, start_us } = boxes.slices!;
  return `${keys[rowOf(boxes, box)]}/${start_us[box].toFixed(3)}`;
}

export const isSlice = ({ slices }: ChartRows, box: number) => (slices?.label[box] ?? -1) >= 0;

/** The box of the event that is picked; -1: none is it. */
function pickedBox({ slices, rows }: ChartRows, key: string): number {
  const at = key.lastIndexOf("/");
  const row = slices?.keys.indexOf(key.slice(0, at)) ?? -1;
  if (row < 0) return -1;
  const start = Number(key.slice(at + 1));
  for (let box = rows[row]; box < rows[row + 1]; box++)
    if (Math.abs(slices!.start_us[box] - start) < 0.001) return box;
  return -1;
}

function finds(search: Search): (name: string, stream: string) => boolean {
  try {
    return search.text ? matcher(search) : () => true;
  } catch {
    return () => true;
  }
}

const LETTERS_LEAST = 3; // fewer say nothing

/** Of calls it is as it was. */
export function withSlices(boxes: ChartRows, paint: BoxPaint): BoxPaint {
  const { slices, told, arrows } = boxes;
  if (!slices) return paint;
  const { event, search } = selection.value;
  const picked = pickedBox(boxes, event);
  const isHit = finds(search);
  const colours = told.map(({ name, slot }) => fill(slot, "kind", name));
  const hits = told.map(({ name, stream }) => (!search.text ? 1 : isHit(name, stream) ? 2 : 0));
  const of = (box: number) => slices.label[box];
  return {
    ...paint,
    fill: (box) => colours[of(box)] ?? paint.fill(box),
    joined: (box) => colours[of(box)] ?? "",
    short: (box, letters) => {
      if (of(box) < 0) return shortName(paint.label(box), letters);
      const { name } = told[of(box)];
      const full = `${name} ${duration(slices.duration[box])}`;
      if (full.length <= letters || name.length <= letters) return full.length <= letters ? full : name;
      return letters < LETTERS_LEAST ? "" : `${name.slice(0, letters - 1)}…`;
    },
    emphasis: (box) => hits[of(box)] ?? paint.emphasis(box),
    isPicked: (box) => (of(box) < 0 ? paint.isPicked(box) : box === picked),
    over: (context, viewport) => arrows && drawArrows(context, arrows.ends, viewport, paint.ink),
  };
}

const HEAD_PX = 5;
const FEW_ARROWS = 30; // more are fainter: what is below them is to be read

/** Bows from slice to slice, with a head where they end. */
function drawArrows(context: CanvasRenderingContext2D, ends: Float64Array, viewport: Viewport, ink: Ink): void {
  const scale = viewport.width / (viewport.to - viewport.from);
  context.strokeStyle = context.fillStyle = ink.text;
  context.globalAlpha = ends.length > 4 * FEW_ARROWS ? 0.35 : 0.7;
  context.lineWidth = 1;
  for (let i = 0; i < ends.length; i += 4) {
    const [x1, x2] = [ends[i], ends[i + 2]].map((x) => (x - viewport.from) * scale);
    const [y1, y2] = [ends[i + 1], ends[i + 3]].map((row) => (row + 0.5) * ROW_PX - viewport.top);
    const bow = Math.max(12, Math.min(60, Math.abs(x2 - x1) / 2));
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bow, y1, x2 - bow, y2, x2 - HEAD_PX, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - HEAD_PX - 1, y2 - HEAD_PX / 2);
    context.lineTo(x2 - HEAD_PX - 1, y2 + HEAD_PX / 2);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** What the colours of slices mean. */
export function Streams({ rows: { told } }: { rows: ChartRows }) {
  const slots = new Map(told.map(({ stream, slot }) => [stream, slot]));
  if (!slots.size) return null;
  return (
    <span class="streams">
      {[...slots].sort().map(([stream, slot]) => (
        <span>
          <i class="swatch" style={{ background: fill(slot, "kind") }} /> <bdi>{stream}</bdi>
        </span>
      ))}
    </span>
  );
}

/** zero_us: what is called 0 s. */
export function sliceTip(boxes: ChartRows, box: number, zero_us: number): string[] {
  const slices = boxes.slices!;
  const { name, stream } = boxes.told[slices.label[box]];
  const time = `${((slices.start_us[box] - zero_us) / 1e6).toFixed(4)} s, for ${duration(slices.duration[box])}`;
  if (boxes.fn[box] !== JOINED) return [name, time, stream];
  return [`${grouped(slices.count[box])} slices, too short to be told apart here: a click zooms to them`, `the longest: ${name}`, time, stream];
}
