// What the first view does not need: a second file, loaded when the page is there.
export { openFile } from "./data/files/open";
export { written } from "./data/saved/save";
export { Events } from "./data/timeline/events";
export { Compare } from "./views/compare/compare";
export { HeatMap } from "./views/heat/heat_map";
export { Save } from "./views/files/save";
export { Help } from "./views/frame/help";
export { Source } from "./views/rows/source";
export { Sandwich } from "./views/sandwich/sandwich";
export { ThreadTable } from "./views/overview/thread_table";
export { EventPanel } from "./views/timeline/event_panel";
export { SliceTable } from "./views/timeline/slice_table";
export { Strips } from "./views/timeline/strips";
