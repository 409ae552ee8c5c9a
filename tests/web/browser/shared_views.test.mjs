// Each view but the source of an exported page, from file:// with the network off: it shows what the session has of it. The program
// tells frames, slices, counters and flows, and one of its loops is late.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./recording.mjs";
import { ROOT, Service } from "./service.mjs";
import { Visit } from "./visit.mjs";

const BUILD = resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build"));
const folder = mkdtempSync(join(tmpdir(), "isoscope-views-"));
after(() => rmSync(folder, { recursive: true }));
const { browser } = await openBrowser();

const late = join(BUILD, "tests/workloads/stall_loop");
const command = ["/bin/sh", "-c", '"$0" 2; exec "$1" decode:100,render:900,compress:100 wait:300', join(BUILD, "examples/game"), late];
const session = join(folder, "all.isoscope");
const exported = join(folder, "profile.html");
const service = await Service.ended(command, "--source-root", ROOT);
try {
  const { data } = await service.ask("_getSession", { sources: true });
  writeFileSync(session, Buffer.from(data, "base64"));
  const { status, stderr } = spawnSync(join(BUILD, "bin/isoscope"), ["export", "-o", exported, session], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
} finally {
  await service.end();
}

async function alone(act) {
  const visit = await Visit.of(browser, pathToFileURL(exported).href, { offline: true });
  await visit.moreThan(20);
  await act(visit);
  await visit.close();
}

/** In the page: how many colours the view's largest canvas has, by area more than a thousandth. */
function colours() {
  const all = [...document.querySelectorAll("section.view canvas")];
  const canvas = all.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  if (!canvas?.width || !canvas.height) return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts.values()].filter((count) => count > data.length / 4000).length;
}

/** In the page: rows with numbers in them, of tables and trees. */
const rows = () =>
  [...document.querySelectorAll('section.view [role="row"]')].filter((row) => /\d/.test(row.innerText) && row.innerText.includes("\n")).length;

const select = (visit, name) => visit.page.getByRole("grid").getByRole("row", { name }).first().click();

/** By view: what leads to it, what of it is counted, how much of that there must be. */
const VIEWS = {
  Flame: { count: colours, least: 4 },
  Chart: { of: chartOfGame, count: colours, least: 4, also: (visit) => visit.page.getByRole("img", { name: /^Frames of Frame: \d+ frames/ }).waitFor() },
  "Call tree": { count: rows, least: 3 },
  "Bottom-up": { count: rows, least: 3 },
  Table: { count: rows, least: 5 },
  Compare: { count: colours, least: 3, before: true },
  "Heat map": { count: colours, least: 3 },
  Threads: { count: rows, least: 3 },
  Sandwich: { from: "Table", picked: /sort|move|draw|render/, count: colours, least: 3 },
  Events: { count: rows, least: 3, also: (visit) => frames(visit) },
  Stalls: { count: rows, least: 1, also: (visit) => loops(visit) },
};

/** Not of all threads: the shell before them has one sample, and a stack that fills the view. */
async function chartOfGame(visit) {
  const threads = visit.page.locator("section.view select").first();
  const game = await threads.locator("option").filter({ hasText: "game (" }).first().getAttribute("value");
  await threads.selectOption(game);
}

async function frames(visit) {
  await visit.page.getByRole("button", { name: /^Frames/ }).click();
  await visit.when(() => document.querySelectorAll('section.view [role="row"]').length > 5);
  await visit.picture("views-frames");
}

async function loops(visit) {
  await visit.page.getByRole("grid").getByRole("row").nth(1).click();
  await visit.page.locator("section.stall").getByText(/it computed|it slept|it waited|why is not known|processor/).first().waitFor();
  await visit.picture("views-stall");
  await visit.page.getByRole("button", { name: /^Loops/ }).click();
  await visit.when(() => document.querySelectorAll('section.view [role="row"]').length > 1);
  await visit.picture("views-loops");
}

for (const [name, { from, picked, before, of, count, least, also }] of Object.entries(VIEWS))
  test(`${name} shows what the file has`, () =>
    alone(async (visit) => {
      if (from) {
        await visit.tab(from).click();
        await select(visit, picked);
      }
      if (before) {
        await visit.dragTime(0.02, 0.4);
        await visit.page.locator(".chip").waitFor();
        await visit.page.keyboard.press("c");
        await visit.dragTime(0.5, 0.95);
      }
      await visit.tab(name).click();
      await of?.(visit);
      await visit.settled();
      await visit.when(`(${count})() >= ${least}`);
      await visit.picture(`views-${name.toLowerCase().replace(" ", "-")}`);
      await also?.(visit);
    }));

test("of a file without events, stalls and text these views are empty, and say why", () =>
  alone(async (visit) => {
    await visit.drop({ name: "small.isoscope", content: readFileSync(join(ROOT, "tests/sessions/small.isoscope")) }, "shown");
    await visit.exactly(5);
    for (const name of ["Events", "Stalls"]) {
      await visit.tab(name).click();
      await visit.page.locator("section.view .empty").waitFor();
      assert.equal(await visit.page.evaluate(rows), 0, name);
    }
    await visit.picture("views-empty");
  }));
