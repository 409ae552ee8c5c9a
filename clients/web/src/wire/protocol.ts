// What schemas/ says of the wire, under the names that this page uses.
export type {
  Flag,
  Isolate,
  Methods,
  PrivateCpuSamplesTable as SamplesTable,
  PrivateLibrary as WireLibrary,
  PrivateTableFrame as WireFrame,
  PrivateTableFunction as WireFunction,
  PrivateTableTree as WireTree,
  Streams,
  VM,
} from "../../../../schemas/generated/protocol";
