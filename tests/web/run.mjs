// Bundles each *.test.ts beside it with esbuild, and runs them with node's own test runner.
//
//   node run.mjs OUT [NAME...]     OUT: a folder for the bundles
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, "../../clients/web");
const { build } = createRequire(join(web, "package.json"))("esbuild");
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
  nodePaths: [join(web, "node_modules")],
  sourcemap: "inline",
  logLevel: "warning",
});
const files = readdirSync(out).map((name) => join(out, name));
const ran = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  stdio: "inherit",
});
process.exitCode = ran.status ?? 1;
