// What schemas/ says of the wire, under the names that this page uses.
export type {
  Flag,
  Isolate,
  Methods,
  PrivateCpuSamples as SamplesList,
  PrivateCpuSamplesTable as SamplesTable,
  PrivateDisassembly as Disassembly,
  PrivateExit as Exit,
  PrivateFrame as ListFrame,
  PrivateFunction as ListFunction,
  PrivateInstruction as Instruction,
  PrivateLibrary as WireLibrary,
  PrivateTableFrame as WireFrame,
  PrivateTableFunction as WireFunction,
  PrivateTableTree as WireTree,
  Streams,
  VM,
} from "../../../../schemas/generated/protocol";
