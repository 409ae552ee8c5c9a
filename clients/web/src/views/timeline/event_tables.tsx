// Events as tables: slices by name, or frames one by one.
import { data } from "../../state/live";
import { EVENT_TABLES, select, selection } from "../../state/selection";
import { useRoving } from "../parts/roving";
import { FrameTable } from "./frame_table";
import { NoEvents } from "./no_events";
import { SliceTable } from "./slice_table";

const WORDS = { slices: "Slices by name", frames: "Frames" };

export function EventTables() {
  const { eventTable } = selection.value;
  if (!data.value?.events) return <NoEvents />;
  return (
    <div class="stacked">
      <div class="bar-of-view">
        <div class="controls" role="toolbar" aria-label="What is listed" {...useRoving()}>
          {EVENT_TABLES.map((one) => (
            <button aria-pressed={one === eventTable} onClick={() => select({ eventTable: one })}>
              {WORDS[one]}
            </button>
          ))}
        </div>
      </div>
      <div class="rest">{eventTable === "frames" ? <FrameTable /> : <SliceTable />}</div>
    </div>
  );
}
