// The flame chart: the stacks of threads in the order of time, each thread a band below one scale.
import { useMemo, useRef, useState } from "preact/hooks";
import { groupOf } from "../../data/group";
import { JOINED } from "../../data/layouts/flame_layout";
import type { ThreadInfo } from "../../data/profile";
import { useAnswer } from "../../state/answer";
import {
  data,
  keyOfFunction,
  libraryOf,
  look,
  nameOf,
  placeOfFunction,
  processName,
} from "../../state/live";
import { legend } from "../../state/colouring";
import { pickedStack } from "../../state/page";
import { adjust, select, selection } from "../../state/selection";
import type { ChartRows, SearchResult } from "../../worker/messages";
import { BoxCanvas } from "../boxes/box_canvas";
import type { BoxPaint, Thin } from "../boxes/box_draw";
import { pathOf } from "../boxes/box_place";
import type { Range } from "../boxes/box_view";
import { Canvas } from "../parts/canvas";
import { ink, isDark } from "../parts/colours";
import { Empty } from "../parts/empty";
import { boxPaint } from "./flame";
import { duration, grouped } from "../parts/format";
import { drawTicks } from "../time/time_axis";
import { isSlice, keyOf, sliceTip, Streams, withSlices } from "../timeline/slice_paint";
import type { Strips } from "../timeline/strips";
import { setWindow } from "../time/time_drag";
import { inside, type Span } from "../time/time_window";
import { useSize } from "../parts/use_size";

const AXIS_PX = 20;
const MARGIN = 0.5; // of what is seen, asked for on both sides: panning finds it there
const AROUND = 0.02; // of a box that is zoomed to, on both sides
const BUSIEST = 8; // threads, where none is selected
const SELECTED_MOST = 32;

const events = (thread: number) => (data.value?.events && data.value.eventsOf[thread]) || 0;
const has = (thread: number, samples: Float64Array) => samples[thread] > 0 || events(thread) > 0;

/** Of the threads that pass, in the order they stand in: all that were selected, else the busiest. Tid 0 is the service. */
function threadsShown(threads: readonly ThreadInfo[], samples: Float64Array): number[] {
  const { threads: tids, processes: pids } = selection.value.filter;
  const isIn = ({ tid, pid }: ThreadInfo) =>
    (!tids || tids.includes(tid)) && (!pids || pids.includes(pid));
  const most = tids ? SELECTED_MOST : BUSIEST;
  return threads
    .flatMap((one, thread) => (has(thread, samples) && isIn(one) ? [thread] : []))
    .sort((a, b) => samples[b] - samples[a] || events(b) - events(a))
    .slice(0, most)
    .sort((a, b) => threads[a].pid - threads[b].pid || (threads[a].tid || Infinity) - (threads[b].tid || Infinity));
}

interface ChartProps {
  search: SearchResult | null;
  Strips?: typeof Strips; // once it is there
}

export function Chart({ search, Strips }: ChartProps) {
  const { filter, ...rest } = look.value;
  const { threads: _threads, processes: _processes, ...anyThread } = filter;
  const samples = useAnswer("threads", { ...rest, filter: anyThread });
  const state = data.value;
  if (!samples || !state) return null;
  if (!state.extent_us) return <Empty />;
  const threads = threadsShown(state.threads, samples);
  if (!threads.length) return <Empty />;
  const [from, to] = state.extent_us;
  const whole: Span = filter.window_us ?? [from, to + Math.max(1, state.period_us)];
  return <Bands threads={threads} whole={whole} samples={samples} search={search} Strips={Strips} />;
}

interface Props extends ChartProps {
  threads: number[];
  whole: Span;
  samples: Float64Array; // by thread
}

