// Loops as a table: what their dispatches took, how late they ran, why they stalled. A click selects one's thread.
import { useId } from "preact/hooks";
import { type LoopTable as Table, stallsOf } from "../../data/stalls/loops";
import type { Loop } from "../../wire/protocol";
import { select, selection } from "../../state/selection";
import { duration, grouped } from "../parts/format";
import { Grid, rowOf } from "../parts/grid";
import type { Heading } from "../parts/head";
import { useRowsInSight } from "../parts/rows_in_sight";
import { rangeText } from "./words";

const HEADINGS: Heading[] = [
  ["name", "name", "loop"],
  ["thread", "thread", "thread"],
  ["kind", "kind", "known by"],
  ["busy", "busy", "now"],
  ["dispatches", "number count", "dispatches"],
  ["p50", "number p50", "p50"],
  ["p95", "number p95", "p95"],
  ["p99", "number p99", "p99"],
  ["most", "number most", "max"],
  ["delay", "number delay", "delay p95"],
  ["blocking", "number blocking", "blocked"],
  ["stalls", "number stall-count", "stalls"],
  ["", "causes", "causes"],
];

function pickLoop({ tid }: Loop): void {
  const { processes: _, threads, ...filter } = selection.value.filter;
  const isPicked = threads?.length === 1 && threads[0] === tid;
  select({ filter: isPicked ? filter : { ...filter, threads: [tid] } });
}

export function LoopTable({ loops: { loops: rows } }: { loops: Table }) {
  const id = useId();
  const sight = useRowsInSight(rows.length);
  const { threads } = selection.value.filter;
  const at = threads?.length === 1 ? rows.findIndex(({ tid }) => tid === threads[0]) : -1;
  return (
    <Grid
      kind="loops"
      sight={sight}
      count={rows.length}
      row={(index) => {
        const one = rows[index];
        const cells = cellsOf(one);
        return (
          <div
            key={one.number}
            class={`row${index === at ? " current" : ""}${one.ended || !one.watched ? " faint" : ""}`}
            {...rowOf(index, index === at ? id : undefined)}
            onClick={() => pickLoop(one)}
          >
            {cells.map((text, i) => (
              <span class={`${HEADINGS[i][1]}${HEADINGS[i][0] === "busy" && one.busy ? " warn" : ""}`}>
                <bdi title={text}>{text}</bdi>
              </span>
            ))}
          </div>
        );
      }}
      current={at >= 0 ? id : undefined}
      label="Loops; arrows select the thread of one"
      empty="No loops."
      sorted="loopSort"
      headings={HEADINGS}
      onKeyDown={(press) =>
        sight.onKey(press, at, (next) => {
          pickLoop(rows[next]);
          sight.reveal(next);
        })
      }
      text={() => [HEADINGS.map(([, , title]) => title), ...rows.map(cellsOf)]}
    />
  );
}

function standing({ ended, watched, busy }: Loop): string {
  if (ended) return "ended";
  if (!watched) return "not watched";
  return busy ? "busy" : "idle";
}

/** In the order of the headings. */
function cellsOf(one: Loop): string[] {
  const { dispatch, delay, causes } = one;
  const range = (times: Loop["delay"], of: "p50" | "p95" | "p99" | "max") => (times.count ? rangeText(times[of]) : "");
  const why = Object.entries(causes).filter(([, count]) => count > 0);
  return [
    one.name || one.thread,
    one.thread === one.name ? String(one.tid) : `${one.thread} (${one.tid})`,
    one.kind,
    standing(one),
    grouped(one.dispatches),
    ...(["p50", "p95", "p99", "max"] as const).map((of) => range(dispatch, of)),
    range(delay, "p95"),
    duration(1000 * one.blockingMicros),
    grouped(stallsOf(one)),
    why.map(([cause, count]) => `${grouped(count)} ${cause}`).join(", "),
  ];
}
