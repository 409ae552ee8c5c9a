// The extension in VS Code itself, part by part: a C++ project is opened, built, run, read and run again; its figures are
// held against `isoscope table` of the same runs. A service that runs is attached to; tests are profiled; pages and files
// are opened in webviews, and VS Code's own viewer.
//
//   ISOSCOPE_BUILD=BUILD node session.mjs CODE_SERVER VSIX PICTURES [PART...]      PART: one of PARTS
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKS, finderVsix } from "./checks.mjs";
import { ended, openWorkbench, startServer, until } from "./workbench.mjs";

const [program, vsix, pictures] = process.argv.slice(2, 5).map((path) => resolve(path));
const PARTS = { runs, page, tests, attached, files };
const wanted = process.argv.slice(5);
const isoscope = join(process.env.ISOSCOPE_BUILD, "bin/isoscope");
const editorTests = fileURLToPath(new URL("../../editor", import.meta.url));
const home = realpathSync(mkdtempSync(join(tmpdir(), "isoscope-vscode-")));
const folder = join(home, "project");
const began = Date.now();

const say = (text) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);

function makeProject() {
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const source = execFileSync("python3", ["-Bc", "import project; print(project.SOURCE, end='')"], { cwd: editorTests, encoding: "utf8" });
  writeFileSync(join(folder, "hot.cpp"), source);
  writeFileSync(join(folder, "checks.cpp"), CHECKS);
  const launch = (name, args, options) => ({
    ...{ type: "isoscope", request: "launch", name, program: "${workspaceFolder}/hot", args, options, preLaunchTask: "build" },
  });
  const configurations = [
    launch("even", ["100"], ["-o", "even.isoscope"]),
    launch("less", ["100", "less"], ["-o", "less.isoscope"]),
    launch("kept", ["100000"], ["--keep"]),
    // A debugger's, which nobody has to have here.
    { ...{ type: "lldb", request: "launch", name: "checks", program: "${workspaceFolder}/checks" }, preLaunchTask: "build" },
  ];
  const command = "test -e hot || c++ -g -O1 -o hot hot.cpp; test -e checks || c++ -g -O1 -o checks checks.cpp";
  const build = { label: "build", type: "shell", command, problemMatcher: [], presentation: { reveal: "silent" } };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations }));
  writeFileSync(join(folder, ".vscode/tasks.json"), JSON.stringify({ version: "2.0.0", tasks: [build] }));
}

/** "self, total, samples" by function, as `isoscope table` has them of a session that is whole. */
function tableOf(session) {
  const code = `import json, sys; from lsp_client import table; print(json.dumps(table(sys.argv[1])))`;
  return JSON.parse(execFileSync("python3", ["-Bc", code, session], { cwd: editorTests, encoding: "utf8" }));
}

const ROUNDING = 0.15; // points: weights of a session are rounded, so a last digit may differ; no sample does

function isOf(lens, [self, total, samples]) {
  const found = /^self ([\d.]+)% · total ([\d.]+)% · ([\d,]+) samples?/.exec(lens);
  const isNear = (text, wanted) => Math.abs(Number(text) - wanted) < ROUNDING;
  return Boolean(found && isNear(found[1], self) && isNear(found[2], total) && Number(found[3].replaceAll(",", "")) === samples);
}

