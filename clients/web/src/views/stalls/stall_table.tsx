// Stalls as a table. A click picks one: its time and its thread are selected, and it is shown in full below.
import { useId } from "preact/hooks";
import type { StallBrief } from "../../data/stalls/brief";
import { useAnswer } from "../../state/answer";
import { data, look } from "../../state/live";
import { selection } from "../../state/selection";
import { grouped } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import type { Heading } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { pickStall } from "./pick";
import { lengthText, nameOfLoop, secondsText } from "./words";

const HEADINGS: Heading[] = [
  ["number", "number nth", "no."],
  ["start", "number start", "at"],
  ["length", "number length", "duration"],
  ["level", "level", "level"],
  ["cause", "cause", "cause"],
  ["culprit", "name", "culprit"],
  ["caller", "caller", "in function"],
  ["loop", "loop", "loop"],
  ["thread", "thread", "thread"],
  ["equals", "number equals", "equals"],
];

export function StallTable() {
  const { stallSort: sort, search } = selection.value;
  const { until_us } = look.value.filter;
  const rows = useAnswer("stalls", { sort, search: search.text ? search : null, until_us });
  return rows && <Rows rows={rows} />;
}

function Rows({ rows }: { rows: StallBrief[] }) {
  const { stall } = selection.value;
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const zero_us = data.value?.extent_us?.[0] ?? 0;
  const at = rows.findIndex(({ number }) => number === stall);
  return (
    <Grid
      kind="stalls"
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        return (
          <div
            key={one.number}
            class={index === at ? "row current picked" : "row"}
            {...rowOf(index, index === at ? id : undefined)}
            onClick={() => pickStall(one)}
          >
            <Cells one={one} zero_us={zero_us} />
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Stalls; arrows pick one"
      empty="No matching stalls."
      sorted="stallSort"
      headings={HEADINGS}
      onKeyDown={(press) =>
        sight.onKey(press, at, (next) => {
          pickStall(rows[next]);
          sight.reveal(next);
        })
      }
      text={() => [
        HEADINGS.map(([, , title]) => title),
        ...rows.map((one) => [...cellsOf(one, zero_us)]),
      ]}
    />
  );
}

/** In the order of the headings. */
function cellsOf(one: StallBrief, zero_us: number): string[] {
  const { number, level, cause, culprit, caller, loop, thread, tid, equals } = one;
  const numbers = [grouped(number), secondsText(one.start_us[0], zero_us, 2), lengthText(one)];
  return [...numbers, level, cause, culprit, caller, nameOfLoop(one), thread === loop ? String(tid) : `${thread} (${tid})`, grouped(equals)];
}

function Cells({ one, zero_us }: { one: StallBrief; zero_us: number }) {
  return (
    <>
      {cellsOf(one, zero_us).map((text, i) => {
        const [by, kind] = HEADINGS[i];
        if (by === "level")
          return (
            <span class={kind}>
              <i class={`swatch ${one.level}`} /> {text}
            </span>
          );
        return (
          <span class={kind}>
            <bdi title={text}>{text}</bdi>
          </span>
        );
      })}
    </>
  );
}
