// What the first view does not need: a second file, loaded when the page is there.
// What is alike stands together: in this order they pack 300 bytes smaller.
export { Events } from "./data/timeline/events";
export { openFile } from "./data/files/open";
export { written } from "./data/saved/save";
export { Stalls } from "./data/stalls/stalls";
export { Source } from "./views/rows/source";
export { HeatMap } from "./views/heat/heat_map";
export { Save } from "./views/files/save";
export { Help } from "./views/frame/help";
export { Strips } from "./views/timeline/strips";
export { Filters } from "./views/frame/filters";
export { Processes } from "./views/frame/processes";
export { KindSwitch } from "./views/frame/kind_switch";
export { StallMarks } from "./views/stalls/marks";
export { LaneTools } from "./views/overview/lane_tools";
export { ThreadTable } from "./views/overview/thread_table";
export { Compare } from "./views/compare/compare";
export { EventPanel } from "./views/timeline/event_panel";
export { Sandwich } from "./views/sandwich/sandwich";
export { stepStall } from "./views/stalls/pick";
export { StallView } from "./views/stalls/stall_view";
export { LossBanner, Losses } from "./views/frame/losses";
export { EventTables } from "./views/timeline/event_tables";
