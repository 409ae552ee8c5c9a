// The flame graph of the selection as a file: SVG or PNG.
import type { FlameRows } from "../../data/layouts/flame_layout";
import { legend } from "../../state/colouring";
import { backend, libraryOf, look, nameOf, order } from "../../state/live";
import { selection } from "../../state/selection";
import { weightText } from "../parts/cells";
import { drawBoxes, ROW_PX, rowCount } from "../boxes/box_draw";
import { BOX_TEXT, fill, ink } from "../parts/colours";
import { colourNames } from "../parts/colour_names";
import { boxPaint, rangeOf } from "./flame";
import { flameSvg } from "./flame_svg";
import { percent } from "../parts/format";

const PNG_WIDTH = 1600;
const PNG_HEIGHT_MOST = 8000; // browsers refuse canvases beyond some size
const PNG_SCALE = 2;

function asked(): Promise<FlameRows> {
  return backend().ask("flame", {
    ...look.value,
    order: order.value,
    inverted: selection.value.inverted,
    colour: selection.value.colour,
  });
}

export async function svgPicture(title: string): Promise<string> {
  const boxes = await asked();
  const { zoom, rootBelow } = selection.value;
  const shown = (weight: number) => weightText(weight, true);
  const drawn = boxPaint(boxes, null, "");
  return flameSvg({
    boxes,
    range: rangeOf(boxes, zoom),
    rootBelow,
    legend: colourNames(legend.value).map(({ text, slot, share }) => [
      share ? `${text} ${share}` : text,
      fill(slot, legend.value!.by),
    ]),
    title: `${title}: ${shown(boxes.whole)}`,
    text: ink.value.text,
    letters: BOX_TEXT,
    paper: ink.value.paper,
    fill: drawn.fill,
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
  drawBoxes(context, boxes, viewport, boxPaint(boxes, null, picked));
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = ink.value.paper;
  context.fillRect(0, 0, PNG_WIDTH, height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large")))),
  );
}