function Bands({ threads, whole, samples, search, Strips }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { width } = useSize(place);
  const { picked, chart, event } = selection.value;
  const zoom = chart.seen_us;
  const near = zoom && zoom[1] > whole[0] && zoom[0] < whole[1] ? inside(zoom, whole) : null;
  const seen = near ?? whole;
  const [closed, setClosed] = useState<number[]>([]);
  const rows = useAnswer("chart", width ? question(threads, closed, whole, seen, width) : null);
  const paint = useMemo(
    () => rows && withSlices(rows, bandPaint(rows, closed, boxPaint(rows, search, picked))),
    [rows, search, picked, event, selection.value.search, isDark.value, legend.value],
  );
  const origin = rows?.origin_us ?? whole[0];
  const zero_us = data.value?.extent_us?.[0] ?? origin;
  const see = (seen_us: Span | null, of?: string, isPart?: boolean) => {
    const change = { chart: seen_us ? { seen_us } : {} };
    if (isPart) adjust(change);
    else select(change, of);
  };
  const zoomTo = (box: number) => {
    const around = AROUND * rows!.width[box];
    const start = origin + rows!.x[box];
    see([start - around, start + rows!.width[box] + around]);
  };
  const toggleBand = (thread: number) =>
    setClosed(
      closed.includes(thread) ? closed.filter((one) => one !== thread) : [...closed, thread],
    );
  const tip = (box: number, thin: Thin | null) =>
    isSlice(rows!, box) ? sliceTip(rows!, box, zero_us) : tipOf(rows!, box, thin, zero_us - origin, samples);
  return (
    <div class="stacked" ref={place}>
      <Bar shown={threads} samples={samples} seen={near} all={() => see(null)} rows={rows} />
      {Strips && <Strips seen={seen} width={width} zero_us={zero_us} />}
      <Canvas
        pixels={[width, AXIS_PX]}
        aria-hidden="true"
        of={[seen[0], seen[1], zero_us, ink.value]}
        draw={(context) => {
          const view = { from_us: seen[0], to_us: seen[1], zero_us, left: 0, width };
          drawTicks(context, view, ink.value, [0, AXIS_PX], AXIS_PX / 2);
        }}
      />
      <div class="rest">
        {rows && paint && (
          <BoxCanvas
            boxes={rows}
            paint={paint}
            range={{ from: seen[0] - origin, to: seen[1] - origin }}
            onRange={(range: Range | null, isPart?: boolean) =>
              see(range && [origin + range.from, origin + range.to], "chart", isPart)
            }
            rootBelow={false}
            label={`Flame chart: stacks of ${threads.length > 1 ? `${threads.length} threads` : "a thread"} in the order of time`}
            onPick={(box, row) => {
              if (isSlice(rows, box)) return select({ event: keyOf(rows, box) });
              const path = pathOf(rows, box, row).map((one) => rows.fn[one]);
              pickedStack.value = path.filter((fn) => fn >= 0).map(keyOfFunction);
              select({ picked: keyOfFunction(rows.fn[box]) });
            }}
            onName={(box) => toggleBand(groupOf(rows.fn[box])!)}
            onZoom={(box) => {
              const one = data.value!.threads[groupOf(rows.fn[box]) ?? -1];
              if (one) choose(one);
              else zoomTo(box);
            }}
            onJoined={zoomTo}
            tip={tip}
          />
        )}
      </div>
    </div>
  );
}

function question(threads: number[], closed: number[], whole: Span, seen: Span, width: number) {
  const length = seen[1] - seen[0];
  const around: Span = [
    Math.max(whole[0], Math.floor(seen[0] - MARGIN * length)),
    Math.min(whole[1], Math.ceil(seen[1] + MARGIN * length)),
  ];
  const filter = { ...look.value.filter, window_us: around };
  const [origin_us, extent_us] = [whole[0], whole[1] - whole[0]];
  const { colour } = selection.value;
  return { ...look.value, colour, filter, threads, closed, origin_us, extent_us, thin_us: length / width };
}

function threadText({ name, tid }: ThreadInfo): string {
  return `${name || "thread"} (${tid})`;
}

