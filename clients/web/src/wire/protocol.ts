// What schemas/ says of the wire, under the names that this page uses.
export type {
  EventIsolateExit,
  Flag,
  Isolate,
  Methods,
  PrivateCpuSamples as SamplesList,
  PrivateCpuSamplesTable as SamplesTable,
  PrivateFrame as ListFrame,
  PrivateFunction as ListFunction,
  PrivateLibrary as WireLibrary,
  PrivateTableFrame as WireFrame,
  PrivateTableFunction as WireFunction,
  PrivateTableTree as WireTree,
  Streams,
  VM,
} from "../../../../schemas/generated/protocol";
