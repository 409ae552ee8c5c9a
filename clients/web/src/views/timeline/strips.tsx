// Above the threads, on their scale of time: frames as bars beside the line of what they may take, counters as steps.
import type { ComponentChildren } from "preact";
import type { CounterStrip, FrameStrip, Strips as Told } from "../../data/timeline/strips";
import { useAnswer } from "../../state/answer";
import { data, processName } from "../../state/live";
import { select, selection } from "../../state/selection";
import { Canvas } from "../parts/canvas";
import { type Ink, ink } from "../parts/colours";
import { duration, grouped } from "../parts/format";
import { tip } from "../parts/tip";
import type { Span } from "../time/time_window";
import { levelColour, LEVEL_WORDS } from "./frame_levels";
import { selectWindow } from "./window_of";

const FRAMES_PX = 46;
const COUNTER_PX = 30;
const BUDGETS = 3; // that a strip is high
const RATES = [30, 60, 72, 75, 90, 120, 144, 165, 240];

interface Props {
  seen: Span;
  width: number;
  zero_us: number; // what is called 0 s
}

export function Strips({ seen, width, zero_us }: Props) {
  const { refresh } = selection.value;
  const window_us: Span = [Math.floor(seen[0]), Math.ceil(seen[1])];
  const told = useAnswer("strips", data.value?.events ? { window_us, width, refresh } : null);
  if (!told || !(told.frames.length + told.counters.length)) return null;
  return (
    <div class="strips">
      {told.frames.map((one) => (
        <Frames told={told} of={one} seen={seen} width={width} zero_us={zero_us} />
      ))}
      {told.counters.map((one) => (
        <Counter told={told} of={one} seen={seen} width={width} />
      ))}
      {told.more > 0 && <p class="faint">and {grouped(told.more)} more counters</p>}
    </div>
  );
}

/** From pixels of an answer to pixels now: it may have been zoomed since. */
function placed({ window_us: [from, to] }: Told, seen: Span, width: number): (x: number) => number {
  const [scale, shift] = [(to - from) / (seen[1] - seen[0]), from - seen[0]];
  return (x) => x * scale + (shift * width) / (seen[1] - seen[0]);
}

function frameColour({ duration: of, level }: FrameStrip, i: number, budget: number, ink: Ink): string {
  return levelColour(level[i], of[i] > budget, ink);
}

interface FramesProps extends Props {
  told: Told;
  of: FrameStrip;
}

function Frames({ told, of, seen, width, zero_us }: FramesProps) {
  const { budget } = told;
  const { event, refresh } = selection.value;
  const xOf = placed(told, seen, width);
  const { frames, perSecond, late, dropped } = of.sums;
  const words = [
    `${grouped(frames)} ${frames === 1 ? "frame" : "frames"}`,
    ...(perSecond ? [`${perSecond.toFixed(1)} a second`] : []),
    ...(late ? [`${grouped(late)} over ${duration(budget)}`] : []),
    ...(dropped ? [`${grouped(dropped)} dropped`] : []),
  ].join(", ");
  const under = ({ offsetX }: MouseEvent) => {
    let found = -1;
    for (let i = 0; i < of.x.length && xOf(of.x[i]) <= offsetX; i++) found = i;
    return found;
  };
  const go = (by: 1 | -1, level = -1) => {
    const all = of.keys.filter((_, i) => of.duration[i] > budget && (level < 0 || of.level[i] === level));
    const at = all.indexOf(event);
    const next = all.at(at < 0 ? (by > 0 ? 0 : -1) : (at + by) % all.length);
    if (next) select({ event: next });
  };
  return (
    <Strip name={of.name} words={words} height={FRAMES_PX}>
      <Canvas
        role="img"
        aria-label={`Frames of ${of.name}: ${words}`}
        pixels={[width, FRAMES_PX]}
        of={[of, seen[0], seen[1], event, ink.value]}
        draw={(context) => drawFrames(context, told, of, xOf, width)}
        onClick={(click) => {
          const i = under(click);
          if (i >= 0) select({ event: of.keys[i] });
        }}
        onDblClick={(click) => {
          const i = under(click);
          if (i >= 0) selectWindow(startOf(of.keys[i]), of.duration[i]);
        }}
        onPointerMove={(move) => {
          const i = under(move);
          const lines = i >= 0 && frameWords(of, i, budget, zero_us);
          tip.value = lines ? { x: move.clientX, y: move.clientY, lines } : null;
        }}
        onPointerLeave={() => (tip.value = null)}
      />
      <span class="strip-tools">
        <FrameLegend of={of} go={(level) => go(1, level)} />
        <select
          aria-label="Refresh rate"
          title="Of the display: a frame may take the time between two pictures"
          value={String(refresh)}
          onChange={({ currentTarget }) => select({ refresh: Number(currentTarget.value) })}
        >
          {[...new Set([...RATES, refresh])].map((rate) => (
            <option value={String(rate)}>{rate} Hz</option>
          ))}
        </select>
        {late > 0 && (
          <>
            <button aria-label="Previous late frame" title="Previous late frame" onClick={() => go(-1)}>‹</button>
            <button aria-label="Next late frame" title="Next late frame" onClick={() => go(1)}>›</button>
          </>
        )}
      </span>
    </Strip>
  );
}

