// Time: processors in use, and a lane of states for each thread. Dragging selects a window.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Overview as Data } from "../data/overview";
import { useAnswer } from "../state/answer";
import { overviewRange } from "../state/page";
import { select, selection } from "../state/selection";
import { data } from "../state/live";
import { ink } from "./colours";
import { drawLanes, LABEL_PX, LANE_PX, threadsOf } from "./lanes";
import { duration, grouped, percent } from "./format";

const MAX_LANES = 100;
const PLOT_PX = 64;

interface Drawn {
  overview: Data;
  width: number;
}

export function Overview() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const maxSteps = Math.max(100, Math.floor((width - LABEL_PX) / 2));
  const args = { range_us: overviewRange.value, maxSteps, maxLanes: MAX_LANES };
  const overview = useAnswer("overview", width ? args : null);
  return (
    <div class="overview" ref={box}>
      {overview && width > LABEL_PX && (
        <>
          <Plot overview={overview} width={width} />
          <Lanes overview={overview} width={width} />
          <Told />
        </>
      )}
    </div>
  );
}

/** The selected window in words. */
function Told() {
  const { window_us } = selection.value.filter;
  const summary = useAnswer("summary", lookOfSelection());
  const origin = data.value?.extent_us?.[0] ?? 0;
  const seconds = (time_us: number) => `${((time_us - origin) / 1e6).toFixed(2)} s`;
  if (!summary) return null;
  return (
    <div class="told">
      {window_us && <span>{`${seconds(window_us[0])} … ${seconds(window_us[1])}`}</span>}
      <span>{grouped(summary.count)} samples</span>
      <span>{duration(summary.cpu_ns)} CPU</span>
      <span title="Samples whose stack reaches the thread's start">
        {percent(summary.count - summary.cut, summary.count)} whole
      </span>
    </div>
  );
}

function lookOfSelection() {
  const { filter, transforms } = selection.value;
  return { filter, transforms, group: "" as const };
}

function plotData({ origin_us, step_us, steps, cpu }: Data): uPlot.AlignedData {
  const x = Float64Array.from({ length: steps }, (_, i) => (origin_us + (i + 0.5) * step_us) / 1e6);
  return [x as unknown as number[], cpu as unknown as number[]];
}

function Plot({ overview, width }: Drawn) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { text, faint, line, states } = ink.value;
  useEffect(() => {
    const axis = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const font = "11px system-ui, sans-serif";
    const origin = () => (data.value?.extent_us?.[0] ?? 0) / 1e6;
    const made = new uPlot(
      {
        width,
        height: PLOT_PX,
        padding: [6, 0, 0, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { show: false },
          y: false,
        },
        scales: {
          x: { time: false, range: (u) => spanOf(u) },
          y: { range: (_u, _low, high) => [0, Math.max(1, high * 1.05)] },
        },
        series: [
          {},
          {
            stroke: states[0],
            fill: `${states[0]}40`,
            width: 1,
            points: { show: false },
          },
        ],
        axes: [
          {
            ...axis,
            size: 16,
            gap: 1,
            font,
            space: 70,
            splits: (_u, _i, low, high, step) => splitsFrom(origin(), low, high, step),
            values: (_u, splits) => splits.map((at) => `${+(at - origin()).toFixed(3)} s`),
          },
          {
            ...axis,
            size: LABEL_PX,
            font,
            splits: (_u, _i, _low, high) => [0, Math.floor(high)],
            values: (_u, splits) => splits.map((at) => (at ? String(at) : "")), // 0 s stands there
          },
        ],
        // Scales are new only when it draws.
        hooks: { setSelect: [(u) => selectWindow(u)], draw: [(u) => showWindow(u)] },
      },
      plotData(overview),
      place.current!,
    );
    plot.current = made;
    return () => made.destroy();
  }, [text]);
  useEffect(() => plot.current?.setSize({ width, height: PLOT_PX }), [width]);
  useEffect(() => {
    spans.set(plot.current!, overview);
    plot.current?.setData(plotData(overview));
  }, [overview, text, selection.value.filter.window_us]);
  return (
    <div class="plot" ref={place}>
      <label>CPU</label>
    </div>
  );
}

/** Round numbers of seconds since the profile's start, not since the machine's. */
function splitsFrom(origin: number, low: number, high: number, step: number): number[] {
  const splits = [];
  for (let i = Math.ceil((low - origin) / step - 1e-6); origin + i * step <= high; i++)
    splits.push(origin + i * step);
  return splits;
}

// uPlot's own range pads; lanes below want the same start and end.
const spans = new WeakMap<uPlot, Data>();

function spanOf(plot: uPlot): [number, number] {
  const one = spans.get(plot);
  if (!one) return [0, 1];
  return [one.origin_us / 1e6, (one.origin_us + one.steps * one.step_us) / 1e6];
}

function selectWindow(plot: uPlot): void {
  const { left, width } = plot.select;
  const { filter } = selection.value;
  if (width < 3) {
    const { window_us: _, ...rest } = filter;
    return select({ filter: rest });
  }
  const at = (x: number) => Math.round(plot.posToVal(x, "x") * 1e6);
  const window_us: [number, number] = [at(left), at(left + width)];
  select({ filter: { ...filter, window_us } });
}

function showWindow(plot: uPlot): void {
  const { window_us } = selection.value.filter;
  const height = plot.over.clientHeight;
  if (!window_us) return plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  const [left, right] = window_us.map((at) => plot.valToPos(at / 1e6, "x"));
  plot.setSelect({ left, width: right - left, top: 0, height }, false);
}

function Lanes({ overview, width }: Drawn) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = overview.lanes.length * LANE_PX;
  const { threads, window_us } = selection.value.filter;
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context) return;
    const ratio = devicePixelRatio || 1;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    drawLanes(context, overview, width, ink.value, threads ?? null, window_us ?? null);
  });
  const more = overview.laneCount - overview.lanes.length;
  return (
    <div class="lanes">
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={overview.lanes
          .map(({ name, samples }) => `${name}: ${samples} samples`)
          .join(", ")}
        onClick={(event) => {
          const lane = overview.lanes[Math.floor(event.offsetY / LANE_PX)];
          if (lane)
            select({
              filter: threadsOf(selection.value.filter, lane.tid, event.shiftKey),
            });
        }}
      />
      {more > 0 && <p class="faint">and {grouped(more)} threads with fewer samples</p>}
    </div>
  );
}
