// Time: processors in use, and lanes of states below. Dragging selects a window.
import { useEffect, useRef } from "preact/hooks";
import type { Overview as Data } from "../../data/layouts/overview";
import { useAnswer } from "../../state/answer";
import { data, functionOfKey, isTime, kindShown, look } from "../../state/live";
import { arrange, room } from "../../state/room";
import { selection } from "../../state/selection";
import { Canvas } from "../parts/canvas";
import { ink, stateColour, STATES, stateWord } from "../parts/colours";
import { Divider } from "../parts/divider";
import { BaselineMark, BaselineWord, useBaseline } from "./baseline";
import { drawCurve } from "./cpu_curve";
import { laneTip, stepAt } from "./lane_tip";
import { Lanes, type Marks, type WithTip } from "./lane_rows";
import type { LaneTools } from "./lane_tools";
import { Sums } from "./sums";
import { LABEL_PX, LANE_PX } from "./lanes";
import { timeAt, type TimeView, xOf } from "../time/time_axis";
import { setWindow, useTimeDrag, zoomedSpan, zoomTime } from "../time/time_drag";
import { onTimeKey, TIME_KEYS } from "./time_keys";
import { tip } from "../parts/tip";
import { useSize } from "../parts/use_size";

const MAX_LANES = 2500;
const CURVE_PX = 88; // at least
const LANES_MOST = 7; // at first, and no more than their part of the window
const LANES_PART = 0.22;
const HEIGHT_PART = 0.6; // of the window, at most

interface Drawn extends Marks {
  overview: Data;
  width: number;
  height: Heights;
}

interface Heights {
  curve: number;
  lanes: number;
}

/** What is not the lanes' is the curve's. */
function heightsOf(lanes: number): Heights {
  const all = lanes * LANE_PX;
  const most = Math.max(CURVE_PX + LANE_PX, HEIGHT_PART * innerHeight);
  const some = Math.min(lanes, LANES_MOST, Math.floor((LANES_PART * innerHeight) / LANE_PX));
  const wanted = room.value.overviewHeight || CURVE_PX + some * LANE_PX;
  const height = Math.max(CURVE_PX + Math.min(all, LANE_PX), Math.min(wanted, most));
  const shown = Math.min(all, height - CURVE_PX);
  return { curve: Math.round(height - shown), lanes: Math.round(shown) };
}

/** Of the page's second file, too: there is little to order at once. */
interface Parts extends Marks {
  LaneTools?: typeof LaneTools;
}

export function Overview({ StallMarks, LaneTools }: Parts) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const maxSteps = Math.max(100, Math.floor((width - LABEL_PX) / 2));
  const { open, laneOrder: order, laneFind: find, colour } = selection.value;
  const choice = { open, order, find };
  const args = { range_us: zoomedSpan(), maxSteps, maxLanes: MAX_LANES, choice, colour };
  const overview = useAnswer("overview", width ? args : null);
  const height = heightsOf(overview?.lanes.length ?? 0);
  const shown = overview && width > LABEL_PX;
  return (
    <>
      <div
        class="overview"
        id="overview"
        ref={box}
        style={`min-height: ${data.value?.samples === 0 ? 0 : CURVE_PX + LANE_PX}px`}
        tabIndex={0}
        role="group"
        aria-label={`Time and threads: ${TIME_KEYS}`}
        onKeyDown={(event) => onTimeKey(event, overview?.lanes ?? [])}
      >
        {shown && (
          <>
            <Strip overview={overview} width={width} height={height} StallMarks={StallMarks} />
            <Told overview={overview} />
            {LaneTools && <LaneTools overview={overview} bottom={height.lanes} />}
          </>
        )}
      </div>
      {shown && (
        <Divider
          along="y"
          grows={1}
          size={height.curve + height.lanes}
          least={CURVE_PX + LANE_PX}
          most={HEIGHT_PART * innerHeight}
          label="Size of the overview"
          resize={(overviewHeight) => arrange({ overviewHeight })}
          reset={() => arrange({ overviewHeight: 0 })}
        />
      )}
    </>
  );
}

/** The selected window and what the colours mean, in words. */
function Told({ overview: { states: all, stateSamples } }: { overview: Data }) {
  const { window_us } = selection.value.filter;
  const origin = data.value?.extent_us?.[0] ?? 0;
  const seconds = (time_us: number) => `${((time_us - origin) / 1e6).toFixed(2)} s`;
  const states = STATES.filter((state) => stateSamples[all.indexOf(state)] > 0);
  return (
    <div class="told">
      {states.length > 1 && (
        <span>
          {states.map((state) => (
            <>
              <i class="swatch" style={{ background: stateColour(state, ink.value) }} />{" "}
              {stateWord(state)}{" "}
            </>
          ))}
        </span>
      )}
      <BaselineWord />
      {window_us && <span>{`${seconds(window_us[0])} … ${seconds(window_us[1])}`}</span>}
      <Sums />
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

function Strip({ overview, width, height, StallMarks }: Drawn) {
  const pointer = useRef<{ event: PointerEvent; x: number; key: string } | null>(null);
  const { window_us } = selection.value.filter;
  const { origin_us, steps, step_us } = overview;
  const zero_us = data.value?.extent_us?.[0] ?? origin_us;
  const to_us = origin_us + steps * step_us;
  const view: TimeView = {
    ...{ from_us: origin_us, to_us, zero_us },
    ...{ left: LABEL_PX, width: width - LABEL_PX },
  };
  const picked = usePicked(overview);
  const baseline = useBaseline(overview);
  const edges = window_us?.map((edge) => Math.min(width, Math.max(LABEL_PX, xOf(view, edge))));
  const onCurve = useTimeDrag(view, () => setWindow(null, true));
  const showTip = () => {
    const { event, x, key } = pointer.current!;
    const lane = overview.lanes.find((one) => one.key === key) ?? null;
    const lines = laneTip(overview, lane, stepAt(overview, timeAt(view, x)), zero_us);
    tip.value = key && !lane ? null : { x: event.clientX, y: event.clientY, lines };
  };
  useEffect(() => {
    if (pointer.current) showTip(); // other numbers are below it now
  }, [overview]);
  const withTip: WithTip = (drag, laneAt) => ({
    ...drag,
    role: "img",
    onPointerMove(event) {
      drag.onPointerMove(event);
      const lane = laneAt(event);
      pointer.current = { event, x: event.offsetX, key: lane?.key ?? "" };
      if (lane !== undefined) showTip();
    },
    onPointerLeave() {
      pointer.current = tip.value = null;
    },
  });
  return (
    <>
      <Canvas
        {...withTip(onCurve, () => null)}
        onWheel={(event) => zoomTime(view, event)}
        aria-label={isTime.value ? "CPU usage over time" : `What was ${kindShown.value.noun}, over time`}
        pixels={[width, height.curve]}
        of={[overview, picked, baseline, zero_us, ink.value]}
        draw={(context) =>
          drawCurve(context, overview, picked, baseline, view, height.curve, ink.value, overview.full === undefined ? null : kindShown.value)
        }
      />
      <BaselineMark view={view} height={height.curve} />
      {edges && (
        <i
          class="window"
          style={`left: ${edges[0]}px; right: ${width - edges[1]}px; height: ${height.curve}px`}
        />
      )}
      <Lanes
        overview={overview}
        view={view}
        edges={edges}
        withTip={withTip}
        height={height.lanes}
        StallMarks={StallMarks}
      />
    </>
  );
}
