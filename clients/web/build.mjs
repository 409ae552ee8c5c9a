// The page, built: app.css; app.js, later.js, which that loads, and chunk.js, what both need.
//
//   node build.mjs OUT     OUT is `generated`, which stands in the tree, or a test's
import { build } from "esbuild";
import { flamePage } from "./flame_page.mjs";

await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: process.argv[2],
  bundle: true,
  minify: true,
  format: "esm",
  splitting: true,
  chunkNames: "[name]",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  plugins: [flamePage],
  logLevel: "warning",
});
