// The extension, bundled: dist/ for VS Code, and isoscope.vsix, which is what it installs.
//
//   node build.mjs OUT     OUT/dist/*.js, OUT/isoscope.vsix
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { vsix } from "./vsix.mjs";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs OUT");
const dist = join(out, "dist");
const common = { bundle: true, minify: true, legalComments: "none", logLevel: "warning" };

await build({
  ...common,
  entryPoints: { extension: "src/extension.ts" },
  outdir: dist,
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode", "bufferutil", "utf-8-validate"], // ws does without the last two
});
// In the webview: neither imports anything.
await build({
  ...common,
  entryPoints: { start: "src/webview/start.ts", socket: "src/webview/socket.ts" },
  outdir: dist,
  format: "iife",
  target: "es2022",
});

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const inFolder = (folder, from) => readdirSync(from).map((name) => [`${folder}/${name}`, readFileSync(join(from, name))]);
const files = {
  "package.json": Buffer.from(JSON.stringify(installed(manifest), null, 2)),
  "README.md": readFileSync("MARKETPLACE.md"),
  "LICENSE.txt": readFileSync("../../LICENSE"),
  ...Object.fromEntries([...inFolder("dist", dist), ...inFolder("media", "media")]),
};
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "isoscope.vsix"), vsix(manifest, files));

/** What VS Code reads: all of npm's is in the bundle. */
function installed({ scripts, dependencies, devDependencies, ...rest }) {
  return rest;
}
