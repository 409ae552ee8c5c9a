// Loops that were late: a table of their stalls, the picked one in full below it; or a table of the loops.
import type { LoopTable as Loops } from "../../data/stalls/loops";
import { data } from "../../state/live";
import { select, selection, STALL_TABLES } from "../../state/selection";
import { canRecord } from "../../state/standing";
import { grouped } from "../parts/format";
import { useRoving } from "../parts/roving";
import { LoopTable } from "./loop_table";
import { NoStalls } from "./no_stalls";
import { StallDetail } from "./stall_detail";
import { StallTable } from "./stall_table";
import { useLoops } from "./use_loops";

const WORDS = { stalls: "Stalls", loops: "Loops" };
const MS = { jank: "counted only", stall: "told", hang: "", dead: "" };

export function StallView() {
  const { stallTable, stall } = selection.value;
  const loops = useLoops();
  const { stalls: count = 0, ongoingStalls = 0 } = data.value ?? {};
  return (
    <div class="stacked">
      <div class="bar-of-view">
        <div class="controls" role="toolbar" aria-label="What is listed" {...useRoving()}>
          {STALL_TABLES.map((one) => (
            <button aria-pressed={one === stallTable} onClick={() => select({ stallTable: one })}>
              {WORDS[one]} {one === "stalls" ? grouped(count) : loops && grouped(loops.loops.length)}
            </button>
          ))}
        </div>
        {ongoingStalls > 0 && (
          <span class="warn">
            {grouped(ongoingStalls)} {ongoingStalls === 1 ? "has" : "have"} not ended
          </span>
        )}
        {loops && (
          <span class="levels" title="From when on a dispatch is what; a loop may have its own limits">
            {(Object.keys(MS) as (keyof typeof MS)[]).map((level) => (
              <span>
                {level !== "jank" && <i class={`swatch ${level}`} />} {level} {grouped(loops.limits[level])} ms
              </span>
            ))}
          </span>
        )}
      </div>
      <div class="rest">
        <List loops={loops} />
      </div>
      {stallTable === "stalls" && stall > 0 && <StallDetail number={stall} />}
    </div>
  );
}

function List({ loops }: { loops: Loops | null }) {
  if (selection.value.stallTable === "loops") return loops ? <LoopTable loops={loops} /> : <NoLoops />;
  return data.value?.stalls ? <StallTable /> : <NoStalls loops={loops} />;
}

function NoLoops() {
  return (
    <p class="empty" role="status">
      {canRecord.value ? "Loading…" : "A saved profile has no figures of loops, but of their stalls."}
    </p>
  );
}
