// The merged flame graph of the selection.
import { useMemo } from "preact/hooks";
import { boxAt, type FlameRows } from "../../data/layouts/flame_layout";
import { SELF_STEPS } from "../../data/shades";
import type { SearchResult } from "../../worker/messages";
import { useAnswer } from "../../state/answer";
import {
  byUnit,
  data,
  keyOfFunction,
  libraryOf,
  look,
  nameOf,
  names,
  order,
  placeOfFunction,
} from "../../state/live";
import { legend, slotOf } from "../../state/colouring";
import { pickedStack } from "../../state/page";
import { adjust, select, type Selection, selection } from "../../state/selection";
import { BoxCanvas } from "../boxes/box_canvas";
import type { BoxPaint, Thin } from "../boxes/box_draw";
import { pathOf } from "../boxes/box_place";
import type { Range } from "../boxes/box_view";
import { weightText } from "../parts/cells";
import { BOX_TEXT, fill, ink, isDark } from "../parts/colours";
import { Empty } from "../parts/empty";
import { grouped, percent } from "../parts/format";

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
    onRange: (range: Range | null, isPart?: boolean) => {
      const seen: Selection["seen"] = range && [range.from / whole, range.to / whole];
      if (isPart) adjust({ seen });
      else select({ seen }, "seen");
    },
  };
}

export function boxPaint(
  boxes: FlameRows,
  search: SearchResult | null,
  picked: string,
): BoxPaint {
  // By function, and by function, slot and how much of a box is its own.
  const isPicked = new Map<number, boolean>();
  const fills = new Map<number, string>();
  const hits = search?.hits;
  const by = legend.value?.by ?? "library";
  return {
    ink: ink.value,
    letters: BOX_TEXT,
    fill(box) {
      const fn = boxes.fn[box];
      const self = boxes.self.length ? boxes.self[box] / boxes.width[box] : 0;
      const step = Math.round(SELF_STEPS * self) || 0;
      const slot = boxes.slots?.[box] ?? slotOf(fn);
      const key = 64 * fn + 4 * slot + step;
      let colour = fills.get(key);
      if (colour === undefined) fills.set(key, (colour = fill(slot, by, nameOf(fn), step)));
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

/** whole: what shares are of. */
export function boxTip(
  boxes: FlameRows,
  box: number,
  thin: Thin | null,
  whole = boxes.whole,
): string[] {
  const told = (weight: number) =>
    `${weightText(weight, true)}, ${percent(weight, whole, byUnit(weight, Infinity))}`;
  if (thin && thin.boxes > 1)
    return [`${grouped(thin.boxes)} frames under 1 px`, told(thin.weight)];
  const fn = boxes.fn[box];
  const self = boxes.self[box] > 0 ? [`self ${told(boxes.self[box])}`] : [];
  const lines = [nameOf(fn), told(boxes.width[box]), ...self];
  const { runtime } = names.functions[fn] ?? {};
  const owner = libraryOf(fn).name + (runtime ? ` · ${runtime}` : "");
  return [...lines, owner, placeOfFunction(fn)].filter(Boolean);
}

export function Flame({ search }: { search: SearchResult | null }) {
  const { zoom, picked, rootBelow, inverted, colour } = selection.value;
  const boxes = useAnswer("flame", { ...look.value, order: order.value, inverted, colour });
  const version = data.value?.version;
  const range = useMemo(() => boxes && rangeOf(boxes, zoom), [boxes, zoom, version]);
  const paint = useMemo(
    () => boxes && boxPaint(boxes, search, picked),
    [boxes, search, picked, isDark.value, legend.value],
  );
  if (!boxes || !range || !paint) return null;
  if (!boxes.whole) return <Empty />;
  const isInverted = !boxes.self.length; // as drawn: what is asked for may be on its way
  const zoomTo = (box: number, row: number) => {
    const path = pathOf(boxes, box, row).map((one) => keyOfFunction(boxes.fn[one]));
    select({ zoom: path });
  };
  return (
    <BoxCanvas
      boxes={boxes}
      paint={paint}
      {...handZoom(boxes, range)}
      rootBelow={rootBelow}
      label={`${isInverted ? "Inverted flame" : "Flame"} graph of ${weightText(boxes.whole, true)}`}
      onPick={(box, row) => {
        const path = pathOf(boxes, box, row).map((one) => keyOfFunction(boxes.fn[one]));
        pickedStack.value = isInverted ? [] : path;
        select({ picked: keyOfFunction(boxes.fn[box]) });
      }}
      onZoom={zoomTo}
      tip={(box, thin) => boxTip(boxes, box, thin)}
    />
  );
}
