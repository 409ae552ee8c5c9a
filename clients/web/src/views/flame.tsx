// The merged flame graph of the selection.
import { useMemo } from "preact/hooks";
import { boxAt, type FlameRows } from "../data/flame_layout";
import type { SearchResult } from "../worker/messages";
import { useAnswer } from "../state/answer";
import { data, keyOfFunction, libraryOf, look, nameOf, names, order } from "../state/live";
import { select, selection } from "../state/selection";
import { BoxCanvas, type Range } from "./box_canvas";
import type { Look, Thin } from "./box_draw";
import { fill, ink, isDark } from "./colours";
import { Empty } from "./empty";
import { duration, grouped, percent } from "./format";

/** The boxes from row 0 down to a box, by what contains its left edge. */
export function pathOf(boxes: FlameRows, box: number, row: number): number[] {
  const path = [box];
  const inside = boxes.x[box] + boxes.width[box] / 2;
  for (let above = row - 1; above >= 0; above--) path.unshift(boxAt(boxes, above, inside));
  return path;
}

/** Where the path of functions leads, as far as it goes. */
export function rangeOf(boxes: FlameRows, path: readonly string[]): Range {
  let range = { from: 0, to: boxes.whole || 1 };
  for (let row = 0; row < path.length && row + 1 < boxes.rows.length; row++) {
    let box = boxAt(boxes, row, range.from);
    const end = boxes.rows[row + 1];
    while (box < end && boxes.x[box] < range.to && keyOfFunction(boxes.fn[box]) !== path[row])
      box++;
    if (box >= end || boxes.x[box] >= range.to) break;
    range = { from: boxes.x[box], to: boxes.x[box] + boxes.width[box] };
  }
  return range;
}

export function boxLook(boxes: FlameRows, search: SearchResult | null, picked: string): Look {
  const fills = new Map<string, string>();
  const hits = search?.hits;
  return {
    ink: ink.value,
    fill(box) {
      const { name, system } = libraryOf(boxes.fn[box]);
      const self = boxes.self.length ? boxes.self[box] / boxes.width[box] : 0;
      const step = Math.round(3 * self);
      const key = `${step} ${name}`;
      let colour = fills.get(key);
      if (!colour) fills.set(key, (colour = fill(name, system, step / 3)));
      return colour;
    },
    label: (box) => nameOf(boxes.fn[box]),
    emphasis: (box) => (!hits ? 1 : hits[boxes.fn[box]] ? 2 : 0),
    isPicked: (box) => picked !== "" && keyOfFunction(boxes.fn[box]) === picked,
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
      range={range}
      rootBelow={rootBelow}
      label={`Flame graph of ${shown(boxes.whole)}. The call tree shows the same as rows.`}
      onPick={(box) => select({ picked: keyOfFunction(boxes.fn[box]) })}
      onZoom={zoomTo}
      tip={tip}
    />
  );
}
