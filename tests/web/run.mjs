// Bundles each *.test.ts of the current folder, web, editor or vscode, with esbuild, and runs them with node's own test runner.
//
//   node ../web/run.mjs OUT [NAME...]     OUT: a folder for the bundles
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const here = process.cwd();
const client = join(here, "../../clients", basename(here));
const { build } = createRequire(join(client, "package.json"))("esbuild");
const [out, ...wanted] = process.argv.slice(2);
const names = readdirSync(here).filter(
  (name) =>
    name.endsWith(".test.ts") && (!wanted.length || wanted.some((word) => name.includes(word))),
);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: names.map((name) => join(here, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { TESTS: JSON.stringify(join(here, "..")) },
  // Packages that are no modules ask for node's own parts by `require`.
  banner: { js: 'import{createRequire as ownRequire}from"node:module";const require=ownRequire(import.meta.url);' },
  nodePaths: [join(client, "node_modules")],
  sourcemap: "inline",
  logLevel: "warning",
});
const files = readdirSync(out).map((name) => join(out, name));
const ran = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  stdio: "inherit",
});
process.exitCode = ran.status ?? 1;
