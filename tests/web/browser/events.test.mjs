// What a game tells: slices, frames, counters and flows, beside its samples.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { ROOT, Service, until, workload } from "./service.mjs";
import { numberIn } from "./visit.mjs";

const FRAMES = 180; // 3 s at 60 Hz
const BUILD = process.env.ISOSCOPE_BUILD ?? join(ROOT, "build");
const { service, visited, visiting } = await recordingOf([join(BUILD, "examples/game"), "3"]);

const strip = (visit, name) => visit.page.getByRole("img", { name: new RegExp(`^${name}`) });
const chart = (visit) => visit.page.getByRole("tree", { name: /^Flame chart/ });
const rows = (visit) => visit.page.getByRole("grid").getByRole("row");
const cells = (row) => row.locator("span").allInnerTexts();

/** By name, as the service tells them: [count, nanoseconds in all]. */
async function slicesTold() {
  const { blocks, kinds } = await service.ask("_getTimeline");
  const found = new Map();
  const texts = [];
  for (const block of blocks) {
    texts.push(...block.texts);
    block.kinds.forEach((kind, i) => {
      if (kinds[kind] !== "Slice") return;
      const [count, ns] = found.get(texts[block.names[i]]) ?? [0, 0];
      found.set(texts[block.names[i]], [count + 1, ns + block.durations[i]]);
    });
  }
  return found;
}

visiting("frames stand above the chart beside their budget, with what was late and dropped", async (visit) => {
  await visit.page.keyboard.press("2");
  await strip(visit, `Frames of Frame: ${FRAMES} frames, .* over 16.7 ms, .* dropped`).waitFor();
  await strip(visit, "Counter hits: 0 to ").waitFor();
  await visit.page.getByLabel("Refresh rate").selectOption("30");
  await strip(visit, "Frames of Frame: .* over 33.3 ms").waitFor();
  await visit.picture("events-chart");
});

visiting("the next late frame is picked, told of, zoomed to, and its window selected", async (visit) => {
  await visit.page.keyboard.press("2");
  await visit.page.getByLabel("Next late frame").click();
  const side = visit.page.locator("aside");
  await side.getByRole("heading", { name: "Frame" }).waitFor();
  assert.match(await side.innerText(), /budget\s+16\.7 ms, over by [\s\S]*a second\s+\d+[\s\S]*build/);
  const all = await visit.samples();
  await visit.button("Zoom to it").click();
  await visit.page.locator(".bar-of-view", { hasText: "seen" }).waitFor();
  await visit.sameElsewhere("event=", () => document.querySelector("aside h2").innerText);
  await visit.button("Select its window").click();
  await visit.when((all) => window.shownSamples() >= 0 && window.shownSamples() < all, all);
  await visit.picture("events-frame");
});

visiting("arrows go from slice to slice in the chart, and the side panel tells of each", async (visit) => {
  await visit.page.keyboard.press("2");
  await visit.page.locator(".streams", { hasText: "Game" }).waitFor();
  await visit.page.getByLabel("Next late frame").click();
  await visit.button("Zoom to it").click();
  await visit.page.locator(".bar-of-view", { hasText: "seen" }).waitFor();
  await chart(visit).focus();
  // Down from the thread's name, until a slice is picked.
  for (let i = 0; i < 8 && !/category\s+Game/.test(await visit.text("aside")); i++) {
    await visit.page.keyboard.press(i ? "ArrowDown" : "ArrowRight");
    await visit.when(() => document.activeElement.getAttribute("aria-activedescendant"));
  }
  await visit.page.locator("aside .given", { hasText: "Game" }).waitFor();
});

visiting("slices by name have the counts that the service tells, and a search finds them", async (visit) => {
  await visit.page.keyboard.press("x");
  await rows(visit).nth(1).waitFor();
  const told = await slicesTold();
  const shown = new Map();
  for (const row of (await rows(visit).all()).slice(1)) {
    const [total, count, , , , name] = await cells(row);
    shown.set(name.trim(), { total, count: numberIn(count) });
  }
  assert.equal(shown.get("frame").count, FRAMES);
  assert.deepEqual(
    [...shown].map(([name, { count }]) => [name, count]).sort(),
    [...told].map(([name, [count]]) => [name, count]).sort(),
  );
  await visit.picture("events-table");
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type("hand ov");
  await visit.when(() => document.querySelectorAll("[role=grid] .row").length === 1);
  await visit.page.getByRole("option", { name: /event name: hand over/ }).waitFor();
});

