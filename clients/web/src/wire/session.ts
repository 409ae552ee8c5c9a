// All that the service knows, as the pieces of a session file.
import type { Methods } from "./protocol";
import type { Rpc } from "./rpc";

/** Each in base64 of its own; one behind the other they are the file. */
export async function readSession(rpc: Rpc): Promise<string[]> {
  const pieces = [];
  for (let cursor: { cursor: string } | Record<string, never> | null = {}; cursor; ) {
    const part: Methods["_getSession"]["result"] = await rpc.call("_getSession", cursor);
    pieces.push(part.data);
    cursor = part.next ? { cursor: part.next } : null;
  }
  return pieces;
}
