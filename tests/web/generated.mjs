// The client of the current folder, web or editor: its generated/ is what its src/ makes, byte for byte.
//
//   node ../web/generated.mjs OUT     OUT: a folder for what is built here
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

const name = basename(process.cwd());
const client = join("../../clients", name);
const [out] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });
const built = spawnSync(process.execPath, ["build.mjs", out], { cwd: client, stdio: "inherit" });
if (built.status !== 0) process.exit(1);

const kept = join(client, "generated");
const names = new Set([...readdirSync(out), ...readdirSync(kept)]);
const read = (folder, name) => {
  try {
    return readFileSync(join(folder, name));
  } catch {
    return Buffer.from("");
  }
};
for (const file of names) {
  if (read(out, file).equals(read(kept, file))) continue;
  console.error(`clients/${name}/generated/${file} is not what clients/${name}/src makes: run ./dev web`);
  process.exitCode = 1;
}