visiting("frames one by one: sorted by what they dropped; a click tells of one, Enter selects its time", async (visit) => {
  await visit.page.keyboard.press("x");
  await visit.button("Frames").click();
  await visit.when(() => document.querySelector(".frames .row .nth")?.innerText === "0");
  assert.equal(await visit.page.getByRole("grid").getAttribute("aria-rowcount"), String(FRAMES + 1));
  const [number, start, elapsed, build, raster] = await cells(rows(visit).nth(1));
  assert.match([number, start, elapsed].join(" "), /^0 [\d.]+ s [\d.]+ (ms|s)$/);
  assert.match(build, /[\d.]+ (µs|ms)/);
  assert.match(raster, /[\d.]+ (µs|ms)/);
  await visit.button("dropped").click();
  await visit.when(() => Number(document.querySelector(".frames .row .dropped")?.innerText) > 0);
  const [worst, , , , , dropped] = await cells(rows(visit).nth(1));
  await rows(visit).nth(1).click();
  await visit.page.locator("aside .given", { hasText: "dropped" }).waitFor();
  const told = await visit.text("aside");
  assert.match(told, new RegExp(`frame\\s+${worst}\\s`));
  assert.match(told, new RegExp(`dropped\\s+${dropped}`));
  const all = await visit.samples();
  await visit.page.getByRole("grid").focus();
  await visit.page.keyboard.press("Enter");
  await visit.when((all) => window.shownSamples() >= 0 && window.shownSamples() < all, all);
  await visit.when(() => document.querySelectorAll(".frames .body .row").length === 1); // those of that time
  await visit.picture("events-frames");
});

visiting("the strip's legend says what colours mean, and goes to a frame of a level; a double click selects its time", async (visit) => {
  await visit.page.keyboard.press("2");
  const few = visit.page.getByRole("button", { name: /^[\d,]+ (late|normal|middle|high|frozen)/ }).first();
  await few.click();
  await visit.page.locator("aside h2", { hasText: "Frame" }).waitFor();
  const all = await visit.samples();
  const frames = strip(visit, "Frames of Frame");
  const { width } = await visit.place(frames);
  await frames.dblclick({ position: { x: width / 2, y: 40 } });
  await visit.when((all) => window.shownSamples() >= 0 && window.shownSamples() < all, all);
});

visiting("slices that are too short to be told apart are zoomed to by a click", async (visit) => {
  await visit.page.setViewportSize({ width: 500, height: 800 }); // some milliseconds a pixel
  await visit.page.keyboard.press("2");
  const box = await visit.place(chart(visit));
  const joined = async () => {
    for (let y = 10; y < Math.min(200, box.height); y += 20)
      for (let x = 5; x < box.width; x += 9) {
        await visit.page.mouse.move(box.x + x, box.y + y);
        if (await visit.page.locator(".tip", { hasText: "too short to be told apart here" }).count()) return true;
      }
    return false;
  };
  assert.ok(await joined(), "none is joined");
  await visit.page.mouse.down();
  await visit.page.mouse.up();
  await visit.page.locator(".bar-of-view", { hasText: "seen" }).waitFor();
});

visiting("a row of the table picks the longest of its slices, by hand and by keys", async (visit) => {
  await visit.page.keyboard.press("x");
  await rows(visit).filter({ hasText: "sort" }).first().click();
  await visit.page.locator("aside h2", { hasText: "sort" }).waitFor();
  assert.match(await visit.text("aside"), /particles\s+4000[\s\S]*by\s+distance/);
  await visit.page.keyboard.press("Home");
  await visit.page.locator("aside h2", { hasText: "frame" }).waitFor();
  await visit.page.keyboard.press("Escape");
  await visit.page.locator("aside h2", { hasText: "sort" }).waitFor();
});

test("a program that tells nothing has no strips, and the view says how it would", () =>
  visited(Service.ended(workload("spin_two_to_one", "0.5")), async (visit) => {
    await visit.moreThan(0);
    await visit.page.keyboard.press("2");
    await chart(visit).waitFor();
    assert.equal(await visit.page.locator(".strips, .streams").count(), 0);
    await visit.page.keyboard.press("x");
    await visit.page.locator(".empty", { hasText: "No events." }).waitFor();
    assert.match(await visit.text(".empty"), /isoscope\/optional\.h[\s\S]*ITT[\s\S]*NVTX/);
  }));

visiting("a session that is opened has the events that were told live", async (visit) => {
  await visit.page.keyboard.press("x");
  await rows(visit).nth(1).waitFor();
  const read = () => [...document.querySelectorAll("[role=grid] .row")].map((row) => row.innerText);
  const live = await visit.page.evaluate(read);
  const { data } = await service.ask("_getSession");
  await visit.drop({ name: "game.isoscope", content: Buffer.from(data, "base64") }, "shown");
  await visit.page.locator("header", { hasText: "Saved session" }).waitFor();
  const isSame = async () => JSON.stringify(await visit.page.evaluate(read)) === JSON.stringify(live);
  await until(isSame, "the session's slices").catch(() => {}); // what differs is told below
  assert.deepEqual(await visit.page.evaluate(read), live);
});
