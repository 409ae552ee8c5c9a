// All tools, as clients list them.
import type { Tool } from "./facts/tool";
import { allocations } from "./tools/allocations";
import { compare } from "./tools/compare";
import { explain } from "./tools/explain";
import { functionTool } from "./tools/function";
import { hotFunctions } from "./tools/hot_functions";
import { hotPaths } from "./tools/hot_paths";
import { listSources } from "./tools/list_sources";
import { sourceLines } from "./tools/source_lines";
import { stalls } from "./tools/stalls";
import { summary } from "./tools/summary";

export const TOOLS: readonly Tool[] = [
  ...[listSources, summary, explain, hotFunctions, hotPaths, functionTool, sourceLines],
  ...[compare, stalls, allocations],
];
