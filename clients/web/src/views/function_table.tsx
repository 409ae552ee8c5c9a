// All functions of the selection as a table that can be sorted; below it who calls the picked one,
// and whom it calls.
import { useEffect, useId, useMemo } from "preact/hooks";
import { functionRows } from "../data/function_rows";
import { useAnswer } from "../state/answer";
import { data, functionOfKey, keyOfFunction, libraryOf, look, nameOf } from "../state/live";
import { select, selection } from "../state/selection";
import type { FunctionTable as Table, SearchResult } from "../worker/messages";
import { copyTable } from "./aligned";
import { FunctionName, Share, Weight, weightText } from "./cells";
import { Empty } from "./empty";
import { percent } from "./format";
import { Head, weightHeadings } from "./head";
import { Neighbourhood } from "./neighbourhood";
import { ROW_PX, useRowsInSight } from "./rows_in_sight";

const pick = (fn: number) => select({ picked: keyOfFunction(fn) });

export function FunctionTable({ search }: { search: SearchResult | null }) {
  const table = useAnswer("functions", look.value);
  if (!table) return null;
  if (!table.whole.samples) return <Empty />;
  return (
    <div class="stacked">
      <div class="rest">
        <Functions table={table} search={search} />
      </div>
      <Neighbourhood whole={table.whole} />
    </div>
  );
}

function Functions({ table, search }: { table: Table; search: SearchResult | null }) {
  const { unit, picked, tableSort } = selection.value;
  const weights = unit === "samples" ? table.samples : table.time_ns;
  const whole = unit === "samples" ? table.whole.samples : table.whole.time_ns;
  const hits = search?.hits ?? null;
  const rows = useMemo(() => {
    const library = (fn: number) => libraryOf(fn).name;
    return functionRows(weights, tableSort, hits, { name: nameOf, library });
  }, [weights, tableSort, hits]);
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const fn = data.value ? functionOfKey(picked) : -1;
  const at = rows.indexOf(fn);
  useEffect(() => {
    if (at >= 0) sight.reveal(at);
  }, [picked, tableSort]);
  const text = () => [
    ["total", "self", unit, "self", "function"],
    ...rows.map((one) => [
      percent(weights.total[one], whole, table.samples.total[one]),
      percent(weights.self[one], whole, table.samples.self[one]),
      weightText(weights.total[one], unit),
      weightText(weights.self[one], unit),
      `${nameOf(one)}  ${libraryOf(one).name}`,
    ]),
  ];
  return (
    <div
      class="table functions"
      role="grid"
      aria-label="Functions; arrows pick one"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at >= 0 ? id : undefined}
      tabIndex={0}
      onKeyDown={(event) => sight.onKey(event, at, (next) => pick(rows[next]))}
      onCopy={(event) => copyTable(event, text)}
    >
      <Head sorted="tableSort" headings={weightHeadings(unit, true)} />
      <div class="body" ref={sight.body} role="rowgroup" onScroll={sight.onScroll}>
        <div style={{ height: `${rows.length * ROW_PX}px` }}>
          {rows.slice(sight.first, sight.last).map((one, i) => (
            <div
              key={one}
              class={one === fn ? "row current picked" : "row"}
              role="row"
              id={one === fn ? id : undefined}
              aria-rowindex={sight.first + i + 2}
              aria-selected={one === fn}
              style={{ top: `${(sight.first + i) * ROW_PX}px` }}
              onClick={() => pick(one)}
            >
              <Share part={weights.total[one]} whole={whole} samples={table.samples.total[one]} />
              <Share part={weights.self[one]} whole={whole} samples={table.samples.self[one]} />
              <Weight weight={weights.total[one]} unit={unit} />
              <Weight weight={weights.self[one]} unit={unit} />
              <span class="name">
                <FunctionName fn={one} bare />
              </span>
              <bdi class="library faint">{libraryOf(one).name}</bdi>
            </div>
          ))}
        </div>
        {!rows.length && <p class="empty">No function of the selection is found by the search.</p>}
      </div>
    </div>
  );
}
