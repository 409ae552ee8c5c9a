// The official SDK's client, for tests: a question a line on standard input, an answer a line on standard output.
//
//   node client.mjs PACKAGES COMMAND ARGS...      PACKAGES: the folder that has the SDK
//   ["callTool", {...}] -> {"result": ...} or {"error": "..."}
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [packages, command, ...args] = process.argv.slice(2);
const sdk = (name) => import(pathToFileURL(join(packages, "@modelcontextprotocol/sdk/dist/esm/client", name)).href);
const [{ Client }, { StdioClientTransport }] = await Promise.all([sdk("index.js"), sdk("stdio.js")]);

const client = new Client({ name: "tests", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));

const own = { instructions: () => client.getInstructions(), server: () => client.getServerVersion(), capabilities: () => client.getServerCapabilities() };
for await (const line of createInterface({ input: process.stdin })) {
  const [method, question] = JSON.parse(line);
  try {
    const result = own[method] ? own[method]() : await client[method](question);
    console.log(JSON.stringify({ result }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
await client.close();
