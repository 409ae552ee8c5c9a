// The page, built: app.js and app.css.
//
//   node build.mjs OUT     OUT is `generated`, which stands in the tree, or a test's
import { build } from "esbuild";

await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: process.argv[2],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
