// The flame graph as an SVG picture, by itself: no script, nothing to load, names as text.
import { boxAt, type FlameRows } from "../../data/layouts/flame_layout";
import type { Range } from "../boxes/box_view";
import { shortName } from "../../data/short_name";

export interface Picture {
  boxes: FlameRows;
  range: Range; // what is seen
  rootBelow: boolean;
  title: string;
  legend: [text: string, colour: string][];
  text: string; // colours
  letters: string; // on boxes
  paper: string;
  fill(box: number): string;
  label(box: number): string;
  tip(box: number): string;
}

const WIDTH_PX = 1200;
const ROW_PX = 18;
const HEAD_PX = 26;
const LEGEND_PX = 22; // below the head, where there is any
const LETTER_PX = 7; // of a character in it
const CHARACTER_PX = 6.6; // of the font below, on average
const THIN_PX = 0.3; // below: left out

const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as XML has it; what XML has no place for is replaced. */
export function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (sign) => SIGNS[sign])
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}

export function flameSvg(picture: Picture): string {
  const { boxes, range, rootBelow } = picture;
  const scale = WIDTH_PX / (range.to - range.from);
  const rows = seenRows(picture);
  const head = HEAD_PX + (picture.legend.length ? LEGEND_PX : 0);
  const height = head + rows * ROW_PX;
  const parts = [];
  let thin = 0;
  for (let row = 0; row < rows; row++) {
    const y = rootBelow ? height - (row + 1) * ROW_PX : head + row * ROW_PX;
    for (let box = boxAt(boxes, row, range.from); box < boxes.rows[row + 1]; box++) {
      if (boxes.x[box] >= range.to) break;
      const left = Math.max(0, (boxes.x[box] - range.from) * scale);
      const right = Math.min(WIDTH_PX, (boxes.x[box] + boxes.width[box] - range.from) * scale);
      if (right - left < THIN_PX) thin++;
      else parts.push(drawn(picture, box, left, right - left, y));
    }
  }
  const note = thin ? `; ${thin} frames too thin to be drawn` : "";
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_PX}" height="${height}" viewBox="0 0 ${WIDTH_PX} ${height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${picture.paper}"/>
<text x="4" y="17" fill="${picture.text}">${escaped(picture.title + note)}</text>
${legendOf(picture)}${parts.join("\n")}
</svg>
`;
}

function legendOf({ legend, text }: Picture): string {
  let x = 4;
  const parts = [];
  for (const [words, colour] of legend) {
    const width = 24 + LETTER_PX * words.length;
    if (x + width > WIDTH_PX) break;
    parts.push(
      `<rect x="${x}" y="26" width="12" height="12" fill="${colour}"/><text x="${x + 16}" y="36" fill="${text}">${escaped(words)}</text>\n`,
    );
    x += width;
  }
  return parts.join("");
}

function seenRows({ boxes, range }: Picture): number {
  for (let row = 0; row + 1 < boxes.rows.length; row++) {
    const box = boxAt(boxes, row, range.from);
    if (box >= boxes.rows[row + 1] || boxes.x[box] >= range.to) return row;
  }
  return boxes.rows.length - 1;
}

function drawn(picture: Picture, box: number, x: number, width: number, y: number): string {
  const label = shortName(picture.label(box), Math.floor((width - 6) / CHARACTER_PX));
  const text = label
    ? `<text x="${(x + 3).toFixed(1)}" y="${y + 13}" fill="${picture.letters}">${escaped(label)}</text>`
    : "";
  const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - 0.5).toFixed(1)}" height="${ROW_PX - 1}" fill="${picture.fill(box)}"/>`;
  return `<g><title>${escaped(picture.tip(box))}</title>${rect}${text}</g>`;
}
