// clients/web/generated is what clients/web/src makes, byte for byte.
//
//   node generated.mjs OUT     OUT: a folder for what is built here
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../clients/web");
const [out] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });
const built = spawnSync(process.execPath, ["build.mjs", out], { cwd: web, stdio: "inherit" });
if (built.status !== 0) process.exit(1);

const kept = join(web, "generated");
const names = new Set([...readdirSync(out), ...readdirSync(kept)]);
const read = (folder, name) => {
  try {
    return readFileSync(join(folder, name));
  } catch {
    return Buffer.from("");
  }
};
for (const name of names) {
  if (read(out, name).equals(read(kept, name))) continue;
  console.error(`clients/web/generated/${name} is not what clients/web/src makes: run ./dev web`);
  process.exitCode = 1;
}
