// Chrome's Trace Event format, of what programs told: slices, instants, counters, flows, frames; no samples.
//
// An asynchronous pair is told where it began, under a number of its own. Lost: flows of one point, halves that
// nothing answered, ids.
import type { Filter } from "../filter";
import type { Value } from "../timeline/arguments";
import { NO_BEGIN, type Row, type Timeline } from "../timeline/timeline";

type Bytes = Uint8Array<ArrayBuffer>;
type Emit = (event: object) => void;

const ENOUGH = 50_000; // events, of one piece of text: a whole timeline is more than a text can hold

/** What overlaps the filter's window, of its threads; every pair and each counter of the window. */
export function writeTrace(timeline: Timeline, { window_us, until_us, threads, processes }: Filter): Bytes {
  const [pieces, finish] = textOf();
  const [from, to] = [window_us?.[0] ?? -Infinity, Math.min(window_us?.[1] ?? Infinity, until_us ?? Infinity)];
  const ns = (time_us: number) => 1000 * (time_us - timeline.origin_us);
  const at = (time: number) => timeline.origin_us + time / 1000;
  const overlaps = (start: number, end: number) => start < ns(to) && end >= ns(from);
  const isChosen = timeline.threads.map(
    ({ pid, tid }) => (!processes || processes.includes(pid)) && (!threads || threads.includes(tid)),
  );
  const base = (label: number, thread: number, time: number) => ({
    ...{ name: nameOf(timeline.nameOf(label)), cat: timeline.streamOf(label), pid: timeline.threads[thread].pid },
    ...{ tid: timeline.threads[thread].tid, ts: at(time) },
  });
  timeline.threads.forEach(({ pid, tid, name, rows }, thread) => {
    if (!isChosen[thread]) return;
    pieces({ name: "thread_name", ph: "M", pid, tid, args: { name } });
    for (const row of rows.values())
      eachOf(timeline, row, (label, start, duration, serial, given, mark) => {
        if (!overlaps(start, start + duration)) return;
        const one = base(label, thread, start);
        const args = Object.fromEntries(mark ? [...given, ["_mark", mark]] : given);
        const id = (timeline.numbers.get(serial) ?? serial).toString(16);
        if (row.key === "i") pieces({ ...one, ph: "i", s: "t", args });
        else if (row.key < ":") pieces({ ...one, ph: "X", dur: duration / 1000, args });
        else {
          pieces({ ...one, ph: "b", id, args });
          if (mark !== "Open") pieces({ ...base(label, thread, start + duration), ph: "e", id });
        }
      });
  });
  for (const { pid, name, series } of timeline.counters.values())
    for (let i = 0; i < series.length; i++)
      if ((!processes || processes.includes(pid)) && overlaps(series.time.data[i], series.time.data[i]))
        pieces({ name, ph: "C", pid, tid: pid, ts: at(series.time.data[i]), args: { value: series.value.data[i] } });
  let flow = 0;
  for (const { from: one, to: other, label } of timeline.flows.in(ns(from), ns(to), Infinity) ?? []) {
    if (!isChosen[one.thread] || !isChosen[other.thread]) continue;
    const id = (++flow).toString(16);
    pieces({ ...base(label, one.thread, one.time), ph: "s", id, bp: "e" });
    pieces({ ...base(label, other.thread, other.time), ph: "f", id, bp: "e" });
  }
  return finish();
}

/** As `isoscope export` names it. */
const nameOf = (name: string) => (name === NO_BEGIN ? `(${name})` : name);

type Each = (label: number, start: number, duration: number, serial: number, given: [string, Value][], mark: string) => void;

function eachOf(timeline: Timeline, { track, open }: Row, each: Each): void {
  const [start, duration, label, serials] = [track.start.data, track.duration.data, track.label.data, track.serial.data];
  for (let i = 0; i < track.length; i++)
    each(label[i], start[i], duration[i], serials[i], timeline.arguments.of(serials[i]), timeline.marks.get(serials[i]) ?? "");
  for (const one of open) each(one.label, one.start, one.duration, 0, one.given, "Open");
}

function textOf(): [Emit, () => Bytes] {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  let lines: string[] = [];
  const flush = () => {
    if (lines.length) pieces.push(encoder.encode((pieces.length ? ",\n" : '{"displayTimeUnit":"ms","traceEvents":[') + lines.join(",\n")));
    lines = [];
  };
  const finish = () => {
    flush();
    pieces.push(encoder.encode(pieces.length ? "]}\n" : '{"traceEvents":[]}\n'));
    const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const piece of pieces) {
      whole.set(piece, end);
      end += piece.length;
    }
    return whole;
  };
  return [(event) => void (lines.push(JSON.stringify(event)) >= ENOUGH && flush()), finish];
}
