// The extension in VS Code itself: a C++ project is opened, built, run, read and run again; its figures are held against
// `isoscope table` of the same runs. Then the page, live and of a file, in webviews.
//
//   ISOSCOPE_BUILD=BUILD node session.mjs CODE_SERVER VSIX PICTURES
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openWorkbench, startServer, until } from "./workbench.mjs";

const [program, vsix, pictures] = process.argv.slice(2).map((path) => resolve(path));
const isoscope = join(process.env.ISOSCOPE_BUILD, "bin/isoscope");
const tests = fileURLToPath(new URL("../../editor", import.meta.url));
const home = realpathSync(mkdtempSync(join(tmpdir(), "isoscope-vscode-")));
const folder = join(home, "project");
const began = Date.now();

const say = (text) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);

function makeProject() {
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const source = execFileSync("python3", ["-Bc", "import project; print(project.SOURCE, end='')"], { cwd: tests, encoding: "utf8" });
  writeFileSync(join(folder, "hot.cpp"), source);
  const launch = (name, args, options) => ({
    ...{ type: "isoscope", request: "launch", name, program: "${workspaceFolder}/hot", args, options, preLaunchTask: "build" },
  });
  const configurations = [
    launch("even", ["100"], ["-o", "even.isoscope"]),
    launch("less", ["100", "less"], ["-o", "less.isoscope"]),
    launch("kept", ["100000"], ["--keep"]),
  ];
  const build = { label: "build", type: "shell", command: "test -e hot || c++ -g -O1 -o hot hot.cpp", problemMatcher: [] };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations }));
  writeFileSync(join(folder, ".vscode/tasks.json"), JSON.stringify({ version: "2.0.0", tasks: [build] }));
}

/** "self, total, samples" by function, as `isoscope table` has them of a session that is whole. */
function tableOf(session) {
  const code = `import json, sys; from lsp_client import table; print(json.dumps(table(sys.argv[1])))`;
  return JSON.parse(execFileSync("python3", ["-Bc", code, session], { cwd: tests, encoding: "utf8" }));
}

const ROUNDING = 0.15; // points: weights of a session are rounded, so a last digit may differ; no sample does

function isOf(lens, [self, total, samples]) {
  const found = /^self ([\d.]+)% · total ([\d.]+)% · ([\d,]+) samples?/.exec(lens);
  const isNear = (text, wanted) => Math.abs(Number(text) - wanted) < ROUNDING;
  return Boolean(found && isNear(found[1], self) && isNear(found[2], total) && Number(found[3].replaceAll(",", "")) === samples);
}

/** Runs a launch configuration to its end; what is seen then are the table's numbers. */
async function runs(workbench, name) {
  await workbench.command("isoscope: Run a Launch Configuration");
  await workbench.choose(name);
  await until(async () => (await workbench.lenses()).some((text) => text.includes("self")), "the first lens");
  say(`${name}: the first lens`);
  const session = join(folder, `${name}.isoscope`);
  // While it runs the session grows, and lenses follow: they agree once it has ended.
  const table = await until(async () => {
    const lenses = await workbench.lenses();
    const rows = (await workbench.statusBarText()).includes("ended") && existsSync(session) ? tableOf(session) : null;
    return rows && ["spin", "warm", "hot"].every((function_) => lenses.some((lens) => isOf(lens, rows[function_]))) ? rows : null;
  }, `${name}: lenses with the table's numbers`);
  const lenses = await workbench.lenses();
  for (const lens of lenses) say(`${name}: ${lens}`);
  return { table, lenses };
}

async function session(workbench) {
  await workbench.open("hot.cpp");
  const even = await runs(workbench, "even");
  assert.ok((await workbench.hints()).some((text) => /^self \d/.test(text)), "a hot line has its share");
  await until(() => workbench.bars(), "the gutter's heat");
  assert.ok(even.table.hot[1] > 60);
  await workbench.picture(join(pictures, "vscode-lenses.png"));

  await workbench.view("isoscope");
  const rows = await until(async () => {
    const all = await workbench.rows("Hot Functions");
    return all.length ? all : null;
  }, "hot functions");
  assert.match(rows[0], /^spin\d/);
  say(`tree: ${rows.slice(0, 3).join(" | ")}`);
  const less = await runs(workbench, "less");
  assert.ok(less.lenses.some((text) => text.includes("▼")) && less.lenses.some((text) => text.includes("▲")), "trends");
  await workbench.view("isoscope");
  await workbench.clickRow("Hot Functions", "spin");
  await until(async () => (await workbench.statusBarText()).includes("Ln 6,"), "the jump to spin");
  await workbench.picture(join(pictures, "vscode-tree.png"));

  await workbench.command("isoscope: Run a Launch Configuration");
  await workbench.choose("kept");
  await until(async () => /\d+% CPU/.test(await workbench.statusBarText()), "live CPU");
  say(`status bar: ${/\d+% CPU · [\d,]+ samples/.exec(await workbench.statusBarText())?.[0]}`);
  await workbench.command("isoscope: Open the Page");
  const page = await workbench.frameWith("#page[data-look]");
  await until(async () => /connected/.test(await page.locator("#page").innerText()), "the page is connected");
  await until(async () => /spin/.test(await page.locator("#page").innerText()), "the page's functions");
  say(`page: ${(await page.locator("#page").innerText()).replace(/\s+/g, " ").slice(0, 100)}`);
  await workbench.picture(join(pictures, "vscode-page.png"));
  await workbench.command("isoscope: Stop the Program");

  await workbench.view("Explorer");
  await workbench.open("even.isoscope");
  const file = await workbench.frameWith('#page[data-file="even.isoscope"]');
  await until(async () => /spin/.test(await file.locator("#page").innerText()), "the session's functions");
  await workbench.picture(join(pictures, "vscode-session.png"));
  const others = [...workbench.asked].filter((host) => host && !/^(127\.0\.0\.1|localhost)$/.test(host) && !host.endsWith(".localhost"));
  say(`hosts that the browser asked beside this machine: ${others.join(", ") || "none"}`);
}

mkdirSync(pictures, { recursive: true });
makeProject();
const settings = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Default Dark Modern",
  "debug.internalConsoleOptions": "neverOpen",
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
};
const server = await startServer({ program, home, vsix, settings, machine: { "isoscope.command": isoscope } });
say("VS Code serves");
const workbench = await openWorkbench(server.url, folder);
say("the workbench is there");
try {
  await session(workbench);
  say(`pictures are in ${pictures}`);
} catch (error) {
  await workbench.picture(join(pictures, "vscode-failed.png"));
  throw error;
} finally {
  await workbench.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
