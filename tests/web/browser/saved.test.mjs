// The page at `isoscope serve`: a session, and no program that could be controlled.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openBrowser } from "./recording.mjs";
import { Service, workload } from "./service.mjs";
import { Visit } from "./visit.mjs";

const { browser } = await openBrowser();
const service = await Service.served(workload("threads", "3", "1"));
after(() => service.end());

test("a served session is shown whole, by its name, and says that it is saved", async () => {
  const { sampleCount } = await service.ask("_getCpuSamples");
  const [{ name }] = (await service.ask("getVM"))._saved;
  const visit = await Visit.of(browser, service.uri);
  await visit.exactly(sampleCount);
  await visit.page.locator(".standing", { hasText: /^Saved session$/ }).waitFor();
  assert.ok((await visit.page.locator("body").innerText()).includes(name), name);
  await visit.picture("saved");
  await visit.close();
});

test("nothing is offered that needs a program, and the page to share is", async () => {
  const visit = await Visit.of(browser, service.uri);
  await visit.moreThan(0);
  assert.match(await visit.text(".banner:not(.losses)"), /Recorded .* ended with status 0/s);
  for (const word of ["Freeze", "Pause", "Record", "Clear", "Go live"])
    assert.equal(await visit.button(word).count(), 0, word);
  assert.equal(await visit.page.locator("header select").count(), 0);
  assert.match((await visit.saved("html")).content.toString(), /data-file="cpu.isoscope"/);
  await visit.close();
});
