// Functions by how much their shares changed.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import type { Comparison } from "../data/compare";
import type { SearchResult } from "../worker/messages";
import { functionOfKey } from "../state/live";
import { select, selection } from "../state/selection";
import { copyTable } from "./aligned";
import { changeFill, points } from "./diff_colours";
import { percent } from "./format";
import { ROW_PX, rowAfter, useRowsInSight } from "./rows_in_sight";

const BAR_PX = 40; // of a change of a quarter or more

type Column = "total" | "self" | "name";

export const shortKey = (key: string) => key.slice(key.indexOf("!") + 1);
const libraryOfKey = (key: string) => key.slice(0, key.indexOf("!"));

function sorted({ before, after, keys }: Comparison, by: Column): Int32Array {
  const rows = Int32Array.from(keys.keys());
  if (by === "name") {
    const names = keys.map(shortKey);
    return rows.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
  }
  const change = before[by].map((share, fn) => Math.abs(after[by][fn] - share));
  return rows.sort((a, b) => change[b] - change[a] || after[by][b] - after[by][a] || a - b);
}

/** Before, now and the change of a share, as text. */
function cellsOf(
  { before, after, samples }: Comparison,
  by: "self" | "total",
  fn: number,
): string[] {
  const [was, is] = [before[by][fn], after[by][fn]];
  return [points(was, is), percent(was, 1, was * samples[0]), percent(is, 1, is * samples[1])];
}

interface Props {
  result: Comparison;
  search: SearchResult | null;
}

export function CompareTable({ result, search }: Props) {
  const { keys } = result;
  const [by, setBy] = useState<Column>("self");
  const rows = useMemo(() => sorted(result, by), [result, by]);
  const sight = useRowsInSight(rows.length);
  const id = useId();
  const { picked } = selection.value;
  const at = rows.findIndex((fn) => keys[fn] === picked);
  useEffect(() => {
    if (at >= 0) sight.reveal(at);
  }, [picked, by]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const next = rowAfter(event.key, at, rows.length, sight.page);
    if (next === null || !rows.length) return;
    event.preventDefault();
    select({ picked: keys[rows[next]] });
  };
  const text = () => [
    ["self", "before", "now", "total", "before", "now", "function"],
    ...Array.from(rows, (fn) => [
      ...cellsOf(result, "self", fn),
      ...cellsOf(result, "total", fn),
      `${shortKey(keys[fn])}  ${libraryOfKey(keys[fn])}`,
    ]),
  ];
  const head = (column: Column, title: string, kind: string) => (
    <span class={kind} role="columnheader" aria-sort={by === column ? "descending" : "none"}>
      <button onClick={() => setBy(column)}>
        {title}
        {by === column && " ▾"}
      </button>
    </span>
  );
  const plain = (title: string) => (
    <span class="number" role="columnheader">
      {title}
    </span>
  );
  const isHit = (fn: number) => search && search.hits[functionOfKey(keys[fn])] === 1;
  return (
    <div
      class="table"
      role="grid"
      aria-label="Functions, before and now; arrows pick one"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at >= 0 ? id : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onCopy={(event) => copyTable(event, text)}
    >
      <div class="head" role="row">
        {head("self", "self", "change")}
        {plain("before")}
        {plain("now")}
        {head("total", "total", "change")}
        {plain("before")}
        {plain("now")}
        {head("name", "function", "name")}
      </div>
      <div class="body" ref={sight.body} role="rowgroup" onScroll={sight.onScroll}>
        <div style={{ height: `${rows.length * ROW_PX}px` }}>
          {Array.from(rows.subarray(sight.first, sight.last), (fn, i) => (
            <Row
              key={fn}
              id={sight.first + i === at ? id : undefined}
              fn={fn}
              row={sight.first + i}
              result={result}
              hit={isHit(fn)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  id: string | undefined; // of the one that is picked
  fn: number;
  row: number;
  result: Comparison;
  hit: boolean | null; // null: nothing is searched for
}

function Row({ id, fn, row, result, hit }: RowProps) {
  const { before, after, keys } = result;
  const classes = ["row"];
  if (id) classes.push("current", "picked");
  if (hit !== null) classes.push(hit ? "hit" : "miss");
  const cells = (by: "self" | "total") => {
    const [change, was, is] = cellsOf(result, by, fn);
    return (
      <>
        <span class="change" role="gridcell">
          <i class="delta" style={bar(before[by][fn], after[by][fn])} />
          {change}
        </span>
        <span class="number" role="gridcell">
          {was}
        </span>
        <span class="number" role="gridcell">
          {is}
        </span>
      </>
    );
  };
  return (
    <div
      class={classes.join(" ")}
      role="row"
      id={id}
      aria-rowindex={row + 2}
      aria-selected={id !== undefined}
      style={{ top: `${row * ROW_PX}px` }}
      onClick={() => select({ picked: keys[fn] })}
    >
      {cells("self")}
      {cells("total")}
      <span class="name" role="gridcell">
        <bdi>{shortKey(keys[fn])}</bdi>
        <bdi class="faint">{libraryOfKey(keys[fn])}</bdi>
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
