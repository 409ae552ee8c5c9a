// Frames as a table: a click picks one, a double click or Enter selects its time.
import { useId } from "preact/hooks";
import type { FrameTable as Table } from "../../data/timeline/frame_table";
import { useAnswer } from "../../state/answer";
import { data, look } from "../../state/live";
import { select, selection } from "../../state/selection";
import { ink } from "../parts/colours";
import { duration, grouped } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import type { Heading } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { levelColour, LEVEL_WORDS } from "./frame_levels";
import { selectWindow } from "./window_of";

const HEADINGS: Heading[] = [
  ["number", "number nth", "no."],
  ["start", "number start", "start"],
  ["elapsed", "share", "elapsed"],
  ["build", "number build", "build"],
  ["raster", "number raster", "raster"],
  ["dropped", "number dropped", "dropped"],
  ["level", "level", "level"],
  ["name", "name", "frames"],
];

export function FrameTable() {
  const { frameSort: sort, search, refresh } = selection.value;
  const { filter } = look.value;
  const table = useAnswer("frames", { filter, refresh, sort, search: search.text ? search : null });
  return table && <Rows table={table} />;
}

function Rows({ table }: { table: Table }) {
  const { rows, elapsed, level, names, keys } = table;
  const { event, refresh } = selection.value;
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const budget = 1e9 / refresh;
  const zero_us = data.value?.extent_us?.[0] ?? 0;
  const whole = rows.reduce((most, one) => Math.max(most, elapsed[one]), 1);
  const at = event ? rows.findIndex((one) => keys[one] === event) : -1;
  const windowOf = (one: number) => selectWindow(table.start_us[one], elapsed[one]);
  const cells = (one: number) => [
    grouped(table.number[one]),
    `${((table.start_us[one] - zero_us) / 1e6).toFixed(4)} s`,
    duration(elapsed[one]),
    ...[table.build[one], table.raster[one]].map((ns) => (ns === ns ? duration(ns) : "")),
    table.dropped[one] ? grouped(table.dropped[one]) : "",
    elapsed[one] > budget ? LEVEL_WORDS[level[one]] : "",
  ];
  return (
    <Grid
      kind="functions frames"
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        return (
          <div
            key={one}
            class={index === at ? "row current picked" : "row"}
            {...rowOf(index, index === at ? id : undefined)}
            onClick={() => select({ event: keys[one] })}
            onDblClick={() => windowOf(one)}
          >
            {cells(one).map((text, i) => (
              <span class={HEADINGS[i][1]}>
                {i === 2 && <i class="bar" style={{ width: `${(100 * elapsed[one]) / whole}%` }} />}
                {i === 6 && text && <i class="swatch" style={{ background: levelColour(level[one], true, ink.value) }} />} {text}
              </span>
            ))}
            <span class="name">
              <bdi title={names[one]}>{names[one]}</bdi>
            </span>
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Frames; arrows pick one, Enter selects its time"
      empty="No matching frames here."
      sorted="frameSort"
      headings={HEADINGS}
      onKeyDown={(press) => {
        if (press.key === "Enter" && at >= 0) return windowOf(rows[at]);
        sight.onKey(press, at, (next) => {
          select({ event: keys[rows[next]] });
          sight.reveal(next);
        });
      }}
      text={() => [HEADINGS.map(([, , title]) => title), ...Array.from(rows, (one) => [...cells(one), names[one]])]}
    />
  );
}
