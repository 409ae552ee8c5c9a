// Two parts of what was recorded, or a file and what is shown: a differential flame graph above, a table
// below. Orange: more than before; blue: less.
import { useMemo } from "preact/hooks";
import type { Comparison } from "../../data/layouts/compare";
import type { Compared, SearchResult } from "../../worker/messages";
import { useAnswer } from "../../state/answer";
import { data, files, functionOfKey, isTime, kindShown, look } from "../../state/live";
import { select, selection } from "../../state/selection";
import { BoxCanvas } from "../boxes/box_canvas";
import type { BoxPaint } from "../boxes/box_draw";
import { ink, isDark } from "../parts/colours";
import { compareWithWindow, keepMoment } from "./begin";
import { CompareTable, shortKey } from "./compare_table";
import { changeFill, points } from "./diff_colours";
import { openByHand } from "../files/drop";
import { pathOf } from "../boxes/box_place";
import { handZoom, rangeOf } from "../flame/flame";
import { timeText } from "../parts/cells";
import { grouped, percent } from "../parts/format";

function seconds(window_us: readonly [number, number]): string {
  const from = data.value?.extent_us?.[0] ?? 0;
  return window_us.map((at) => ((at - from) / 1e6).toFixed(2)).join(" – ") + " s";
}

function Sides({ result }: { result: Compared | null }) {
  const { isMoment } = kindShown.value;
  const { before, filter } = selection.value;
  const { window_us } = look.value.filter;
  const file = files.value.compared;
  const was =
    before.kind === "file"
      ? (file?.name ?? "a file")
      : before.window_us && seconds(before.window_us);
  const now = window_us ? seconds(window_us) : isMoment ? "this moment" : "everything";
  const isTimeless = isTime.value && before.kind === "file" && file?.timeless;
  const of = (side: 0 | 1) => result && (
      <i class="faint">
        {result.isTime ? timeText(result.samples[side]) : `${grouped(result.samples[side])} samples`}
      </i>
    );
  const swap = () => {
    if (!before.window_us || !filter.window_us) return;
    const swapped = { kind: "window" as const, window_us: filter.window_us };
    select({ before: swapped, filter: { ...filter, window_us: before.window_us } });
  };
  return (
    <div class="sides">
      <span>
        <i class="swatch" style={{ background: ink.value.before }} /> before:{" "}
        <b dir="auto">{was || "–"}</b> {of(0)} {isTimeless && <i class="faint">no times</i>}
        {before.kind && (
          <button
            class="close"
            aria-label="Remove the baseline"
            title="Remove the baseline"
            onClick={() => select({ before: { kind: "" } })}
          >
            ×
          </button>
        )}
      </span>
      <span>
        now: <b>{now}</b> {of(1)}
      </span>
      {isMoment ? (
        <button title="c" onClick={keepMoment}>
          Take this moment as before
        </button>
      ) : (
        <button disabled={!filter.window_us} title="c" onClick={compareWithWindow}>
          Take this window as before
        </button>
      )}
      {isTime.value && <button onClick={() => openByHand("compared")}>Compare with a file…</button>}
      {file && before.kind !== "file" && (
        <button dir="auto" onClick={() => select({ before: { kind: "file" } })}>
          {file.name}
        </button>
      )}
      {before.kind === "window" && (
        <button disabled={!filter.window_us} onClick={swap}>
          Swap
        </button>
      )}
      <i class="space" />
      <span>
        <i class="swatch" style={{ background: changeFill(1, 0) }} /> less{" "}
        <i class="swatch" style={{ background: changeFill(0, 1) }} /> more
      </span>
    </div>
  );
}

function Missing() {
  const { before } = selection.value;
  const { isMoment, noun } = kindShown.value;
  if (!isTime.value && before.kind === "file" && files.value.compared)
    return <p class="empty">{files.value.compared.name} has no samples of what is {noun}.</p>;
  if (isMoment)
    return (
      <p class="empty">
        Take this moment as baseline, and compare later ones with it: what became more was allocated since, and not
        freed.
      </p>
    );
  return (
    <p class="empty">
      {before.kind === "file"
        ? "The file was closed. Open it again to compare."
        : "Select a range above and use it as baseline, then select another. Or drop a file here."}
    </p>
  );
}

/** Hits are numbers of the profile; the boxes' are the comparison's own. */
function paintOf(result: Comparison, search: SearchResult | null, picked: string): BoxPaint {
  const { boxes, keys, boxBefore, boxAfter } = result;
  const hit = search && keys.map((key) => search.hits[functionOfKey(key)] === 1);
  return {
    ink: ink.value,
    letters: ink.value.text,
    fill: (box) => changeFill(boxBefore[box], boxAfter[box]),
    label: (box) => shortKey(keys[boxes.fn[box]]),
    emphasis: (box) => (!hit ? 1 : hit[boxes.fn[box]] ? 2 : 0),
    isPicked: (box) => picked !== "" && keys[boxes.fn[box]] === picked,
  };
}

export function Compare({ search }: { search: SearchResult | null }) {
  const { before, picked, zoom, rootBelow } = selection.value;
  const isAny = before.kind && !(kindShown.value.isMoment && before.kind === "window");
  const result = useAnswer("compare", isAny ? { ...look.value, before } : null);
  const paint = useMemo(
    () => result && paintOf(result, search, picked),
    [result, search, picked, isDark.value],
  );
  const range = useMemo(
    () => result && rangeOf(result.boxes, zoom, (fn) => result.keys[fn]),
    [result, zoom],
  );
  if (!isAny || !result || !paint || !range)
    return (
      <div class="stacked">
        <Sides result={null} />
        <Missing />
      </div>
    );
  const { boxes, keys, boxBefore, boxAfter } = result;
  return (
    <div class="stacked">
      <Sides result={result} />
      <div class="rest">
        <BoxCanvas
          boxes={boxes}
          paint={paint}
          {...handZoom(boxes, range)}
          rootBelow={rootBelow}
          label="Differential flame graph. The table below shows the same as rows."
          onPick={(box) => select({ picked: keys[boxes.fn[box]] })}
          onZoom={(box, row) => {
            const path = pathOf(boxes, box, row).map((one) => keys[boxes.fn[one]]);
            select({ zoom: path });
          }}
          tip={(box, thin) => [
            thin && thin.boxes > 1
              ? `${grouped(thin.boxes)} frames under 1 px`
              : shortKey(keys[boxes.fn[box]]),
            ...(thin
              ? []
              : [
                  `${percent(boxBefore[box], 1)} before, ${percent(boxAfter[box], 1)} now`,
                  points(boxBefore[box], boxAfter[box]),
                ]),
          ]}
        />
      </div>
      <div class="rest below">
        <CompareTable result={result} search={search} />
      </div>
    </div>
  );
}
