// Functions by how much their shares changed.
import { useEffect, useId, useMemo } from "preact/hooks";
import type { Comparison } from "../../data/layouts/compare";
import { shortName } from "../../data/short_name";
import { orderOf, type Sort } from "../../data/sort";
import type { SearchResult } from "../../worker/messages";
import { functionOfKey } from "../../state/live";
import { openMenu } from "../../state/page";
import { select, selection } from "../../state/selection";
import { changeFill, points } from "./diff_colours";
import { percent } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import { useRowsInSight } from "../parts/rows_in_sight";

const NUMBERS_PX = 2 * (140 + 2 * 84); // all columns of numbers
const NAME_PART = 0.75; // of what is left: the library stands behind it
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
  }, [picked, compareSort, sight.height]); // it stays in sight when a banner comes
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
    <Grid
      sight={sight}
      count={rows.length}
      row={(index) => (
        <Row
          key={rows[index]}
          id={index === at ? id : undefined}
          fn={rows[index]}
          row={index}
          result={result}
          hit={isHit(rows[index])}
          room={(sight.width - NUMBERS_PX) * NAME_PART}
        />
      )}
      current={at >= 0 ? id : undefined}
      label="Functions, before and now; arrows select one"
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
      onKeyDown={(event) => sight.onKey(event, at, (next) => select({ picked: keys[rows[next]] }))}
      text={text}
    />
  );
}

interface RowProps {
  id: string | undefined; // of the one that is picked
  fn: number;
  row: number;
  result: Comparison;
  hit: boolean | null; // null: nothing is searched for
  room: number; // for the name, in pixels
}

function Row({ id, fn, row, result, hit, room }: RowProps) {
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
      {...rowOf(row, id)}
      onClick={() => select({ picked: keys[fn] })}
      onContextMenu={(event) => {
        select({ picked: keys[fn] });
        openMenu(event);
      }}
    >
      {cells("self")}
      {cells("total")}
      <span class="name" role="gridcell">
        <bdi title={shortKey(keys[fn])}>{shortName(shortKey(keys[fn]), Math.max(12, Math.floor(room / 7)))}</bdi>
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
