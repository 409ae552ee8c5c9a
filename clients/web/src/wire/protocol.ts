// What schemas/ says of the wire, under the names that this page uses.
export type {
  Flag,
  Isolate,
  PrivateCpuSamples as SamplesList,
  PrivateCpuSamplesTable as SamplesTable,
  PrivateDisassembly as Disassembly,
  PrivateExit as Exit,
  PrivateFrame as ListFrame,
  PrivateFunction as ListFunction,
  PrivateInstruction as Instruction,
  PrivateLibrary as WireLibrary,
  PrivateSavedFile as SavedFile,
  PrivateTableFrame as WireFrame,
  PrivateTableFunction as WireFunction,
  PrivateTableTree as WireTree,
  PrivateTimelineBlock as TimelineBlock,
  PrivateTimelineTable as TimelineTable,
  Streams,
  VM,
} from "../../../../schemas/generated/protocol";
import type { Methods as Generated, Sentinel, Success } from "../../../../schemas/generated/protocol";
import type { LoopStats, StallList } from "./stalls";

export type Methods = Generated & {
  _getStalls: { params: { since?: string; count?: number }; result: StallList | Sentinel };
  _getLoopStats: { params: object; result: LoopStats | Sentinel };
  _clearStalls: { params: object; result: Success | Sentinel };
};
export type {
  Limits as LoopLimits,
  Loop,
  LoopStats,
  LoopTimes,
  Range as MicrosRange,
  Stall,
  StallList,
  StallPlace,
  StallStack,
} from "./stalls";
