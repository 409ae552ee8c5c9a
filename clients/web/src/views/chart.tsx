// The flame chart: the stacks of one thread in the order of time.
import { useMemo, useRef } from "preact/hooks";
import { JOINED } from "../data/flame_layout";
import type { ThreadInfo } from "../data/profile";
import { useAnswer } from "../state/answer";
import { data, keyOfFunction, libraryOf, look, nameOf, names } from "../state/live";
import { pickedStack } from "../state/page";
import { select, selection } from "../state/selection";
import type { SearchResult } from "../worker/messages";
import { BoxCanvas, type Range } from "./box_canvas";
import type { Thin } from "./box_draw";
import { pathOf } from "./box_place";
import { Canvas } from "./canvas";
import { ink, isDark } from "./colours";
import { Empty } from "./empty";
import { boxLook } from "./flame";
import { duration, grouped } from "./format";
import { drawTicks } from "./time_axis";
import { setWindow } from "./time_drag";
import { inside, type Span } from "./time_window";
import { useSize } from "./use_size";

const AXIS_PX = 20;
const MARGIN = 0.5; // of what is seen, asked for on both sides: panning finds it there
const AROUND = 0.02; // of a box that is zoomed to, on both sides

/** Of the threads that pass: the one that was seen, else the busiest. -1: there is none. */
function threadShown(threads: readonly ThreadInfo[], samples: Float64Array): number {
  const { filter, chart } = selection.value;
  const { threads: tids, processes: pids } = filter;
  let [best, most] = [-1, 0];
  samples.forEach((count, thread) => {
    const one = threads[thread];
    if (!one || (tids && !tids.includes(one.tid)) || (pids && !pids.includes(one.pid))) return;
    const weight = count && one.tid === chart.tid && one.pid === chart.pid ? Infinity : count;
    if (weight > most) [best, most] = [thread, weight];
  });
  return best;
}

export function Chart({ search }: { search: SearchResult | null }) {
  const { filter, ...rest } = look.value;
  const { threads: _threads, processes: _processes, ...anyThread } = filter;
  const samples = useAnswer("threads", { ...rest, filter: anyThread });
  const state = data.value;
  if (!samples || !state) return null;
  if (!state.extent_us) return <Empty />;
  const thread = threadShown(state.threads, samples);
  if (thread < 0) return <Empty />;
  const [from, to] = state.extent_us;
  const whole: Span = filter.window_us ?? [from, to + Math.max(1, state.period_us)];
  return <ThreadChart thread={thread} whole={whole} samples={samples} search={search} />;
}

interface Props {
  thread: number;
  whole: Span;
  samples: Float64Array; // by thread
  search: SearchResult | null;
}

function ThreadChart({ thread, whole, samples, search }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { width } = useSize(place);
  const { picked, chart } = selection.value;
  const zoom = chart.seen_us;
  const near = zoom && zoom[1] > whole[0] && zoom[0] < whole[1] ? inside(zoom, whole) : null;
  const seen = near ?? whole;
  const rows = useAnswer("chart", width ? question(thread, whole, seen, width) : null);
  const drawn = useMemo(
    () => rows && boxLook(rows, search, picked),
    [rows, search, picked, isDark.value],
  );
  const origin = rows?.origin_us ?? whole[0];
  const zero_us = data.value?.extent_us?.[0] ?? origin;
  const see = (seen_us: Span | null, of?: string) => {
    const { pid, tid } = data.value!.threads[thread];
    select({ chart: seen_us ? { pid, tid, seen_us } : {} }, of);
  };
  const tip = (box: number, thin: Thin | null) => tipOf(rows!, box, thin, zero_us - origin);
  return (
    <div class="stacked" ref={place}>
      <Bar thread={thread} samples={samples} seen={near} all={() => see(null)} />
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
        {rows && drawn && (
          <BoxCanvas
            boxes={rows}
            look={drawn}
            range={{ from: seen[0] - origin, to: seen[1] - origin }}
            onRange={(range: Range | null) =>
              see(range && [origin + range.from, origin + range.to], "chart")
            }
            rootBelow={false}
            label="Flame chart: stacks in the order of time"
            onPick={(box, row) => {
              const path = pathOf(rows, box, row).map((one) => rows.fn[one]);
              pickedStack.value = path.filter((fn) => fn !== JOINED).map(keyOfFunction);
              select({ picked: keyOfFunction(rows.fn[box]) });
            }}
            onZoom={(box) => {
              const around = AROUND * rows.width[box];
              const start = origin + rows.x[box];
              see([start - around, start + rows.width[box] + around]);
            }}
            tip={tip}
          />
        )}
      </div>
    </div>
  );
}

function question(thread: number, whole: Span, seen: Span, width: number) {
  const { pid, tid } = data.value!.threads[thread];
  const length = seen[1] - seen[0];
  const around: Span = [
    Math.max(whole[0], Math.floor(seen[0] - MARGIN * length)),
    Math.min(whole[1], Math.ceil(seen[1] + MARGIN * length)),
  ];
  const filter = { ...look.value.filter, processes: [pid], threads: [tid], window_us: around };
  const [origin_us, extent_us] = [whole[0], whole[1] - whole[0]];
  return { ...look.value, filter, origin_us, extent_us, thin_us: length / width };
}

function tipOf(
  rows: { fn: Int32Array; x: Float64Array; width: Float64Array },
  box: number,
  thin: Thin | null,
  zero: number,
): string[] {
  const fn = rows.fn[box];
  const length = thin ? thin.weight : rows.width[box];
  const time = `${((rows.x[box] - zero) / 1e6).toFixed(4)} s, for ${duration(1000 * length)}`;
  if (fn === JOINED || (thin && thin.boxes > 1)) return ["Calls too short to be seen here", time];
  const { file = "", line = 0 } = names.functions[fn] ?? {};
  const where = file ? `${file}${line ? `:${line}` : ""}` : "";
  return [nameOf(fn), time, libraryOf(fn).name, where].filter(Boolean);
}

interface BarProps {
  thread: number;
  samples: Float64Array;
  seen: Span | null; // null: all
  all(): void;
}

/** Which thread, and what is seen of it. */
function Bar({ thread, samples, seen, all }: BarProps) {
  const threads = data.value!.threads;
  const listed = [...samples.keys()]
    .filter((one) => samples[one] > 0 && threads[one])
    .sort((a, b) => samples[b] - samples[a]);
  const choose = (one: ThreadInfo) => {
    const { filter, chart } = selection.value;
    const { processes: _, ...rest } = filter; // the list has threads of them all
    const { pid, tid } = one;
    select({ filter: { ...rest, threads: [tid] }, chart: { ...chart, pid, tid } });
  };
  return (
    <div class="bar-of-view">
      <select
        aria-label="Thread"
        value={String(thread)}
        onChange={({ currentTarget }) => choose(threads[Number(currentTarget.value)])}
      >
        {listed.map((one) => (
          <option value={String(one)}>
            {threads[one].name || "thread"} ({threads[one].tid}): {grouped(samples[one])} samples
          </option>
        ))}
      </select>
      {seen && (
        <>
          <span>{duration(1000 * (seen[1] - seen[0]))} seen</span>
          <button
            title="The window of all views"
            onClick={() => setWindow([Math.round(seen[0]), Math.round(seen[1])], true)}
          >
            Select this time
          </button>
          <button onClick={all}>Whole</button>
        </>
      )}
    </div>
  );
}
