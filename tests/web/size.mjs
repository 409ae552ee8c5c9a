// The page as it is sent: at most 80 KB for the first view, 134 KB in all, and nothing in it that loads more.
import assert from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOST = { first: 80 * 1000, all: 134 * 1000 }; // bytes, gzipped
const web = join(dirname(fileURLToPath(import.meta.url)), "../../clients/web");
const generated = readdirSync(join(web, "generated")).map((name) => `generated/${name}`);
const files = ["index.html", ...generated].map((name) => {
  const text = readFileSync(join(web, name), "utf8");
  return { name, text, size: gzipSync(text, { level: 9 }).length };
});
const sizeOf = (some) => some.reduce((sum, { size }) => sum + size, 0);
const first = sizeOf(files.filter(({ name }) => !name.endsWith("later.js")));
const all = sizeOf(files);
for (const { name, size } of files) console.log(name, size);
console.log({ first, all });
assert.ok(first <= MOST.first, `the first view is ${first} bytes gzipped; ${MOST.first} are allowed`);
assert.ok(all <= MOST.all, `the page is ${all} bytes gzipped; ${MOST.all} are allowed`);

const text = (suffix) => files.find(({ name }) => name.endsWith(suffix)).text;
for (const [, address] of text("index.html").matchAll(/(?:src|href)="([^"]*)"/g))
  assert.match(address, /^(app\.js|app\.css|data:,)$/);
assert.doesNotMatch(text("app.css"), /@import|url\(\s*["']?(?!data:)/);
// What is loaded later is not needed before.
assert.doesNotMatch(text("app.js") + text("chunk.js"), /(^|[;}])(import|export)[^("']*["']\.\/later\.js/);
for (const { text } of files)
  for (const [, address] of text.matchAll(/(?:import|from)\s*\(?\s*"([^"]*)"/g))
    assert.match(address, /^\.\/(chunk|later)\.js$/);
