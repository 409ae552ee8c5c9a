// Stalls over the lanes of their threads: buttons, so that they are reached by keys. A click picks one; where several
// are too near to be told apart, it zooms to them.
import type { Lane } from "../../data/layouts/lanes";
import { type Mark, marksOf, spanOf } from "../../data/stalls/marks";
import { useAnswer } from "../../state/answer";
import { data, look } from "../../state/live";
import { selection } from "../../state/selection";
import { grouped } from "../parts/format";
import { useRoving } from "../parts/roving";
import { tip } from "../parts/tip";
import type { TimeView } from "../time/time_axis";
import { zoomOverviewTo } from "../time/time_drag";
import { IN_TIME, pickStall } from "./pick";
import { lengthText, nameOfLoop, secondsText } from "./words";

const AROUND = 0.1; // of what is zoomed to, on both sides
const TOLD_MOST = 4; // of those that are joined
const HATCH_LEAST_PX = 2; // of a range: narrower, it is not seen

interface Props {
  lanes: readonly Lane[]; // in sight
  view: TimeView;
  lane_px: number;
}

export function StallMarks({ lanes, view, lane_px }: Props) {
  const { until_us } = look.value.filter;
  const known = data.value?.stalls ?? 0;
  const all = useAnswer("stalls", known ? { sort: IN_TIME, search: null, until_us } : null);
  const roving = useRoving();
  if (!known || !all?.length) return null; // of what was cleared the answer is still there
  const now_us = data.value?.extent_us?.[1] ?? 0;
  return (
    <div
      class="marks"
      role="toolbar"
      aria-label="Stalls: arrows go from one to the next"
      style={`left: ${view.left}px`}
      {...roving}
      onKeyDown={(event) => {
        roving.onKeyDown(event);
        if (event.defaultPrevented) event.stopPropagation(); // the overview has arrows of its own
      }}
    >
      {lanes.map(({ kind, key, pid, tids }, i) => {
        if (kind === "process") return null;
        const own = all.filter((one) => one.pid === pid && tids.includes(one.tid));
        return marksOf(own, view, now_us).map((mark) => (
          <MarkButton key={`${key}/${mark.of[0].number}`} mark={mark} top={i * lane_px} zero_us={view.zero_us} />
        ));
      })}
    </div>
  );
}

function MarkButton({ mark, top, zero_us }: { mark: Mark; top: number; zero_us: number }) {
  const { left, width, fromRange, toRange, level, ongoing, of } = mark;
  const lines = markWords(mark, zero_us);
  const show = ({ currentTarget, clientX = 0, clientY = 0 }: Partial<PointerEvent>) => {
    const { left: x, bottom: y } = (currentTarget as Element).getBoundingClientRect();
    tip.value = { x: clientX || x, y: clientY || y, lines };
  };
  const isPicked = of.some(({ number }) => number === selection.value.stall);
  return (
    <button
      class={`mark ${level}${ongoing ? " ongoing" : ""}${isPicked ? " picked" : ""}`}
      style={`left: ${left}px; width: ${width}px; top: ${top}px`}
      aria-label={lines.join(", ")}
      onClick={() => {
        tip.value = null;
        if (of.length === 1) return pickStall(of[0]);
        const [from, to] = spanOf(mark);
        zoomOverviewTo([from - AROUND * (to - from), to + AROUND * (to - from)]);
      }}
      onPointerMove={show}
      onPointerLeave={() => (tip.value = null)}
      onFocus={show as (event: FocusEvent) => void}
      onBlur={() => (tip.value = null)}
    >
      {fromRange >= HATCH_LEAST_PX && <i style={`left: 0; width: ${fromRange}px`} />}
      {toRange >= HATCH_LEAST_PX && <i style={`right: 0; width: ${toRange}px`} />}
    </button>
  );
}

/** The first line says what it is. */
function markWords({ of }: Mark, zero_us: number): string[] {
  if (of.length === 1) {
    const [one] = of;
    return [
      `Stall ${grouped(one.number)} of ${nameOfLoop(one)}: ${lengthText(one)}`,
      `${one.level}, ${one.cause}`,
      ...(one.culprit ? [one.culprit] : []),
      ...(one.caller && one.caller !== one.culprit ? [`in ${one.caller}`] : []),
      `at ${secondsText(one.start_us[0], zero_us)}`,
    ];
  }
  const longest = [...of].sort((a, b) => b.duration_us[1] - a.duration_us[1]).slice(0, TOLD_MOST);
  return [
    `${grouped(of.length)} stalls; a click zooms to them`,
    ...longest.map((one) => `${lengthText(one)}, ${one.cause}: ${one.culprit || nameOfLoop(one)}`),
    ...(of.length > TOLD_MOST ? [`and ${grouped(of.length - TOLD_MOST)} shorter ones`] : []),
  ];
}
