// A function's machine code, as the service disassembles it.
import type { Disassembly, Instruction } from "./protocol";
import type { Rpc } from "./rpc";

export interface Code {
  instructions: Instruction[];
  reason: string; // why there are none; "": there are
  bias: number; // by so much is an address above its offset; 0: not known
}

export async function readCode(rpc: Rpc, functionId: string): Promise<Code> {
  const code: Code = { instructions: [], reason: "", bias: 0 };
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const part: Disassembly = await rpc.call("_getDisassembly", { functionId, offset });
    for (const one of part.instructions) code.instructions.push(one);
    code.reason = part.reason ?? "";
    code.bias = part.loadBias ?? 0;
    offset = part.next;
  }
  return code;
}
