// Time: processors in use, and lanes of states below. Dragging selects a window.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { LaneInTime, Overview as Data } from "../data/overview";
import { useAnswer } from "../state/answer";
import { data, functionOfKey, look } from "../state/live";
import { overviewRange } from "../state/page";
import { selection } from "../state/selection";
import { Canvas } from "./canvas";
import { ink } from "./colours";
import { drawCurve } from "./cpu_curve";
import { duration, grouped, percent } from "./format";
import { laneTip, stepAt } from "./lane_tip";
import { Lanes, type WithTip } from "./lane_rows";
import { LABEL_PX, stateColour, STATES } from "./lanes";
import { timeAt, type TimeView, xOf } from "./time_axis";
import { setWindow, useTimeDrag, zoomTime } from "./time_drag";
import { onTimeKey, TIME_KEYS } from "./time_keys";
import { PointerTip, type Tip } from "./tip";
import { useSize } from "./use_size";

const MAX_LANES = 2500;
const CURVE_PX = 78;

interface Drawn {
  overview: Data;
  width: number;
}

export function Overview() {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const maxSteps = Math.max(100, Math.floor((width - LABEL_PX) / 2));
  const { open } = selection.value;
  const args = { range_us: overviewRange.value, maxSteps, maxLanes: MAX_LANES, open };
  const overview = useAnswer("overview", width ? args : null);
  return (
    <div
      class="overview"
      id="overview"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Time and threads: ${TIME_KEYS}`}
      onKeyDown={(event) => onTimeKey(event, overview?.lanes ?? [])}
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

/** The selected window and what the colours mean, in words. */
function Told({ overview: { states: all, stateSamples } }: { overview: Data }) {
  const { filter, transforms } = selection.value;
  const { window_us } = filter;
  const summary = useAnswer("summary", { filter, transforms, group: "" });
  const origin = data.value?.extent_us?.[0] ?? 0;
  const seconds = (time_us: number) => `${((time_us - origin) / 1e6).toFixed(2)} s`;
  const states = STATES.filter((state) => stateSamples[all.indexOf(state)] > 0);
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
  const { window_us } = selection.value.filter;
  const { origin_us, steps, step_us } = overview;
  const zero_us = data.value?.extent_us?.[0] ?? origin_us;
  const to_us = origin_us + steps * step_us;
  const view: TimeView = {
    ...{ from_us: origin_us, to_us, zero_us },
    ...{ left: LABEL_PX, width: width - LABEL_PX },
  };
  const picked = usePicked(overview);
  const edges = window_us?.map((edge) => Math.min(width, Math.max(LABEL_PX, xOf(view, edge))));
  const onCurve = useTimeDrag(view, () => setWindow(null, true));
  const showTip = (event: PointerEvent, lane: LaneInTime | null) => {
    const step = stepAt(overview, timeAt(view, event.offsetX));
    const strip = (event.currentTarget as Element).closest(".overview")!.getBoundingClientRect();
    const [x, y] = [event.clientX - strip.left, event.clientY - strip.top];
    tip.value = { x, y, lines: laneTip(overview, lane, step, zero_us) };
  };
  const withTip: WithTip = (drag, laneAt) => ({
    ...drag,
    role: "img",
    onPointerMove(event) {
      drag.onPointerMove(event);
      const lane = laneAt(event);
      if (lane !== undefined) showTip(event, lane);
    },
    onPointerLeave: () => void (tip.value = null),
  });
  return (
    <>
      <Canvas
        {...withTip(onCurve, () => null)}
        onWheel={(event) => zoomTime(view, event)}
        aria-label="Processors in use over time"
        pixels={[width, CURVE_PX]}
        of={[overview, picked, zero_us, ink.value]}
        draw={(context) => drawCurve(context, overview, picked, view, CURVE_PX, ink.value)}
      />
      {edges && (
        <i
          class="window"
          style={`left: ${edges[0]}px; right: ${width - edges[1]}px; height: ${CURVE_PX}px`}
        />
      )}
      <Lanes overview={overview} view={view} edges={edges} withTip={withTip} />
      <PointerTip tip={tip} width={width} height={Infinity} />
    </>
  );
}
