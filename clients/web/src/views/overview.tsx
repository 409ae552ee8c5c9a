// Time: processors in use, and a lane of states for each thread. Dragging selects a window.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Lane, Overview as Data } from "../data/overview";
import { useAnswer } from "../state/answer";
import { data, functionOfKey, look } from "../state/live";
import { overviewRange } from "../state/page";
import { select, selection } from "../state/selection";
import { Canvas } from "./canvas";
import { ink } from "./colours";
import { drawCurve } from "./cpu_curve";
import { duration, grouped, percent } from "./format";
import { laneTip, stepAt } from "./lane_tip";
import { drawLanes, LABEL_PX, LANE_PX, stateColour, STATES, threadsOf } from "./lanes";
import { timeAt, type TimeView, xOf } from "./time_axis";
import { setWindow, useTimeDrag, zoomTime } from "./time_drag";
import { onTimeKey } from "./time_keys";
import { PointerTip, type Tip } from "./tip";
import { useSize } from "./use_size";

const MAX_LANES = 100;
const CURVE_PX = 78;

interface Drawn {
  overview: Data;
  width: number;
}

export function Overview() {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const maxSteps = Math.max(100, Math.floor((width - LABEL_PX) / 2));
  const args = { range_us: overviewRange.value, maxSteps, maxLanes: MAX_LANES };
  const overview = useAnswer("overview", width ? args : null);
  const tids = overview?.lanes.map(({ tid }) => tid) ?? [];
  return (
    <div
      class="overview"
      id="overview"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label="Time and threads. Arrows left and right move the window, with Shift its end; up and down pick a thread; + and - zoom."
      onKeyDown={(event) => onTimeKey(event, tids)}
    >
      {overview && width > LABEL_PX && (
        <>
          <Strip overview={overview} width={width} />
          <Told overview={overview} />
        </>
      )}
    </div>
  );
}

/** Was any thread in that state? */
function isSeen({ states, steps, lanes }: Data, state: string): boolean {
  const at = states.indexOf(state);
  if (at < 0) return false;
  return lanes.some((lane) => {
    for (let step = 0; step < steps; step++)
      if (lane.states[step * states.length + at]) return true;
    return false;
  });
}

/** The selected window and what the colours mean, in words. */
function Told({ overview }: { overview: Data }) {
  const { filter, transforms } = selection.value;
  const { window_us } = filter;
  const summary = useAnswer("summary", { filter, transforms, group: "" });
  const origin = data.value?.extent_us?.[0] ?? 0;
  const seconds = (time_us: number) => `${((time_us - origin) / 1e6).toFixed(2)} s`;
  const states = STATES.filter((state) => isSeen(overview, state));
  if (!summary) return null;
  return (
    <div class="told">
      {states.length > 1 && (
        <span>
          {states.map((state) => (
            <>
              <i class="swatch" style={{ background: stateColour(state, ink.value) }} />{" "}
              {state}{" "}
            </>
          ))}
        </span>
      )}
      {window_us && <span>{`${seconds(window_us[0])} … ${seconds(window_us[1])}`}</span>}
      <span>{grouped(summary.count)} samples</span>
      <span>{duration(summary.cpu_ns)} CPU</span>
      <span
        class={summary.cut > 0.01 * summary.count ? "warn" : ""}
        title={`${grouped(summary.cut)} stacks do not reach their thread's start: they are deeper than is kept (isoscope run --depth), or go through code that cannot be walked`}
      >
        {percent(summary.count - summary.cut, summary.count)} whole
      </span>
    </div>
  );
}

/** Processors that the picked function uses, by step; of all time, as the curve is. */
function usePicked({ origin_us, step_us, steps }: Data): Float64Array | null {
  const fn = data.value ? functionOfKey(selection.value.picked) : -1;
  const { window_us: _, ...filter } = look.value.filter;
  const args = { filter, fn, origin_us, step_us, steps };
  const used = useAnswer("activity", fn < 0 ? null : args);
  return fn >= 0 && used && used.length === steps ? used : null;
}

function Strip({ overview, width }: Drawn) {
  const tip = useSignal<Tip | null>(null);
  const { threads, window_us } = selection.value.filter;
  const { origin_us, steps, step_us, lanes } = overview;
  const zero_us = data.value?.extent_us?.[0] ?? origin_us;
  const to_us = origin_us + steps * step_us;
  const view: TimeView = {
    ...{ from_us: origin_us, to_us, zero_us },
    ...{ left: LABEL_PX, width: width - LABEL_PX },
  };
  const picked = usePicked(overview);
  const edges = window_us?.map((edge) => Math.min(width, Math.max(LABEL_PX, xOf(view, edge))));
  const laneAt = (event: PointerEvent): Lane | undefined =>
    lanes[Math.floor(event.offsetY / LANE_PX)];
  const onCurve = useTimeDrag(view, () => setWindow(null, true));
  const onLanes = useTimeDrag(view, (event) => {
    const lane = laneAt(event);
    if (lane) select({ filter: threadsOf(selection.value.filter, lane.tid, event.shiftKey) });
  });
  const showTip = (event: PointerEvent, lane: Lane | null) => {
    const step = stepAt(overview, timeAt(view, event.offsetX));
    const strip = (event.currentTarget as Element).closest(".overview")!.getBoundingClientRect();
    const [x, y] = [event.clientX - strip.left, event.clientY - strip.top];
    tip.value = { x, y, lines: laneTip(overview, lane, step, zero_us) };
  };
  const both = { role: "img" as const, onPointerLeave: () => void (tip.value = null) };
  const lanesHeight = lanes.length * LANE_PX;
  const more = overview.laneCount - lanes.length;
  return (
    <>
      <Canvas
        {...both}
        {...onCurve}
        onPointerMove={(event) => {
          onCurve.onPointerMove(event);
          showTip(event, null);
        }}
        onWheel={(event) => zoomTime(view, event)}
        aria-label="Processors in use over time"
        pixels={[width, CURVE_PX]}
        of={[overview, picked, zero_us, ink.value]}
        draw={(context) => drawCurve(context, overview, picked, view, CURVE_PX, ink.value)}
      />
      {edges && (
        <i
          class="window"
          style={{ left: edges[0], width: edges[1] - edges[0], height: CURVE_PX }}
        />
      )}
      <div class="lanes">
        <div>
          <Canvas
            {...both}
            {...onLanes}
            onPointerMove={(event) => {
              onLanes.onPointerMove(event);
              const lane = laneAt(event);
              if (lane) showTip(event, lane);
            }}
            onWheel={(event) => {
              const { scrollHeight, clientHeight } = event.currentTarget.closest(".lanes")!;
              if (scrollHeight <= clientHeight || event.ctrlKey) zoomTime(view, event);
            }}
            aria-label={lanes.map(({ name, samples }) => `${name}: ${samples} samples`).join(", ")}
            pixels={[width, lanesHeight]}
            of={[overview, threads, ink.value]}
            draw={(context) => drawLanes(context, overview, width, ink.value, threads ?? null)}
          />
          {edges && (
            <>
              <i class="shade" style={{ left: LABEL_PX, width: edges[0] - LABEL_PX }} />
              <i class="shade" style={{ left: edges[1], right: 0 }} />
            </>
          )}
        </div>
        {more > 0 && <p class="faint">and {grouped(more)} threads with fewer samples</p>}
      </div>
      <PointerTip tip={tip} width={width} height={Infinity} />
    </>
  );
}