/** Names of threads stand on bars of their own. */
function bandPaint(rows: ChartRows, closed: number[], paint: BoxPaint): BoxPaint {
  const { threads } = data.value!;
  const { line, faint } = ink.value;
  const threadOf = (box: number) => threads[groupOf(rows.fn[box]) ?? -1];
  return {
    ...paint,
    fill: (box) => (threadOf(box) ? (isDark.value ? faint : line) : paint.fill(box)),
    label: (box) => {
      const thread = groupOf(rows.fn[box]) ?? -1;
      if (!threads[thread]) return paint.label(box);
      return `${closed.includes(thread) ? "▸" : "▾"} ${threadText(threads[thread])}`;
    },
    emphasis: (box) => (threadOf(box) ? 1 : paint.emphasis(box)),
    isPicked: (box) => !threadOf(box) && paint.isPicked(box),
  };
}

function tipOf(
  rows: ChartRows,
  box: number,
  thin: Thin | null,
  zero: number,
  samples: Float64Array,
): string[] {
  const fn = rows.fn[box];
  const thread = groupOf(fn);
  if (thread !== null) {
    const one = data.value!.threads[thread];
    const count = `${grouped(samples[thread])} sample${samples[thread] === 1 ? "" : "s"}`;
    const known = [count, processName(one.pid)];
    return [threadText(one), ...known, "A click closes or opens it, a double click leaves only it"];
  }
  const length = thin ? thin.weight : rows.width[box];
  const time = `${((rows.x[box] - zero) / 1e6).toFixed(4)} s, for ${duration(1000 * length)}`;
  if (fn === JOINED || (thin && thin.boxes > 1)) return ["Calls too short to be seen here", time];
  return [nameOf(fn), time, libraryOf(fn).name, placeOfFunction(fn)].filter(Boolean);
}

/** null: the busiest. The list has threads of all processes. */
function choose(one: ThreadInfo | null): void {
  const { processes: _, threads: __, ...filter } = selection.value.filter;
  select({ filter: one ? { ...filter, threads: [one.tid] } : filter });
}

interface BarProps {
  shown: number[]; // threads
  samples: Float64Array; // by thread
  seen: Span | null; // null: all
  all(): void;
  rows: ChartRows | null;
}

/** Which threads, and what is seen of them. */
function Bar({ shown, samples, seen, all, rows }: BarProps) {
  const threads = data.value!.threads;
  const listed = [...samples.keys()]
    .filter((one) => threads[one] && has(one, samples))
    .sort((a, b) => samples[b] - samples[a]);
  const { threads: tids } = selection.value.filter;
  const several =
    shown.length === listed.length
      ? `All ${listed.length} threads`
      : `${shown.length} of ${grouped(listed.length)} threads${tids ? ", as selected" : ", the busiest"}`;
  return (
    <div class="bar-of-view">
      <select
        aria-label="Thread"
        value={shown.length > 1 ? "" : String(shown[0])}
        onChange={({ currentTarget: { value } }) => choose(value ? threads[Number(value)] : null)}
      >
        {listed.length > 1 && (
          <option value="">
            {shown.length > 1 ? several : `All threads, at most the ${BUSIEST} busiest`}
          </option>
        )}
        {listed.map((one) => (
          <option value={String(one)}>
            {threadText(threads[one])}: {grouped(samples[one])} samples
          </option>
        ))}
      </select>
      {seen && (
        <>
          <span>{duration(1000 * (seen[1] - seen[0]))} seen</span>
          <button
            title="Use this range in all views"
            onClick={() => setWindow([Math.round(seen[0]), Math.round(seen[1])], true)}
          >
            Select this time
          </button>
          <button onClick={all}>Whole</button>
        </>
      )}
      {rows && <Streams rows={rows} />}
      {rows?.arrows?.hidden && <span>Too many flows for arrows here: zoom in</span>}
    </div>
  );
}
