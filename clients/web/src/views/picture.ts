// The flame graph of the selection as a file: SVG or PNG.
import type { FlameRows } from "../data/flame_layout";
import { backend, libraryOf, look, nameOf, order } from "../state/live";
import { selection } from "../state/selection";
import { drawBoxes, ROW_PX, rowCount } from "./box_draw";
import { ink, pixelOf } from "./colours";
import { boxLook, rangeOf } from "./flame";
import { flameSvg } from "./flame_svg";
import { duration, grouped, percent } from "./format";

const PNG_WIDTH = 1600;
const PNG_HEIGHT_MOST = 8000; // browsers refuse canvases beyond some size
const PNG_SCALE = 2;

function asked(): Promise<FlameRows> {
  return backend().ask("flame", { ...look.value, order: order.value, unit: selection.value.unit });
}

/** As #rrggbb: what any program knows, whatever way it was written. */
function plain(colour: string): string {
  const pixel = pixelOf(colour);
  const [red, green, blue] = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  return `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
}

export async function svgPicture(title: string): Promise<string> {
  const boxes = await asked();
  const { unit, zoom, rootBelow } = selection.value;
  const shown = (weight: number) =>
    unit === "samples" ? `${grouped(weight)} samples` : duration(weight);
  const drawn = boxLook(boxes, null, "");
  return flameSvg({
    boxes,
    range: rangeOf(boxes, zoom),
    rootBelow,
    title: `${title}: ${shown(boxes.whole)}`,
    text: ink.value.text,
    paper: ink.value.paper,
    fill: (box) => plain(drawn.fill(box)),
    label: drawn.label,
    tip: (box) => {
      const [fn, weight] = [boxes.fn[box], boxes.width[box]];
      return `${nameOf(fn)} (${libraryOf(fn).name}) ${shown(weight)}, ${percent(weight, boxes.whole)}`;
    },
  });
}

export async function pngPicture(): Promise<Blob> {
  const boxes = await asked();
  const { zoom, rootBelow, picked } = selection.value;
  const height = Math.min(PNG_HEIGHT_MOST, Math.max(1, rowCount(boxes)) * ROW_PX);
  const canvas = document.createElement("canvas");
  canvas.width = PNG_SCALE * PNG_WIDTH;
  canvas.height = PNG_SCALE * height;
  const context = canvas.getContext("2d")!;
  context.scale(PNG_SCALE, PNG_SCALE);
  context.font = "12px system-ui, sans-serif";
  const viewport = { ...rangeOf(boxes, zoom), width: PNG_WIDTH, height, top: 0, rootBelow };
  drawBoxes(context, boxes, viewport, boxLook(boxes, null, picked));
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = ink.value.paper;
  context.fillRect(0, 0, PNG_WIDTH, height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large")))),
  );
}
