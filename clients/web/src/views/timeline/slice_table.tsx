// Slices by name as a table: how many, how long in all, the usual and the longest. A click picks the longest one.
import { useId } from "preact/hooks";
import type { SliceTable as Table } from "../../data/timeline/sums";
import { useAnswer } from "../../state/answer";
import { look } from "../../state/live";
import { select, selection } from "../../state/selection";
import { fill } from "../parts/colours";
import { duration, grouped } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import type { Heading } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";

const HEADINGS: Heading[] = [
  ["total", "share", "total"],
  ["count", "number count", "count"],
  ["p50", "number p50", "p50"],
  ["p95", "number p95", "p95"],
  ["most", "number most", "max"],
  ["name", "name", "slice"],
  ["stream", "library", "category"],
];

export function SliceTable() {
  const { sliceSort: sort, search } = selection.value;
  const { filter } = look.value;
  const table = useAnswer("slices", { filter, sort, search: search.text ? search : null });
  if (!table) return null;
  return <Rows table={table} />;
}

function Rows({ table }: { table: Table }) {
  const { rows, total } = table;
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const whole = total.reduce((a, b) => Math.max(a, b), 0);
  const { event } = selection.value;
  const at = rows.findIndex((one) => table.longest[one] === event);
  const pick = (index: number) => select({ event: table.longest[rows[index]] });
  const numbers = (one: number) => [
    grouped(table.count[one]),
    ...[table.p50, table.p95, table.most].map((column) => duration(column[one])),
  ];
  return (
    <Grid
      kind="functions slices"
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        const cells = numbers(one);
        return (
          <div
            key={one}
            class={index === at ? "row current picked" : "row"}
            {...rowOf(index, index === at ? id : undefined)}
            onClick={() => pick(index)}
          >
            <span class="share">
              <i class="bar" style={{ width: `${(100 * total[one]) / (whole || 1)}%` }} />
              {duration(total[one])}
            </span>
            {cells.map((text, i) => (
              <span class={HEADINGS[i + 1][1]}>{text}</span>
            ))}
            <span class="name">
              <i class="swatch" style={{ background: fill(table.slots[one], "kind") }} />
              <bdi title={table.names[one]}>{table.names[one]}</bdi>
            </span>
            <bdi class="library faint">{table.streams[one]}</bdi>
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Slices by name; arrows pick the longest of one"
      empty="No matching slices here."
      sorted="sliceSort"
      headings={HEADINGS}
      onKeyDown={(press) =>
        sight.onKey(press, at, (next) => {
          pick(next);
          sight.reveal(next);
        })
      }
      text={() => [
        ["total", "count", "p50", "p95", "max", "slice"],
        ...Array.from(rows, (one) => [duration(total[one]), ...numbers(one), `${table.names[one]}  ${table.streams[one]}`]),
      ]}
    />
  );
}
