// Functions by how much their shares changed.
import { useEffect, useId, useMemo } from "preact/hooks";
import type { Comparison } from "../data/compare";
import { orderOf, type Sort } from "../data/sort";
import type { SearchResult } from "../worker/messages";
import { functionOfKey } from "../state/live";
import { select, selection } from "../state/selection";
import { copyTable } from "./aligned";
import { changeFill, points } from "./diff_colours";
import { percent } from "./format";
import { Head } from "./head";
import { ROW_PX, useRowsInSight } from "./rows_in_sight";

const BAR_PX = 40; // of a change of a quarter or more

export const shortKey = (key: string) => key.slice(key.indexOf("!") + 1);
const libraryOfKey = (key: string) => key.slice(0, key.indexOf("!"));

/** By how much a share changed, whichever way; what changed alike: what is the most now. */
function sorted({ before, after, keys }: Comparison, sort: Sort): Int32Array {
  const change = (of: "self" | "total") =>
    before[of].map((share, fn) => Math.abs(after[of][fn] - share));
  const columns = {
    total: change("total"),
    self: change("self"),
    name: keys.map(shortKey),
    library: keys.map(libraryOfKey),
  };
  const now = after[sort.by === "self" ? "self" : "total"];
  return Int32Array.from(keys.keys()).sort(orderOf(sort, columns, [now]));
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
  const { picked, compareSort } = selection.value;
  const rows = useMemo(() => sorted(result, compareSort), [result, compareSort]);
  const sight = useRowsInSight(rows.length);
  const id = useId();
  const at = rows.findIndex((fn) => keys[fn] === picked);
  useEffect(() => {
    if (at >= 0) sight.reveal(at);
  }, [picked, compareSort]);
  const text = () => [
    ["self", "before", "now", "total", "before", "now", "function"],
    ...Array.from(rows, (fn) => [
      ...cellsOf(result, "self", fn),
      ...cellsOf(result, "total", fn),
      `${shortKey(keys[fn])}  ${libraryOfKey(keys[fn])}`,
    ]),
  ];
  const isHit = (fn: number) => search && search.hits[functionOfKey(keys[fn])] === 1;
  return (
    <div
      class="table"
      role="grid"
      aria-label="Functions, before and now; arrows pick one"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at >= 0 ? id : undefined}
      tabIndex={0}
      onKeyDown={(event) => sight.onKey(event, at, (next) => select({ picked: keys[rows[next]] }))}
      onCopy={(event) => copyTable(event, text)}
    >
      <Head
        sorted="compareSort"
        headings={[
          ["self", "change", "self"],
          ["", "number", "before"],
          ["", "number", "now"],
          ["total", "change", "total"],
          ["", "number", "before"],
          ["", "number", "now"],
          ["name", "name", "function"],
          ["library", "library", "library"],
        ]}
      />
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
