// Beside the curve, above the names of lanes: which threads have lanes, and in what order.
import { LANE_ORDERS, type LaneOrder } from "../../data/layouts/lanes";
import type { Overview } from "../../data/layouts/overview";
import { data } from "../../state/live";
import { adjust, select, selection } from "../../state/selection";
import { grouped } from "../parts/format";
import { threadsOf } from "./lanes";

const FEW = 3; // threads: they need neither

const WORDS: Record<LaneOrder, string> = {
  tag: "user tags",
  start: "by start",
  activity: "by activity",
  name: "by name",
};

interface Props {
  overview: Overview;
  bottom: number; // where they end, from below
}

export function LaneTools({ overview, bottom }: Props) {
  const { laneFind: text, laneOrder, filter } = selection.value;
  const all = data.value?.threads.length ?? 0;
  const hasTags = data.value?.hasTags || laneOrder === "tag";
  if (all <= FEW && !text && !hasTags) return null;
  const found = overview.lanes.filter(({ kind }) => kind === "thread");
  const pickAll = () => {
    const tids = found.flatMap((lane) => lane.tids);
    const { threads: _, ...rest } = filter;
    if (tids.length) select({ filter: threadsOf(rest, tids, false) });
  };
  return (
    <div class="lane-tools" style={`bottom: ${bottom + 2}px`}>
      <select
        aria-label="Order of the lanes"
        title="Order of the lanes; user tags: what threads said that they did, such as asyncio's tasks"
        value={laneOrder}
        onChange={({ currentTarget }) => 
          select({ laneOrder: currentTarget.value as LaneOrder })
        }
      >
        {LANE_ORDERS.filter((order) => order !== "tag" || hasTags).map((order) => (
          <option value={order}>{WORDS[order]}</option>
        ))}
      </select>
      <input
        type="search"
        id="find-threads"
        placeholder={`${grouped(all)} threads…  n`}
        aria-label="Find threads by name or number; Enter selects them"
        title="Shows only lanes of threads whose name or number has this; Enter selects them (n)"
        value={text}
        onInput={({ currentTarget }) => {
          if (text) adjust({ laneFind: currentTarget.value });
          else select({ laneFind: currentTarget.value });
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && text) pickAll();
          if (event.key === "Escape") {
            adjust({ laneFind: "" });
            event.currentTarget.blur();
          }
          event.stopPropagation(); // arrows move in the text
        }}
      />
    </div>
  );
}
