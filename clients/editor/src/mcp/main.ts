// `isoscope mcp [--root FOLDER]... [SOURCE]...`: the words were checked by the command itself.
import { realpathSync } from "node:fs";
import { parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ProfileServer } from "./server";
import { Sources } from "./facts/sources";

// Standard output is the protocol's: whatever else is told goes to the other one.
console.log = console.info = console.debug = console.error;

const { values, positionals } = parseArgs({
  options: { root: { type: "string", multiple: true } },
  allowPositionals: true,
});
const roots = (values.root ?? ["."]).flatMap((folder) => {
  try {
    return [realpathSync(folder)];
  } catch (error) {
    console.error(`isoscope: --root ${folder}: ${(error as Error).message}`);
    return [];
  }
});
const server = new ProfileServer(new Sources(positionals, roots));
const end = () => void server.close().finally(() => process.exit(0));

process.stdin.on("end", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);
await server.mcp.connect(new StdioServerTransport());
