// The page in headless Chromium: each *.test.mjs beside it, one after the other.
//
//   ISOSCOPE_BUILD=BUILD node run.mjs [NAME...]     ISOSCOPE_PICTURES=FOLDER keeps pictures
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(here)
  .filter((name) => name.endsWith(".test.mjs"))
  .filter((name) => !wanted.length || wanted.some((word) => name.includes(word)));
if (!files.length) throw new Error(`there is no test called ${wanted}`);
for (const name of files) {
  const { status } = spawnSync(process.execPath, [join(here, name)], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
