// The one page to share: opened from file://, with the network off, in every view.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./recording.mjs";
import { serve } from "./serve.mjs";
import { busy, ROOT, Service } from "./service.mjs";
import { Visit } from "./visit.mjs";

const ISOSCOPE = join(resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build")), "bin/isoscope");
const SMALL = join(ROOT, "tests/sessions/small.isoscope");
const folder = mkdtempSync(join(tmpdir(), "isoscope-shared-"));
const { browser } = await openBrowser();
after(() => rmSync(folder, { recursive: true }));
const service = await Service.ended(busy(1));
after(() => service.end());
const { sampleCount: samples } = await service.ask("_getCpuSamples");

function isoscope(...words) {
  const { status, stderr } = spawnSync(ISOSCOPE, words, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

const exported = join(folder, "python.html");
isoscope("export", "-o", exported, service.uri);

/** Alone: what it asks for, but for itself and what it has made, fails. */
async function alone(file, act, address = pathToFileURL(file).href) {
  const visit = await Visit.of(browser, address, { offline: address.startsWith("file:") });
  await act(visit);
  await visit.close();
}

test("the exported page shows all samples in every view, and asks for nothing", async () => {
  await alone(exported, async (visit) => {
    await visit.exactly(samples);
    assert.equal(await visit.text(".standing"), "Saved session");
    assert.match(await visit.text(".banner"), /stdlib_parse\.py.*ended with status 0/s);
    assert.match(await visit.page.title(), /python3/);
    for (const tab of await visit.page.getByRole("tab").all()) {
      await tab.click();
      const view = (await tab.innerText()).toLowerCase().replaceAll(" ", "-");
      await visit.when(() => !/Loading|Waiting/.test(document.querySelector("section.view").innerText));
      await visit.picture(`shared-${view}`);
    }
    for (const word of ["Pause", "Clear", "Freeze", "Back to the program"])
      assert.equal(await visit.button(word).count(), 0, word);
    await visit.tab("Table").click();
    await visit.page.getByRole("grid").getByRole("row").nth(3).waitFor();
    await visit.page.keyboard.press("/");
    await visit.page.keyboard.type("PyEval");
    await visit.when(() => /functions/.test(document.querySelector(".search output").innerText));
  });
});

test("what it shows is what the service has", async () => {
  const selves = () =>
    Array.from(document.querySelectorAll('[role="grid"] [role="row"]'), (row) => row.innerText).slice(0, 12);
  const rows = [];
  for (const address of [service.uri, pathToFileURL(exported).href])
    await alone("", async (visit) => {
      await visit.exactly(samples);
      await visit.tab("Table").click();
      await visit.page.getByRole("grid").getByRole("row").nth(11).waitFor();
      rows.push(await visit.page.evaluate(selves));
    }, address);
  assert.ok(rows[0].length > 10);
  assert.deepEqual(rows[1], rows[0]);
});

test("the page saves the same page at what is seen, and that one saves itself again", async () => {
  const visit = await Visit.of(browser, service.uri);
  await visit.exactly(samples);
  await visit.tab("Bottom-up").click();
  await visit.dragTime(0.2, 0.6);
  await visit.when(() => location.hash.includes("bottom-up") && location.hash.includes("window_us"));
  await visit.when((all) => window.shownSamples() < all, samples);
  const first = await visit.saved("html");
  assert.match(first.name, /^python3.*\.html$/);
  const session = await visit.saved("isoscope");
  const selected = await visit.samples();
  await visit.close();
  const again = join(folder, "again.html");
  const third = join(folder, "third.html");
  writeFileSync(again, first.content);
  await alone(again, async (page) => {
    await page.exactly(selected);
    assert.equal(await page.tab("Bottom-up").getAttribute("aria-selected"), "true");
    writeFileSync(third, (await page.saved("html")).content);
    const held = (await page.saved("isoscope")).content;
    assert.ok(held.subarray(0, 4).equals(session.content.subarray(0, 4)));
  });
  await alone(third, async (page) => {
    await page.exactly(selected);
    await page.tab("Table").click();
  });
  const file = join(folder, "saved.isoscope");
  writeFileSync(file, session.content);
  isoscope("tree", file);
});

test("it opens from any server, too, and from a foreign profile or a part of one", async () => {
  const folded = join(folder, "a.folded");
  writeFileSync(folded, "main;parse;lex 30\nmain;<img src=x onerror=window.hacked=1> 10\n");
  isoscope("export", "-o", join(folder, "index.html"), folded);
  const server = await serve(folder);
  try {
    await alone("", async (visit) => {
      await visit.exactly(40);
      assert.match(await visit.text(".banner"), /a\.folded/);
    }, server.uri);
  } finally {
    await server.end();
  }
  const part = join(folder, "part.html");
  isoscope("flame", "-o", part, "--weight", "samples", "--thread", "worker", SMALL);
  await alone(part, async (visit) => {
    await visit.exactly(2);
    assert.equal(await visit.tab("Flame").getAttribute("aria-selected"), "true");
    assert.match(visit.page.url(), /#unit=samples$/);
  });
});

test("a session is opened by dropping it, and one that was cut off or is damaged says so", async () => {
  const content = readFileSync(SMALL);
  await alone(exported, async (visit) => {
    await visit.exactly(samples);
    await visit.drop({ name: "small.isoscope", content }, "shown");
    await visit.exactly(5);
    assert.match(await visit.text("footer"), /4 samples lost/);
    await visit.drop({ name: "cut.isoscope", content: content.subarray(0, content.length - 1) }, "shown");
    await visit.when(() => /cut\.isoscope.*cut off: at most its last second is missing/s.test(document.body.innerText));
    const broken = Buffer.from(content);
    broken[40] ^= 1;
    await visit.drop({ name: "broken.isoscope", content: broken }, "shown");
    await visit.when(() => /cannot open broken\.isoscope: session file, at byte 16: /.test(document.body.innerText));
    await visit.drop({ name: "small.isoscope", content }, "compared");
    await visit.when(() => location.hash.includes("view=compare"));
    await visit.picture("shared-compare-file");
  });
});
