// Functions by how much their shares changed; only the rows in sight are elements.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Comparison } from "../data/compare";
import type { SearchResult } from "../worker/messages";
import { functionOfKey } from "../state/live";
import { select, selection } from "../state/selection";
import { changeFill, points } from "./diff_colours";
import { percent } from "./format";
import { ROW_PX } from "./rows_in_sight";

const BEYOND = 8; // rows above and below those in sight
const BAR_PX = 40; // of the largest change

type Column = "total" | "self" | "name";

function sorted({ before, after, keys }: Comparison, by: Column): Int32Array {
  const rows = Int32Array.from(keys.keys());
  if (by === "name") {
    const names = keys.map((key) => key.slice(key.indexOf("!") + 1));
    return rows.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
  }
  const change = before[by].map((share, fn) => Math.abs(after[by][fn] - share));
  return rows.sort((a, b) => change[b] - change[a] || after[by][b] - after[by][a] || a - b);
}

export function CompareTable({
  result,
  search,
}: {
  result: Comparison;
  search: SearchResult | null;
}) {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [by, setBy] = useState<Column>("self");
  const rows = useMemo(() => sorted(result, by), [result, by]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setHeight(body.current!.clientHeight));
    observer.observe(body.current!);
    return () => observer.disconnect();
  }, []);
  const { picked } = selection.value;
  const at = rows.findIndex((fn) => result.keys[fn] === picked);
  const go = (row: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, row));
    select({ picked: result.keys[rows[next]] });
    const y = next * ROW_PX;
    const element = body.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = y + ROW_PX - element.clientHeight;
  };
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
  const first = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const shown = rows.subarray(first, Math.ceil((top + height) / ROW_PX) + BEYOND);
  const head = (column: Column, text: string, classes: string) => (
    <span class={classes} role="columnheader" aria-sort={by === column ? "descending" : "none"}>
      <button class="plain" onClick={() => setBy(column)}>
        {text}
        {by === column && " ↓"}
      </button>
    </span>
  );
  return (
    <div
      class="table half"
      role="table"
      aria-label="Functions, before and now"
      aria-rowcount={rows.length}
    >
      <div class="head" role="row">
        {head("self", "self change", "change")}
        <span class="number">before</span>
        <span class="number">now</span>
        {head("total", "total change", "change")}
        <span class="number">before</span>
        <span class="number">now</span>
        {head("name", "function", "name")}
      </div>
      <div
        class="body"
        role="rowgroup"
        ref={body}
        tabIndex={0}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
        onKeyDown={(event) => {
          if (!(event.key in steps)) return;
          event.preventDefault();
          go(at + steps[event.key]);
        }}
      >
        <div style={{ height: `${rows.length * ROW_PX}px` }}>
          {Array.from(shown, (fn, i) => (
            <Row
              key={fn}
              fn={fn}
              row={first + i}
              result={result}
              hit={search ? search.hits[functionOfKey(result.keys[fn])] === 1 : null}
              picked={first + i === at}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  fn: number;
  row: number;
  result: Comparison;
  hit: boolean | null; // null: nothing is searched for
  picked: boolean;
}

function Row({ fn, row, result, hit, picked }: RowProps) {
  const { before, after, keys, samples } = result;
  const [library, ...name] = keys[fn].split("!");
  const classes = ["row"];
  if (picked) classes.push("current", "picked");
  if (hit !== null) classes.push(hit ? "hit" : "miss");
  const cells = (by: "self" | "total") => {
    const [was, is] = [before[by][fn], after[by][fn]];
    return (
      <>
        <span class="change" role="cell">
          <i class="delta" style={bar(was, is)} />
          {points(was, is)}
        </span>
        <span class="number" role="cell">
          {percent(was, 1, was * samples[0])}
        </span>
        <span class="number" role="cell">
          {percent(is, 1, is * samples[1])}
        </span>
      </>
    );
  };
  return (
    <div
      class={classes.join(" ")}
      role="row"
      aria-rowindex={row + 1}
      style={{ top: `${row * ROW_PX}px` }}
      onClick={() => select({ picked: keys[fn] })}
    >
      {cells("self")}
      {cells("total")}
      <span class="name" role="cell">
        <bdi>{name.join("!")}</bdi>
        <bdi class="faint">{library}</bdi>
      </span>
    </div>
  );
}

/** From the middle to the right where it is more, to the left where it is less. */
function bar(was: number, is: number): Record<string, string> {
  const width = Math.min(1, Math.abs(is - was) * 4) * BAR_PX;
  const left = is > was ? BAR_PX : BAR_PX - width;
  return { left: `${left}px`, width: `${width}px`, background: changeFill(was, is) };
}
