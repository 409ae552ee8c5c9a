// The .vsix that is built: what VS Code asks of one, the same bytes each time.
//
//   node vsix.mjs OUT      OUT: a folder for what is built here
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const client = fileURLToPath(new URL("../../clients/vscode", import.meta.url));
const { unzipSync } = createRequire(join(client, "package.json"))("fflate");

function built(out) {
  rmSync(out, { recursive: true, force: true });
  assert.equal(spawnSync(process.execPath, ["build.mjs", out], { cwd: client, stdio: "inherit" }).status, 0);
  return readFileSync(join(out, "isoscope.vsix"));
}

const bytes = built(process.argv[2]);
assert.ok(bytes.equals(built(process.argv[2])), "two builds differ");
const files = unzipSync(bytes);
const text = (name) => new TextDecoder().decode(files[name]);
const manifest = JSON.parse(text("extension/package.json"));
assert.match(text("extension.vsixmanifest"), new RegExp(`Id="${manifest.name}" Version="${manifest.version}" Publisher="${manifest.publisher}"`));
for (const [, path] of text("extension.vsixmanifest").matchAll(/Path="([^"]+)"/g)) assert.ok(files[path], `${path} is not in it`);
for (const name of Object.keys(files)) {
  const end = name.replace(/^.*\./, "");
  assert.ok(text("[Content_Types].xml").includes(`Extension=".${end}"`) || name === "[Content_Types].xml", `${name} has no type`);
}
assert.ok(files[`extension/${manifest.main.replace("./", "")}`], "its main file is not in it");
for (const { icon } of manifest.contributes.viewsContainers.activitybar) assert.ok(files[`extension/${icon}`], icon);
// It starts programs, so it runs where the files are, and has no part for a window that is a browser alone.
assert.deepEqual([manifest.extensionKind, manifest.browser], [["workspace"], undefined]);
assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
assert.ok(text("extension.vsixmanifest").includes('Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"'));
assert.equal(manifest.dependencies, undefined, "what is bundled is no dependency");
// Each command that is contributed is somebody's: the server's, or registered here.
const names = readFileSync(join(client, "../editor/src/lsp/command_names.ts"), "utf8");
const own = text("extension/dist/extension.js");
for (const { command } of manifest.contributes.commands)
  assert.ok(names.includes(`"${command}"`) || own.includes(`registerCommand("${command}"`), `nobody answers ${command}`);
assert.ok(existsSync(join(client, "package-lock.json")));
