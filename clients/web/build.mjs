// The page, built: app.css; app.js, later.js, which that loads, and chunk.js, what both need; and one_page.html,
// which all of it is put into, with a profile, to be shared as one file.
//
//   node build.mjs OUT     OUT is `generated`, which stands in the tree, or a test's
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, transform } from "esbuild";
import { minify } from "terser";

const out = process.argv[2];

const { outputFiles } = await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  splitting: true,
  chunkNames: "[name]",
  target: "es2022",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  inject: ["jsx.js"],
  tsconfigRaw: {}, // that one is for the type check, and says "react-jsx"
  legalComments: "none",
  logLevel: "warning",
  write: false,
});
// What esbuild has made small terser makes smaller still, by 4 % as they are packed: it writes functions into where
// they are called, and removes what nothing reads.
mkdirSync(out, { recursive: true });
for (const { path, text } of outputFiles) {
  const smaller = path.endsWith(".js") && (await minify(text, { module: true, ecma: 2020, compress: { passes: 2, inline: 1 } }));
  writeFileSync(path, smaller ? smaller.code : text);
}

const { code } = await transform(readFileSync("one_page_start.js", "utf8"), { minify: true, format: "iife", target: "es2022" });
const start = code.trim();
const hash = createHash("sha256").update(start).digest("base64");
// Its scripts are its own, at addresses that it makes; nothing else is run, and nothing is asked for.
const policy =
  `default-src 'none'; script-src 'sha256-${hash}' data:; worker-src data:; img-src data: blob:; ` +
  "base-uri 'none'; form-action 'none'";
const page = readFileSync("one_page.html", "utf8").replace("@POLICY@", policy).replace("@START@", () => start);
writeFileSync(join(out, "one_page.html"), page);
