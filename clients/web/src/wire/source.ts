// The text of source files, as far as the service may read them (--source-root).
import type { Rpc } from "./rpc";
import { processIsolates } from "./service";

/** "/src/x.c" of "./build/../src/x.c", as URIs have it. */
function normal(file: string): string {
  const parts: string[] = [];
  for (const part of file.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

// A script's URI is "package:MODULE/FILE", escaped.
function isOf(uri: string, file: string): boolean {
  const path = normal(file);
  try {
    return decodeURIComponent(uri).endsWith(path);
  } catch {
    return uri.endsWith(path);
  }
}

/** null: the service does not give it. */
export async function readSource(rpc: Rpc, file: string): Promise<string | null> {
  const vm = await rpc.call("getVM", {});
  for (const isolateId of processIsolates(vm)) {
    const list = await rpc.call("getScripts", { isolateId });
    const script = list.type === "ScriptList" && list.scripts.find(({ uri }) => isOf(uri, file));
    if (!script) continue;
    const found = await rpc.call("getObject", { isolateId, objectId: script.id });
    if (found.type === "Script" && found.source !== undefined) return found.source;
  }
  return null;
}
