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
  assert.equal(await visit.text(".standing"), "Saved session");
  assert.ok((await visit.page.locator("body").innerText()).includes(name), name);
  await visit.picture("saved");
  await visit.close();
});

test("nothing on the page pauses or clears a saved session", async () => {
  const visit = await Visit.of(browser, service.uri);
  await visit.moreThan(0);
  for (const word of ["Freeze", "Pause", "Clear"])
    assert.ok(await visit.button(word).isDisabled(), word);
  for (const one of await visit.page.locator("header select").all())
    assert.ok(await one.isDisabled());
  await visit.close();
});