/** Runs a launch configuration to its end; what is seen then are the table's numbers. */
async function runsTo(workbench, name, begin) {
  await begin();
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

/** A session of the program, by the command itself. */
function recorded(name, ...args) {
  if (!existsSync(join(folder, "hot"))) execFileSync("c++", ["-g", "-O1", "-o", "hot", "hot.cpp"], { cwd: folder });
  execFileSync(isoscope, ["record", "--quiet", "-o", name, "--", "./hot", ...args], { cwd: folder, stdio: "ignore" });
}

async function runs(workbench) {
  await workbench.open("hot.cpp");
  const even = await runsTo(workbench, "even", () => workbench.command("isoscope: Run a Launch Configuration"));
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
  const less = await runsTo(workbench, "less", () => workbench.clickLens("Profile"));
  assert.ok(less.lenses.some((text) => text.includes("▼")) && less.lenses.some((text) => text.includes("▲")), "trends");
  await workbench.view("isoscope");
  await workbench.clickRow("Hot Functions", "spin");
  await until(async () => (await workbench.statusBarText()).includes("Ln 6,"), "the jump to spin");
  await workbench.picture(join(pictures, "vscode-tree.png"));
}

async function page(workbench) {
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
  await until(async () => (await workbench.statusBarText()).includes("ended"), "the program's end");
}

/** A test is profiled by its lens, and by the menu of another extension's test. */
async function tests(workbench) {
  await workbench.open("checks.cpp");
  await until(async () => (await workbench.lenses()).filter((text) => text.includes("Profile")).length === 3, "lenses above two tests and main");
  await workbench.clickLens("Profile", 0);
  await workbench.choose("checks");
  const ran = async () => (await workbench.hints()).join(" ");
  await until(async () => (await workbench.statusBarText()).includes("ended") && /self/.test(await ran()), "samples of a test");
  await workbench.picture(join(pictures, "vscode-test-lens.png"));
  const functions = async () => {
    await workbench.view("isoscope");
    return (await workbench.rows("Hot Functions")).join(" ");
  };
  const first = await until(async () => (/Sums_Up/.test(await functions()) ? await functions() : null), "the first test's function");
  assert.ok(!/Divides/.test(first), first);
  say(`tests: ${first.slice(0, 80)}`);

  await workbench.view("Testing");
  await workbench.menuOf("Sums.Divides", "Profile with isoscope", join(pictures, "vscode-test-menu.png"));
  await workbench.choose("checks");
  const second = await until(async () => (/Sums_Divides/.test(await functions()) ? await functions() : null), "the second test's function");
  assert.ok(!/Sums_Up/.test(second), second);
}

/** A service that runs is attached to, a window chosen, what it is compared with, its samples cleared. */
async function attached(workbench) {
  recorded("before.isoscope", "60", "less");
  mkdirSync(join(folder, ".isoscope"), { recursive: true });
  const info = join(folder, ".isoscope/here.json");
  const words = ["run", "--quiet", "--write-service-info", info, "--", "./hot", "100000"];
  const service = spawn(isoscope, words, { cwd: folder, stdio: "ignore" });
  try {
    const { host } = new URL(JSON.parse(await until(() => existsSync(info) && readFileSync(info, "utf8"), "the service")).uri);
    await workbench.open("hot.cpp");
    await workbench.command("isoscope: Attach to a Service");
    await workbench.choose(host, join(pictures, "vscode-attach.png"));
    await until(async () => (await workbench.samples()) > 500, "its samples");
    say(`attach: ${await workbench.samples()} samples`);

    await workbench.command("isoscope: Choose a Window of Time");
    await workbench.answer("3-2");
    await until(async () => /the earlier one first/.test(await workbench.question()), "a window that is none is refused");
    await workbench.answer("0-0.3");
    const inWindow = async () => {
      const samples = await workbench.samples();
      return samples >= 0 && samples < 450 ? samples : 0;
    };
    say(`window: ${await until(inWindow, "the window's samples")} samples`);
    await workbench.command("isoscope: Choose a Window of Time");
    await workbench.answer("");
    await until(async () => (await workbench.samples()) > 500, "all samples");

    await workbench.command("isoscope: Compare with");
    await workbench.choose("A file");
    await workbench.answerFile(join(folder, "before.isoscope"));
    await until(async () => (await workbench.lenses()).some((text) => text.includes("▲")), "the trend against a session");
    const lens = (await workbench.lenses()).find((text) => text.includes("▲"));
    say(`compare: ${lens}`);
    await workbench.picture(join(pictures, "vscode-compare.png"));

    const before = await workbench.samples();
    await workbench.command("isoscope: Clear Samples");
    await until(async () => (await workbench.samples()) < before, "fewer samples");
    say(`clear: ${before} samples before, ${await workbench.samples()} then`);
  } finally {
    service.kill("SIGTERM");
    await ended(service);
  }
}

/** Sessions and pprof files in the page; a .cpuprofile in VS Code's own viewer. */
async function files(workbench) {
  recorded("file.isoscope", "60");
  for (const name of ["file.pb.gz", "file.pprof"])
    execFileSync(isoscope, ["export", "-o", name, "pprof", "file.isoscope"], { cwd: folder });
  for (const name of ["file.isoscope", "file.pprof", "file.pb.gz"]) {
    await workbench.open(name);
    if (name.endsWith(".gz")) {
      await workbench.command("View: Reopen Editor With...");
      await workbench.choose("isoscope");
    }
    const file = await workbench.frameWith(`#page[data-file="${name}"]`);
    await until(async () => /spin/.test(await file.locator("#page").innerText()), `functions of ${name}`);
    say(`${name}: ${(await file.locator("#page").innerText()).replace(/\s+/g, " ").slice(0, 80)}`);
    await workbench.picture(join(pictures, `vscode-${name.replaceAll(".", "-")}.png`));
  }
  await workbench.command("isoscope: Attach to a Service");
  await workbench.choose("A file");
  await workbench.answerFile(join(folder, "file.isoscope"));
  await until(async () => (await workbench.samples()) > 0, "samples of the session");
  await workbench.command("isoscope: Export .cpuprofile");
  await until(async () => (await workbench.value()).endsWith("/project/file.cpuprofile"), "the name of the file");
  await workbench.answer();
  await workbench.page.locator(".tab.active", { hasText: "file.cpuprofile" }).waitFor();
  const viewer = await workbench.frameWith("body:has-text('spin'):not(:has(#page)):not(.monaco-workbench):not(:has(.monaco-workbench))");
  say(`VS Code's own viewer: ${(await viewer.locator("body").innerText()).replace(/\s+/g, " ").slice(0, 100)}`);
  await workbench.picture(join(pictures, "vscode-cpuprofile.png"));
  await workbench.command("View: Reopen Editor With...");
  await workbench.choose("isoscope");
  const ours = await workbench.frameWith('#page:has-text("file.cpuprofile")');
  await until(async () => /spin/.test(await ours.locator("#page").innerText()), "the same functions in the page");
  await workbench.picture(join(pictures, "vscode-cpuprofile-page.png"));
}

async function session(workbench) {
  for (const [name, part] of Object.entries(PARTS)) {
    if (wanted.length && !wanted.includes(name)) continue;
    say(`-- ${name}`);
    await part(workbench);
  }
  const others = [...workbench.asked].filter((host) => host && !/^(127\.0\.0\.1|localhost)$/.test(host) && !host.endsWith(".localhost"));
  say(`hosts that the browser asked beside this machine: ${others.join(", ") || "none"}`);
}

for (const name of wanted) if (!PARTS[name]) throw new Error(`${name} is none of ${Object.keys(PARTS).join(", ")}`);
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
const server = await startServer({ program, home, vsixes: [vsix, finderVsix(home)], settings, machine: { "isoscope.command": isoscope } });
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
