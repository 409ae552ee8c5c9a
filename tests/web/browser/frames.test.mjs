// Of a program that an interpreter runs: which frames are seen, what holds its lock, and its tasks as lanes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { FakeService } from "./fake_service.mjs";
import { openBrowser } from "./recording.mjs";
import { ROOT } from "./service.mjs";
import { Visit } from "./visit.mjs";

const { replies: [table] } = JSON.parse(readFileSync(join(ROOT, "tests/trees/frames_all.json"), "utf8"));
const [tree] = table.trees;
const [thread] = tree.threads;
table._counters = { ...table._counters, not_sampled_ns: 0 };
table.vmTags = ["GilHeld", "GilWait"];
tree.threads = ["fetch", "store"].map((userTag) => ({ ...thread, userTag }));
tree.samples.vmTags = tree.samples.vmTags.map((_, i) => Number(i > 5));
tree.samples.threads = tree.samples.threads.map((_, i) => i % 2);
const SAMPLES = table.sampleCount;

const { browser } = await openBrowser();
const service = await FakeService.of({ table });
after(() => service.end());

const visiting = (name, act, options) =>
  test(name, async () => {
    const visit = await Visit.of(browser, service.uri, options);
    await visit.exactly(SAMPLES);
    await act(visit);
    await visit.close();
  });

/** Names in the rows of the call tree, which is opened down to where it is busy. */
async function rowsOf(visit) {
  await visit.tab("Call tree").click();
  const grid = visit.page.getByRole("treegrid");
  await grid.waitFor();
  await visit.settled();
  const names = await grid.locator(".row .name").allInnerTexts();
  return names.map((name) => name.replace(/^[^\w<[]*/, "").split(/\s/)[0]);
}

const frames = (visit) => visit.page.getByRole("combobox", { name: "Frames" });

visiting("at first all frames are there; the interpreter is folded and hidden by choice, and back again", async (visit) => {
  assert.equal(await frames(visit).inputValue(), "all");
  assert.ok((await rowsOf(visit)).includes("Py_RunMain"));
  await frames(visit).selectOption("fold interpreter");
  await visit.page.locator(".chip", { hasText: /^interpreter folded: 44.4 % of self/ }).waitFor();
  const folded = await rowsOf(visit);
  assert.equal(folded[0], "[python3.11]");
  assert.ok(!folded.some((name) => /Py_RunMain|__libc_start/.test(name)), folded.join());
  await visit.picture("frames-folded");
  await frames(visit).selectOption("only mine");
  await visit.page.locator(".chip", { hasText: /^only mine/ }).waitFor();
  assert.equal((await rowsOf(visit))[0], "<module>");
  await visit.tab("Table").click();
  const table = visit.page.getByRole("grid").locator(".row");
  await table.first().waitFor();
  assert.deepEqual((await table.allInnerTexts()).map((row) => /load|<module>|$/.exec(row)[0]), ["load", "<module>"]);
  assert.match(new URL(visit.page.url()).hash, /only-mine/);
  await visit.page.keyboard.press("a");
  await visit.page.locator(".chip", { hasText: /^interpreter folded/ }).waitFor();
  await visit.page.keyboard.press("Escape");
  await visit.page.locator(".chip", { hasText: /^only mine/ }).waitFor();
});

visiting("a function says what runs it, and where it stands; its lines have what they called", async (visit) => {
  await frames(visit).selectOption("only mine");
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByText("load", { exact: true }).click();
  assert.match(await visit.text("aside"), /app\.py · python\s+\/home\/ada\/app\.py:3/);
  await visit.tab("Source").click();
  await visit.when(() => document.querySelectorAll(".source .row").length > 1);
  const rows = await visit.page.locator(".source .row").allInnerTexts();
  assert.deepEqual(rows.map((row) => row.split(/\s+/).at(-1)), ["4", "5", "9"]);
  assert.match(rows[0], /62\.5 %/);
});

visiting("lanes tell who has the interpreter's lock and who waits for it, and are of tasks by choice", async (visit) => {
  assert.match(await visit.text(".told"), /Running with the GIL\s+Waiting for the GIL/);
  await visit.page.getByRole("combobox", { name: "Order of the lanes" }).selectOption("user tags");
  await visit.page.getByRole("button", { name: "fetch", exact: true }).click();
  await visit.exactly(5);
  await visit.page.locator(".chip", { hasText: "tags: fetch" }).waitFor();
  await visit.picture("frames-tasks");
});
