// All that the service has, as a session file.
import type { Rpc } from "./rpc";

/** In base64. */
export async function readSession(rpc: Rpc): Promise<string> {
  return (await rpc.call("_getSession", { sources: true })).data;
}
