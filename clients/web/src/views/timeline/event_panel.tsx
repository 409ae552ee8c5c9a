// All that is told of the picked event, and the samples inside it.
import type { Filter } from "../../data/filter";
import { levelOf, droppedBy } from "../../data/timeline/frames";
import type { EventDetails } from "../../data/timeline/details";
import { useAnswer } from "../../state/answer";
import { data, look, processName } from "../../state/live";
import { select, selection } from "../../state/selection";
import type { FunctionTable } from "../../worker/messages";
import { duration, grouped, percent } from "../parts/format";
import { LEVEL_WORDS } from "./frame_levels";

const MARKS = {
  Open: "It has not ended.",
  CutOff: "Its thread or process ended in it, or its end was lost.",
  NoBegin: "An end came without a begin.",
};
const PARTS = ["build", "raster", "vsyncOverhead"]; // of a frame, in microseconds
const AROUND = 0.2; // of its length, on both sides in the chart

interface Props {
  Hottest(props: { table: FunctionTable }): preact.JSX.Element | null;
}

export function EventPanel({ Hottest }: Props) {
  const { event: key } = selection.value;
  const event = useAnswer("event", { key });
  if (!event) return <p class="faint">This event is not in the profile any more.</p>;
  const zero_us = data.value?.extent_us?.[0] ?? 0;
  const rows: [string, string][] = [
    ["duration", event.kind === "instant" ? "a moment" : duration(event.duration)],
    ["start", `${((event.start_us - zero_us) / 1e6).toFixed(6)} s`],
    ["category", event.stream],
    ["thread", `${event.thread || "thread"} (${event.tid})`],
    ["process", processName(event.pid)],
    ...(event.kind === "frame" ? frameRows(event) : []),
    ...event.given.map(([name, value]): [string, string] => [
      name,
      event.kind === "frame" && PARTS.includes(name) ? duration(1000 * Number(value)) : String(value),
    ]),
  ];
  return (
    <>
      <h2 dir="auto">{event.name}</h2>
      {event.mark && <p class="warn">{MARKS[event.mark]}</p>}
      <table class="given">
        {rows.map(([name, value]) => (
          <tr>
            <th dir="auto">{name}</th>
            <td dir="auto">{value}</td>
          </tr>
        ))}
      </table>
      {event.kind !== "instant" && <Inside event={event} Hottest={Hottest} />}
    </>
  );
}

function frameRows({ number, perSecond, duration: ns }: EventDetails): [string, string][] {
  const budget = 1e9 / selection.value.refresh;
  const dropped = droppedBy(ns, budget);
  const level = levelOf(dropped) ? `, level ${LEVEL_WORDS[levelOf(dropped)]}` : "";
  return [
    ["frame", grouped(number)],
    ["budget", `${duration(budget)}${ns > budget ? `, over by ${duration(ns - budget)}` : ""}`],
    ["dropped", `${grouped(dropped)}${level}`],
    ["a second", grouped(perSecond)],
  ];
}

/** The samples of its thread meanwhile. */
function Inside({ event, Hottest }: Props & { event: EventDetails }) {
  const { start_us, duration: ns, tid, pid } = event;
  const window_us: [number, number] = [Math.floor(start_us), Math.max(Math.floor(start_us) + 1, Math.ceil(start_us + ns / 1000))];
  const { processes: _, window_us: __, ...rest } = look.value.filter;
  const filter: Filter = { ...rest, window_us, threads: [tid] };
  const asked = { ...look.value, filter: { ...filter, processes: [pid] } };
  const summary = useAnswer("summary", asked);
  const table = useAnswer("functions", asked);
  const around = AROUND * (window_us[1] - window_us[0]);
  return (
    <>
      <p>
        <button
          title="Keep only the samples of its thread from its start to its end, in all views"
          onClick={() => {
            const { until: _, until_us: __, ...kept } = filter;
            select({ filter: kept });
          }}
        >
          Select its window
        </button>{" "}
        <button
          title="Show it in the chart"
          onClick={() =>
            select({ view: "chart", chart: { seen_us: [window_us[0] - around, window_us[1] + around] } })
          }
        >
          Zoom to it
        </button>
      </p>
      {summary && (
        <p>
          {grouped(summary.count)} {summary.count === 1 ? "sample" : "samples"} inside it,{" "}
          {duration(summary.cpu_ns)} CPU
          {summary.count > 0 && ns > 0 && ` (${percent(summary.cpu_ns, ns, summary.count)} of it)`}
        </p>
      )}
      {table && <Hottest table={table} />}
    </>
  );
}
