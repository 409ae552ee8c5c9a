// The page as it is sent: one JS, one CSS, at most 60 KB in all, and nothing in it that loads more.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MOST = 60 * 1000; // bytes, gzipped
const folder = process.argv[2];
const sizes = JSON.parse(readFileSync(join(folder, "sizes.json"), "utf8"));
assert.deepEqual(Object.keys(sizes).sort(), ["app.css", "app.js", "index.html"]);
const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
console.log(sizes, total);
assert.ok(total <= MOST, `the page is ${total} bytes gzipped; ${MOST} are allowed`);

const html = readFileSync(join(folder, "index.html"), "utf8");
for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g))
  assert.match(address, /^(app\.js|app\.css|data:,)$/);
const css = readFileSync(join(folder, "app.css"), "utf8");
assert.doesNotMatch(css, /@import|url\(\s*["']?(?!data:)/);
