// All functions of the selection as a table that can be sorted; below it who calls the picked one,
// and whom it calls.
import { useEffect, useId } from "preact/hooks";
import { useAnswer } from "../../state/answer";
import { byUnit, data, functionOfKey, keyOfFunction, libraryOf, look, nameOf, unitWord } from "../../state/live";
import { openMenu } from "../../state/page";
import { select, selection, START } from "../../state/selection";
import type { SearchResult, SortedFunctions } from "../../worker/messages";
import { FunctionName, Share, Weight, weightText } from "../parts/cells";
import { Empty } from "../parts/empty";
import { percent } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import { weightHeadings } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { Neighbourhood } from "./neighbourhood";

/** Of the column, in pixels: style.css has the same. */
const nameRoom = (width: number) =>
  (innerWidth < 1100 ? (width - 4 * 84) * 0.75 : 0.36 * innerWidth) - 24;

const BRIEF_PX = 180; // of two columns of shares, where it is brief

const pick = (fn: number) => select({ picked: keyOfFunction(fn), sandwich: START.sandwich });

export function useSortedFunctions(search: SearchResult | null): SortedFunctions | null {
  const { tableSort: sort, search: wanted } = selection.value;
  return useAnswer("table", { ...look.value, sort, search: search && wanted });
}

export function FunctionTable({ search }: { search: SearchResult | null }) {
  const table = useSortedFunctions(search);
  if (!table) return null;
  if (!table.whole.samples) return <Empty />;
  return (
    <div class="stacked">
      <div class="rest">
        <Functions table={table} current={selection.value.picked} />
      </div>
      <Neighbourhood whole={table.whole} />
    </div>
  );
}

interface Props {
  table: SortedFunctions;
  current: string; // functionKey
  brief?: boolean; // shares and names only
}

export function Functions({ table, current, brief }: Props) {
  const weights = byUnit(table.samples, table.time_ns);
  const whole = byUnit(table.whole.samples, table.whole.time_ns);
  const { rows, sort } = table;
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const fn = data.value ? functionOfKey(current) : -1;
  const at = rows.indexOf(fn);
  useEffect(() => {
    if (at >= 0) sight.reveal(at);
  }, [current, sort.by, sort.ascending, sight.height]); // it stays in sight when a banner comes
  const text = () => [
    ["total", "self", unitWord.value, `self ${unitWord.value}`, "function"],
    ...Array.from(rows, (one) => [
      percent(weights.total[one], whole, table.samples.total[one]),
      percent(weights.self[one], whole, table.samples.self[one]),
      weightText(weights.total[one]),
      weightText(weights.self[one]),
      `${nameOf(one)}  ${libraryOf(one).name}`,
    ]),
  ];
  return (
    <Grid
      kind={brief ? "functions brief" : "functions"}
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        return (
          <div
            key={one}
            class={one === fn ? "row current picked" : "row"}
            {...rowOf(index, one === fn ? id : undefined)}
            onClick={() => pick(one)}
            onContextMenu={(event) => {
              pick(one);
              openMenu(event);
            }}
          >
            <Share part={weights.total[one]} whole={whole} samples={table.samples.total[one]} />
            <Share part={weights.self[one]} whole={whole} samples={table.samples.self[one]} />
            <Weight weight={weights.total[one]} />
            <Weight weight={weights.self[one]} />
            <span class="name">
              <FunctionName fn={one} bare room={brief ? sight.width - BRIEF_PX : nameRoom(sight.width)} />
            </span>
            <bdi class="library faint">{libraryOf(one).name}</bdi>
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Functions; arrows select one"
      sorted="tableSort"
      headings={weightHeadings(true)}
      onKeyDown={(event) => sight.onKey(event, at, (next) => pick(rows[next]))}
      text={text}
    />
  );
}
