// The page's room: panes that close, are resized and stay so, and narrow screens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { busy, Service } from "./service.mjs";

const { samples, visited, visiting } = await recordingOf(busy(1));
const NARROW = { viewport: { width: 400, height: 800 } };

const sizeOf = (visit, selector) => visit.place(visit.page.locator(selector));

/** Drags the edge of that name. */
async function drag(visit, name, dx, dy) {
  const edge = await visit.place(visit.page.getByRole("separator", { name }));
  const [x, y] = [edge.x + edge.width / 2, edge.y + edge.height / 2];
  await visit.page.mouse.move(x, y);
  await visit.page.mouse.down();
  await visit.page.mouse.move(x + dx, y + dy, { steps: 4 });
  await visit.page.mouse.up();
}

const near = (a, b) => assert.ok(Math.abs(a - b) <= 2, `${a}, not ${b}`);

visiting("the side panel is resized and closed, and is so in the next page", async (visit) => {
  const before = await sizeOf(visit, "aside");
  await drag(visit, "side panel", -100, 0);
  near((await sizeOf(visit, "aside")).width, before.width + 100);
  await visit.page.getByRole("separator", { name: "side panel" }).focus();
  await visit.page.keyboard.press("ArrowRight");
  near((await sizeOf(visit, "aside")).width, before.width + 80);
  await visit.page.reload();
  await visit.exactly(samples);
  near((await sizeOf(visit, "aside")).width, before.width + 80);
  await visit.page.getByRole("separator", { name: "side panel" }).dblclick();
  near((await sizeOf(visit, "aside")).width, before.width);

  const view = await sizeOf(visit, ".view");
  await visit.button("Close the side panel").click();
  await visit.page.locator("aside").waitFor({ state: "detached" });
  assert.ok((await sizeOf(visit, ".view")).width > view.width + 200, "its room is the view's");
  await visit.page.reload();
  await visit.exactly(samples);
  assert.equal(await visit.page.locator("aside").count(), 0);
  await visit.page.keyboard.press("d");
  await visit.page.locator("aside").waitFor();
});

visiting("what is kept holds for a service at another port", async (visit) => {
  await visit.page.keyboard.press("d");
  await visit.page.locator("aside").waitFor({ state: "detached" });
  const second = await Service.ended(busy(0.3));
  try {
    const { sampleCount } = await second.ask("_getCpuSamples");
    await visit.page.goto(second.uri);
    await visit.exactly(sampleCount);
    assert.equal(await visit.page.locator("aside").count(), 0);
  } finally {
    await second.end();
  }
});

visiting("nothing picked: the hottest functions, and a click picks one", async (visit) => {
  const first = visit.page.locator("aside .neighbour").first();
  await first.waitFor();
  await visit.settled();
  const name = await first.locator(".name").innerText();
  await first.click();
  await visit.page.locator("aside h2", { hasText: name }).waitFor();
});

visiting("the overview is made higher: the curve has what the lanes do not need", async (visit) => {
  const before = await sizeOf(visit, ".overview");
  const curve = () => sizeOf(visit, ".overview > canvas");
  const { height } = await curve();
  await drag(visit, "overview", 0, 90);
  near((await sizeOf(visit, ".overview")).height, before.height + 90);
  near((await curve()).height, height + 90);
  await visit.page.reload();
  await visit.exactly(samples);
  near((await curve()).height, height + 90);
});

visiting("at 400 pixels nothing is out of reach, and the side panel is a sheet below", async (visit) => {
  assert.equal(await visit.page.locator("aside").count(), 0, "nothing is picked");
  for (const name of ["Save…", "?", "Light or dark", "Filter…", "Side panel"]) {
    const box = await visit.place(visit.button(name));
    assert.ok(box.x >= 0 && box.x + box.width <= 400, `${name} at ${box.x}`);
  }
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").nth(1).click();
  await visit.page.locator("aside h2").waitFor();
  const [view, sheet] = [await sizeOf(visit, ".view"), await sizeOf(visit, "aside")];
  near(view.width, 400);
  near(sheet.width, 400);
  assert.ok(sheet.y >= view.y + view.height - 1, "below the view");
  assert.ok(view.height > 100, `the view has ${view.height} px`);
  await visit.picture("narrow");
  await drag(visit, "side panel", 0, -60);
  near((await sizeOf(visit, "aside")).height, sheet.height + 60);
  await visit.button("Close the side panel").click();
  await visit.page.locator("aside").waitFor({ state: "detached" });
  await visit.button("Filter…").click();
  const filters = await visit.place(visit.page.getByRole("dialog", { name: "Filters" }));
  assert.ok(filters.x >= 0 && filters.x + filters.width <= 400);
  await visit.picture("narrow_filters");
}, NARROW);

test("a program without a sample has no bands of nothing", () =>
  visited(Service.asleep(), async (visit) => {
    await visit.page.locator(".empty", { hasText: "no CPU" }).waitFor();
    assert.ok((await sizeOf(visit, ".overview")).height <= 1);
    assert.equal(await visit.page.locator(".legend").count(), 0);
    assert.equal(await visit.page.locator("aside").count(), 0);
  }));
