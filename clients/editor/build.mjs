// The programs, each bundled into one file that needs nothing but node.
//
//   node build.mjs OUT     OUT is `generated`, which stands in the tree, or a test's
import { existsSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2];
const programs = ["lsp"].filter((name) => existsSync(`src/${name}/main.ts`));

await build({
  entryPoints: Object.fromEntries(programs.map((name) => [name, `src/${name}/main.ts`])),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node18",
  legalComments: "none",
  // Packages of npm that are not modules ask for node's own parts by `require`.
  banner: { js: 'import{createRequire as c_}from"node:module";const require=c_(import.meta.url);' },
  external: ["bufferutil", "utf-8-validate"], // ws does without them
  logLevel: "warning",
});