/** What the colours mean: a press goes to the next frame of that level. */
function FrameLegend({ of: { sums: { late, levels } }, go }: { of: FrameStrip; go(level: number): void }) {
  if (!late) return null;
  const few = late - levels.slice(1).reduce((sum, count) => sum + count, 0);
  return (
    <>
      {LEVEL_WORDS.map((words, level) => {
        const count = level ? levels[level] : few;
        if (!count) return null;
        return (
          <button title={`${level ? `Late frames of level ${words}` : "Late frames, fewer than 3 dropped"}: to the next one`} onClick={() => go(level)}>
            <i class="swatch" style={{ background: levelColour(level, true, ink.value) }} /> {grouped(count)} {words}
          </button>
        );
      })}
    </>
  );
}

/** Microseconds; its key has it. */
const startOf = (key: string) => Number(key.slice(key.lastIndexOf("/") + 1));

function frameWords(of: FrameStrip, i: number, budget: number, zero_us: number): string[] {
  const time = startOf(of.keys[i]);
  const dropped = of.dropped[i];
  return [
    `Frame ${grouped(of.number[i])}: ${duration(of.duration[i])}`,
    `at ${((time - zero_us) / 1e6).toFixed(4)} s`,
    of.duration[i] > budget ? `longer than ${duration(budget)}` : `within ${duration(budget)}`,
    ...(dropped ? [`${grouped(dropped)} dropped meanwhile${of.level[i] ? `: ${LEVEL_WORDS[of.level[i]]}` : ""}`] : []),
    `${grouped(of.perSecond[i])} in the second before its end`,
    "A double click selects its time",
  ];
}

function drawFrames(context: CanvasRenderingContext2D, told: Told, of: FrameStrip, xOf: (x: number) => number, width: number) {
  const { budget } = told;
  const colours = ink.value;
  const yOf = (ns: number) => FRAMES_PX - 1 - Math.min(1, ns / (BUDGETS * budget)) * (FRAMES_PX - 2);
  for (let i = 0; i < of.x.length; i++) {
    const [left, right] = [xOf(of.x[i]), xOf(of.x[i] + of.width[i])];
    if (right < 0 || left > width) continue;
    context.fillStyle = frameColour(of, i, budget, colours);
    const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
    context.fillRect(left, yOf(of.duration[i]), wide, FRAMES_PX - 1 - yOf(of.duration[i]));
    if (of.keys[i] !== selection.value.event) continue;
    context.fillStyle = colours.pick;
    context.fillRect(left - 1, FRAMES_PX - 5, wide + 2, 4);
  }
  context.fillStyle = colours.text;
  for (let x = 0; x < width; x += 6) context.fillRect(x, Math.round(yOf(budget)), 3, 1);
  context.fillStyle = colours.line;
  context.fillRect(0, FRAMES_PX - 1, width, 1);
}

function Strip(props: { name: string; words: string; height: number; children: ComponentChildren }) {
  return (
    <div class="strip" style={`height: ${props.height}px`}>
      {props.children}
      <span class="strip-name" dir="auto">
        <b>{props.name}</b> {props.words}
      </span>
    </div>
  );
}

interface CounterProps extends Omit<Props, "zero_us"> {
  told: Told;
  of: CounterStrip;
}

/** 12,345, or 1.25. */
function value(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: Math.abs(number) < 100 ? 2 : 0 });
}

function Counter({ told, of: { name, pid, steps }, seen, width }: CounterProps) {
  const xOf = placed(told, seen, width);
  let [low, high] = [0, -Infinity];
  for (const one of steps) if (one === one) [low, high] = [Math.min(low, one), Math.max(high, one)];
  const isTold = high > -Infinity;
  const range = isTold ? `${value(low)} to ${value(high)}` : "no value here";
  const yOf = (of: number) => COUNTER_PX - 1 - ((of - low) / (high - low || 1)) * (COUNTER_PX - 3);
  return (
    <Strip name={name} words={range} height={COUNTER_PX}>
      <Canvas
        role="img"
        aria-label={`Counter ${name}: ${range}`}
        pixels={[width, COUNTER_PX]}
        of={[steps, seen[0], seen[1], ink.value]}
        draw={(context) => {
          context.fillStyle = ink.value.line;
          context.fillRect(0, COUNTER_PX - 1, width, 1);
          context.fillStyle = ink.value.states[1];
          for (let i = 0; i < steps.length / 2; i++) {
            const [least, most] = [steps[2 * i], steps[2 * i + 1]];
            if (most !== most) continue;
            const [left, right] = [xOf(i), xOf(i + 1)];
            context.globalAlpha = 0.3;
            context.fillRect(left, yOf(most), right - left, COUNTER_PX - 1 - yOf(most));
            context.globalAlpha = 1;
            context.fillRect(left, yOf(most), right - left, Math.max(1, yOf(least) - yOf(most)));
          }
        }}
        onPointerMove={(move) => {
          const at = [...steps.keys()].find((i) => i % 2 === 0 && xOf(i / 2 + 1) > move.offsetX) ?? -1;
          const [least, most] = [steps[at], steps[at + 1]];
          const text = least === most ? value(most) : `${value(least)} to ${value(most)}`;
          const lines = [name, text, processName(pid)];
          tip.value = most === most && at >= 0 ? { x: move.clientX, y: move.clientY, lines } : null;
        }}
        onPointerLeave={() => (tip.value = null)}
      />
    </Strip>
  );
}
