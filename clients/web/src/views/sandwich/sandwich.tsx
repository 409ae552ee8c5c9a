// One function between two flame graphs: its callers grow upwards from it, what it calls hangs below.
// Functions stand at the side, to go from one to the next.
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../state/answer";
import { legend } from "../../state/colouring";
import { byUnit, data, functionOfKey, keyOfFunction, look, nameOf, order } from "../../state/live";
import { openMenu, pickedStack } from "../../state/page";
import { select, selection, START } from "../../state/selection";
import type { FlameRows } from "../../data/layouts/flame_layout";
import type { SearchResult } from "../../worker/messages";
import type { Sandwich as Answer } from "../../worker/sandwiches";
import { BoxCanvas } from "../boxes/box_canvas";
import { pathOf } from "../boxes/box_place";
import type { Range } from "../boxes/box_view";
import { boxPaint, boxTip } from "../flame/flame";
import { FunctionName, weightText } from "../parts/cells";
import { isDark } from "../parts/colours";
import { Empty } from "../parts/empty";
import { percent } from "../parts/format";
import { Functions, useSortedFunctions } from "../rows/function_table";

/** What stands in the middle: a frame beside it can be picked, and it stays. "": the heaviest function. */
function middleKey(): string {
  const { picked, sandwich } = selection.value;
  return sandwich.middle && sandwich.of === picked ? sandwich.middle : picked;
}

export function Sandwich({ search }: { search: SearchResult | null }) {
  const wanted = middleKey();
  const fn = data.value ? functionOfKey(wanted) : -1;
  const { colour } = selection.value;
  const answer = useAnswer("sandwich", { ...look.value, fn, order: order.value, colour });
  const table = useSortedFunctions(search);
  if (!answer || !table) return null;
  if (answer.fn < 0) return <Empty />;
  const middle = keyOfFunction(answer.fn);
  return (
    <div class="sandwich">
      <div class="list">
        <Functions table={table} current={middle} brief />
      </div>
      <div class="halves">
        {answer.total > 0 && <Half half="callers" of={answer} search={search} middle={middle} />}
        <Middle of={answer} />
        {answer.total > 0 && <Half half="callees" of={answer} search={search} middle={middle} />}
      </div>
    </div>
  );
}

function Middle({ of: { fn, self, total, whole, samples } }: { of: Answer }) {
  const told = (name: string, weight: number, count: number) => (
    <span>
      {name} {percent(weight, whole, count)} · {weightText(weight, true)}
    </span>
  );
  return (
    <div
      class="middle"
      onContextMenu={(event) => {
        select({ picked: keyOfFunction(fn), sandwich: START.sandwich });
        openMenu(event);
      }}
    >
      <span class="name">
        <FunctionName fn={fn} room={0.4 * innerWidth} />
      </span>
      {total > 0 ? (
        <>
          {told("self", self, samples.self)}
          {told("total", total, samples.total)}
        </>
      ) : (
        <span class="faint">is in no sample of this selection</span>
      )}
    </div>
  );
}

interface HalfProps {
  half: "callers" | "callees";
  of: Answer;
  search: SearchResult | null;
  middle: string; // functionKey
}

const NONE = {
  callers: "No callers: threads begin with it.",
  callees: "No callees: all of it is its own.",
};

function Half({ half, of, search, middle }: HalfProps) {
  const boxes: FlameRows = of[half];
  const { picked } = selection.value;
  const [seen, setSeen] = useState<Range | null>(null); // parts, 0 to 1
  useEffect(() => setSeen(null), [middle]);
  const paint = useMemo(
    () => boxPaint(boxes, search, picked),
    [boxes, search, picked, isDark.value, legend.value],
  );
  const { whole } = boxes;
  const part = (range: Range, by: number) => ({ from: range.from * by, to: range.to * by });
  const key = (box: number) => keyOfFunction(boxes.fn[box]);
  return (
    <div class="half">
      {boxes.node.length === 0 && <p class="empty">{NONE[half]}</p>}
      <BoxCanvas
        boxes={boxes}
        paint={paint}
        range={part(seen ?? { from: 0, to: 1 }, whole)}
        onRange={(range) => setSeen(range && part(range, 1 / whole))}
        rootBelow={half === "callers"}
        label={`${half === "callers" ? "Callers" : "Callees"} of ${nameOf(of.fn)}: ${weightText(whole, true)}`}
        onPick={(box, row) => {
          const path = pathOf(boxes, box, row).map(key);
          pickedStack.value =
            half === "callers" ? [...path.reverse(), middle] : [middle, ...path];
          select({ picked: key(box), sandwich: { of: key(box), middle } });
        }}
        onZoom={(box) => select({ picked: key(box), sandwich: START.sandwich })}
        tip={(box, thin) => [
          ...boxTip(boxes, box, thin, of.whole),
          `${percent(thin && thin.boxes > 1 ? thin.weight : boxes.width[box], whole, byUnit(whole, Infinity))} of ${nameOf(of.fn)}`,
        ]}
      />
    </div>
  );
}
