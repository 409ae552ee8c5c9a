// What the first view does not need: a second file, loaded when the page is there.
export { openFile } from "./data/files/open";
export { written } from "./data/saved/save";
export { Stalls } from "./data/stalls/stalls";
export { Events } from "./data/timeline/events";
export { Compare } from "./views/compare/compare";
export { HeatMap } from "./views/heat/heat_map";
export { Save } from "./views/files/save";
export { Help } from "./views/frame/help";
export { Source } from "./views/rows/source";
export { Sandwich } from "./views/sandwich/sandwich";
export { ThreadTable } from "./views/overview/thread_table";
export { StallMarks } from "./views/stalls/marks";
export { stepStall } from "./views/stalls/pick";
export { StallView } from "./views/stalls/stall_view";
export { EventPanel } from "./views/timeline/event_panel";
export { EventTables } from "./views/timeline/event_tables";
export { Strips } from "./views/timeline/strips";
