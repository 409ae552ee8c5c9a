// The page, built: index.html, app.js, app.css, and page_files.c, which holds them as gzip.
//
//   node build.mjs OUT
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const out = process.argv[2] ?? "dist";
const types = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
};

await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.html"), readFileSync("index.html"));

function bytes(data) {
  const lines = [];
  for (let i = 0; i < data.length; i += 24)
    lines.push(`    ${data.subarray(i, i + 24).join(",")},`);
  return lines.join("\n");
}

const files = Object.keys(types).map((name) => {
  const data = readFileSync(join(out, name));
  const etag = createHash("sha256").update(data).digest("hex").slice(0, 16);
  return { name, etag, gzip: gzipSync(data, { level: 9 }) };
});
const arrays = files.map(
  ({ gzip }, i) => `static const unsigned char file_${i}[] = {\n${bytes(gzip)}\n};\n`,
);
const rows = files.map(
  ({ name, etag }, i) =>
    `    { "${name}", "${types[name]}", "\\"${etag}\\"", file_${i}, sizeof(file_${i}) },`,
);
writeFileSync(
  join(out, "page_files.c"),
  `/* Made by clients/web/build.mjs. */\n#include "page.h"\n\n${arrays.join("\n")}
const struct page_file page_files[] = {\n${rows.join("\n")}
    { NULL, NULL, NULL, NULL, 0 },\n};\n`,
);
writeFileSync(
  join(out, "sizes.json"),
  JSON.stringify(Object.fromEntries(files.map(({ name, gzip }) => [name, gzip.length]))),
);
