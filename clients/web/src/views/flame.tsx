// The merged flame graph of the selection.
import { useMemo } from "preact/hooks";
import { boxAt, type FlameRows } from "../data/flame_layout";
import type { SearchResult } from "../worker/messages";
import { useAnswer } from "../state/answer";
import { data, keyOfFunction, libraryOf, look, nameOf, names, order } from "../state/live";
import { pickedStack } from "../state/page";
import { select, selection } from "../state/selection";
import { BoxCanvas, type Range } from "./box_canvas";
import type { Look, Thin } from "./box_draw";
import { pathOf } from "./box_place";
import { fill, ink, isDark } from "./colours";
import { Empty } from "./empty";
import { duration, grouped, percent } from "./format";

/** Where the path of functions leads, as far as it goes. */
export function rangeOf(
  boxes: FlameRows,
  path: readonly string[],
  keyOf: (fn: number) => string = keyOfFunction,
): Range {
  let range = { from: 0, to: boxes.whole || 1 };
  for (let row = 0; row < path.length && row + 1 < boxes.rows.length; row++) {
    let box = boxAt(boxes, row, range.from);
    const end = boxes.rows[row + 1];
    while (box < end && boxes.x[box] < range.to && keyOf(boxes.fn[box]) !== path[row]) box++;
    if (box >= end || boxes.x[box] >= range.to) break;
    range = { from: boxes.x[box], to: boxes.x[box] + boxes.width[box] };
  }
  return range;
}

/** What is seen: as it was zoomed by hand, else where the zoom leads; and what keeps the former. */
export function handZoom(boxes: FlameRows, zoomed: Range) {
  const { seen } = selection.value;
  const whole = boxes.whole || 1;
  return {
    range: seen ? { from: seen[0] * whole, to: seen[1] * whole } : zoomed,
    onRange: (range: Range | null) =>
      select({ seen: range && [range.from / whole, range.to / whole] }, "seen"),
  };
}

export function boxLook(boxes: FlameRows, search: SearchResult | null, picked: string): Look {
  // By function, and by function and how much of a box is its own.
  const isPicked = new Map<number, boolean>();
  const fills = new Map<number, string>();
  const hits = search?.hits;
  return {
    ink: ink.value,
    fill(box) {
      const fn = boxes.fn[box];
      const step = boxes.self.length ? Math.round((3 * boxes.self[box]) / boxes.width[box]) : 0;
      const key = 4 * fn + step;
      let colour = fills.get(key);
      if (colour === undefined) {
        const { name, system } = libraryOf(fn);
        fills.set(key, (colour = fill(name, system, step / 3)));
      }
      return colour;
    },
    label: (box) => nameOf(boxes.fn[box]),
    emphasis: (box) => (!hits ? 1 : hits[boxes.fn[box]] ? 2 : 0),
    isPicked(box) {
      if (!picked) return false;
      const fn = boxes.fn[box];
      let is = isPicked.get(fn);
      if (is === undefined) isPicked.set(fn, (is = keyOfFunction(fn) === picked));
      return is;
    },
  };
}

export function Flame({ search }: { search: SearchResult | null }) {
  const { unit, zoom, picked, rootBelow } = selection.value;
  const boxes = useAnswer("flame", { ...look.value, order: order.value, unit });
  const version = data.value?.version;
  const range = useMemo(() => boxes && rangeOf(boxes, zoom), [boxes, zoom, version]);
  const drawn = useMemo(
    () => boxes && boxLook(boxes, search, picked),
    [boxes, search, picked, isDark.value],
  );
  if (!boxes || !range || !drawn) return null;
  if (!boxes.whole) return <Empty />;
  const shown = (weight: number) =>
    unit === "samples" ? `${grouped(weight)} samples` : duration(weight);
  const samples = unit === "samples" ? (weight: number) => weight : () => Infinity;
  const tip = (box: number, thin: Thin | null): string[] => {
    const share = (weight: number) => percent(weight, boxes.whole, samples(weight));
    if (thin && thin.boxes > 1)
      return [
        `${grouped(thin.boxes)} frames under 1 px`,
        `${shown(thin.weight)}, ${share(thin.weight)}`,
      ];
    const fn = boxes.fn[box];
    const { file = "", line = 0 } = names.functions[fn] ?? {};
    const weight = boxes.width[box];
    const lines = [nameOf(fn), `${shown(weight)}, ${share(weight)}`];
    if (boxes.self[box] > 0)
      lines.push(`self ${shown(boxes.self[box])}, ${share(boxes.self[box])}`);
    const place = file ? `${file}${line ? `:${line}` : ""}` : "";
    return [...lines, libraryOf(fn).name, place].filter(Boolean);
  };
  const zoomTo = (box: number, row: number) => {
    const path = pathOf(boxes, box, row).map((one) => keyOfFunction(boxes.fn[one]));
    select({ zoom: path });
  };
  return (
    <BoxCanvas
      boxes={boxes}
      look={drawn}
      {...handZoom(boxes, range)}
      rootBelow={rootBelow}
      label={`Flame graph of ${shown(boxes.whole)}`}
      onPick={(box, row) => {
        pickedStack.value = pathOf(boxes, box, row).map((one) => keyOfFunction(boxes.fn[one]));
        select({ picked: keyOfFunction(boxes.fn[box]) });
      }}
      onZoom={zoomTo}
      tip={tip}
    />
  );
}
