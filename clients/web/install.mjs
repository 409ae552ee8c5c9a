// npm ci in the current folder, unless its node_modules is already what its package-lock.json says.
//
//   node install.mjs [NPM]     ../editor says `node ../web/install.mjs`
//
// Several builds may come here at once: one installs, the others wait for it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const name = basename(process.cwd());
const npm = process.argv[2] ?? "npm";
const stamp = "node_modules/.installed";
const lock = ".installing"; // a folder: making one succeeds once
const STALE_MS = 10 * 60_000; // who made it was killed
const wanted = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function locked() {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > STALE_MS) rmSync(lock, { recursive: true });
  } catch {
    // It went away between the two.
  }
  return false;
}

async function install() {
  while (!locked()) await new Promise((resolve) => setTimeout(resolve, 200));
  try {
    if (read(stamp) === wanted) return;
    // No package of ours needs a script to be installed.
    execFileSync(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    writeFileSync(stamp, wanted);
  } catch (error) {
    console.error(
      `clients/${name}: npm ci failed (${error.message}). It needs npm's registry, once; ` +
        `isoscope itself is built without it, from clients/${name}/generated.`,
    );
    process.exitCode = 1;
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

if (read(stamp) !== wanted) await install();
