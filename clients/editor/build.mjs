// The programs, each bundled into one file that needs nothing but node.
//
//   node build.mjs OUT     OUT is `generated`, which stands in the tree, or a test's
import { existsSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2];
const programs = ["lsp", "mcp"].filter((name) => existsSync(`src/${name}/main.ts`));

// zod brings its errors in fifty languages, of which one is spoken.
const oneLanguage = {
  name: "one language",
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' })),
};

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
  banner: { js: 'import{createRequire as ownRequire}from"node:module";const require=ownRequire(import.meta.url);' },
  external: ["bufferutil", "utf-8-validate"], // ws does without them
  plugins: [oneLanguage],
  logLevel: "warning",
});
