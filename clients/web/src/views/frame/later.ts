// Views of the page's second file. A service that is gone sends none: it is asked again once it is back.
import { effect, signal } from "@preact/signals";
import { link, problem } from "../../state/live";
import type { Compare } from "../compare/compare";
import type { HeatMap } from "../heat/heat_map";
import type { Save } from "../files/save";
import type { Source } from "../rows/source";
import type { Sandwich } from "../sandwich/sandwich";
import type { ThreadTable } from "../overview/thread_table";
import type { LaneTools } from "../overview/lane_tools";
import type { StallMarks } from "../stalls/marks";
import type { stepStall } from "../stalls/pick";
import type { StallView } from "../stalls/stall_view";
import type { EventPanel } from "../timeline/event_panel";
import type { EventTables } from "../timeline/event_tables";
import type { Strips } from "../timeline/strips";
import type { Filters } from "./filters";
import type { Help } from "./help";
import type { KindSwitch } from "./kind_switch";
import type { LossBanner, Losses } from "./losses";
import type { Processes } from "./processes";

export interface LaterViews {
  Compare: typeof Compare;
  EventPanel: typeof EventPanel;
  Filters: typeof Filters;
  HeatMap: typeof HeatMap;
  Help: typeof Help;
  KindSwitch: typeof KindSwitch;
  LossBanner: typeof LossBanner;
  Losses: typeof Losses;
  Processes: typeof Processes;
  Save: typeof Save;
  Source: typeof Source;
  Sandwich: typeof Sandwich;
  EventTables: typeof EventTables;
  LaneTools: typeof LaneTools;
  StallMarks: typeof StallMarks;
  StallView: typeof StallView;
  stepStall: typeof stepStall;
  Strips: typeof Strips;
  ThreadTable: typeof ThreadTable;
}

/** Empty until they are there. */
export const later = signal<Partial<LaterViews>>({});

/** Loads them at once; where that fails, each time the link is back. */
export function keepLater(load: () => Promise<LaterViews>): void {
  let failed = false;
  const tryIt = async () => {
    failed = false;
    try {
      later.value = await load();
    } catch {
      failed = true;
      problem.value = "a part of the page did not load: reload it once the service is back";
    }
  };
  void tryIt();
  effect(() => {
    if (link.value.state === "open" && failed) void tryIt();
  });
}
