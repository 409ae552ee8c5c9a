// The lanes below the curve: names, and beside them when threads were in which state. Only those
// in sight are elements, and drawn.
import type { CanvasHTMLAttributes } from "preact";
import { useEffect } from "preact/hooks";
import type { Filter } from "../../data/filter";
import type { Lane } from "../../data/layouts/lanes";
import type { LaneInTime, Overview } from "../../data/layouts/overview";
import { select, selection, toggleOpen } from "../../state/selection";
import { Canvas } from "../parts/canvas";
import { legend } from "../../state/colouring";
import { fill, ink } from "../parts/colours";
import { grouped } from "../parts/format";
import { laneName, whoIs } from "./lane_tip";
import { drawLanes, isIn, LANE_PX, laneOf, noteOf, tagsOf, threadsOf } from "./lanes";
import { useRowsInSight } from "../parts/rows_in_sight";
import type { StallMarks } from "../stalls/marks";
import type { TimeView } from "../time/time_axis";
import { useTimeDrag, zoomTime } from "../time/time_drag";

const BEYOND = 3; // lanes above and below those in sight: each is many rectangles

/** Handlers where time is dragged and a tip is shown; laneAt null: of all, undefined: none. */
export type WithTip = (
  drag: ReturnType<typeof useTimeDrag>,
  laneAt: (event: PointerEvent) => LaneInTime | null | undefined,
) => CanvasHTMLAttributes<HTMLCanvasElement>;

/** Of the page's second file: not there at once. */
export interface Marks {
  StallMarks?: typeof StallMarks;
}

interface Props extends Marks {
  overview: Overview;
  view: TimeView;
  edges: number[] | undefined; // of the selected window, on the canvas
  withTip: WithTip;
  height: number; // CSS pixels; of more lanes some are scrolled to
}

type Press = Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">;

function pick({ kind, name, tids }: Lane, { shiftKey, ctrlKey, metaKey }: Press): void {
  const { filter } = selection.value;
  const together = shiftKey || ctrlKey || metaKey;
  select({ filter: kind === "tag" ? tagsOf(filter, name, together) : threadsOf(filter, tids, together) });
}

export function Lanes({ overview, view, edges, withTip, height, StallMarks }: Props) {
  const { lanes, laneCount } = overview;
  const { filter } = selection.value;
  const { threads } = filter;
  const { first, last, ...sight } = useRowsInSight(lanes.length, LANE_PX, BEYOND);
  const shown = lanes.slice(first, last);
  const by = legend.value?.by ?? "library";
  const runs = (slot: number) => fill(slot, by);
  const firstGroup = shown.find(({ kind }) => kind === "group");
  const laneAt = (event: PointerEvent) => shown[Math.floor(event.offsetY / LANE_PX)];
  const drag = useTimeDrag(view, (event) => {
    const lane = laneAt(event);
    if (lane) pick(lane, event);
  });
  useEffect(() => {
    const at = laneOf(lanes, threads ?? []);
    if (at >= 0) sight.reveal(at);
  }, [threads]);
  const width = view.left + view.width;
  return (
    <div
      class="lanes"
      ref={sight.body}
      style={`height: ${height}px`}
      onScroll={sight.onScroll}
    >
      <div style={`height: ${lanes.length * LANE_PX}px`}>
        <div style={`top: ${first * LANE_PX}px`}>
          <Canvas
            {...withTip(drag, laneAt)}
            aria-label="States over time"
            onWheel={(event) => {
              const { scrollHeight, clientHeight } = event.currentTarget.closest(".lanes")!;
              if (scrollHeight <= clientHeight || event.ctrlKey) zoomTime(view, event);
            }}
            pixels={[width, shown.length * LANE_PX]}
            of={[overview, first, filter, ink.value, legend.value?.by]}
            draw={(context) => drawLanes(context, overview, shown, width, ink.value, (lane) => isIn(lane, filter), runs)}
          />
          {shown.map((lane) => (
            <Label
              key={lane.key}
              lane={lane}
              note={noteOf(lane, lanes)}
              filter={filter}
              isReached={lane === firstGroup}
            />
          ))}
          {StallMarks && <StallMarks lanes={shown} view={view} lane_px={LANE_PX} />}
        </div>
        {edges && (
          <>
            <i class="shade" style={`left: ${view.left}px; right: ${width - edges[0]}px`} />
            <i class="shade" style={`left: ${edges[1]}px; right: 0`} />
          </>
        )}
      </div>
      {laneCount > lanes.length && (
        <p class="faint">and {grouped(laneCount - lanes.length)} with fewer samples</p>
      )}
    </div>
  );
}

interface LabelProps {
  lane: Lane;
  note: string;
  filter: Filter;
  isReached: boolean; // by Tab: arrows of the overview go to the others
}

/** Of a group it opens, of others it picks. */
function Label({ lane, note, filter, isReached }: LabelProps) {
  const isGroup = lane.kind === "group";
  const isPicked = Boolean(lane.kind === "tag" ? filter.tags : filter.threads) && isIn(lane, filter);
  return (
    <button
      class={isPicked ? "lane picked" : "lane"}
      style={`padding-left: ${4 + 10 * lane.depth}px`}
      tabIndex={isReached ? 0 : -1}
      aria-expanded={isGroup ? lane.isOpen : undefined}
      aria-pressed={isGroup ? undefined : isPicked}
      title={`${whoIs(lane)}: ${grouped(lane.samples)} samples`}
      onClick={(event) => (isGroup ? toggleOpen(lane.key) : pick(lane, event))}
    >
      {isGroup && <i aria-hidden="true">{lane.isOpen ? "▾" : "▸"}</i>}
      <bdi>{laneName(lane)}</bdi>
      <span>{note}</span>
    </button>
  );
}
