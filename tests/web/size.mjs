// The page as it is sent: one JS, one CSS, at most 60 KB in all, and nothing in it that loads more.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOST = 60 * 1000; // bytes, gzipped
const web = join(dirname(fileURLToPath(import.meta.url)), "../../clients/web");
const files = ["index.html", "generated/app.js", "generated/app.css"];
const texts = files.map((name) => readFileSync(join(web, name), "utf8"));
const sizes = texts.map((text) => gzipSync(text, { level: 9 }).length);
const total = sizes.reduce((sum, size) => sum + size, 0);
console.log(files, sizes, total);
assert.ok(total <= MOST, `the page is ${total} bytes gzipped; ${MOST} are allowed`);

const [html, , css] = texts;
for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g))
  assert.match(address, /^(app\.js|app\.css|data:,)$/);
assert.doesNotMatch(css, /@import|url\(\s*["']?(?!data:)/);
