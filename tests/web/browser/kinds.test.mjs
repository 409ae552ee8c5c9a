// What samples stand for: time, what was allocated, what is live.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { Service, workload } from "./service.mjs";
import { numberIn, Visit } from "./visit.mjs";

// Mappings, of which half are given back, and much else, all of which is.
const { browser, service, visited, visiting } = await recordingOf(workload("allocates", "maps"), "--alloc");
const [ALLOCATED, LIVE] = [await sumsOf("alloc"), await sumsOf("live")];

/** As the service has them: on a busy machine it has lost some. */
async function sumsOf(kind) {
  const { trees } = await service.ask("_getCpuSamples", { form: "table", kind });
  const sum = (column) => trees.flatMap(({ samples }) => samples[column]).reduce((a, b) => a + b, 0);
  return { bytes: sum("bytes"), objects: sum("objects") };
}

const kind = (visit, name) => visit.page.locator(".kind").getByRole("button", { name, exact: true });
const pressed = () => document.querySelector(".kind [aria-pressed=true]")?.textContent;
const told = () => document.querySelector(".told, .moment")?.textContent ?? "";
/** Of a table: what the function has in all. */
const total = (visit, name) =>
  visit.page.getByRole("grid").getByRole("row").filter({ hasText: name }).first().locator(".number").first();

async function show(visit, name, words) {
  await kind(visit, name).click();
  await visit.showsKind(name);
  await visit.when((wanted) => document.querySelector(".told, .moment")?.textContent.includes(wanted), words);
}

const bytesIn = (text) => {
  const [, count, unit] = /([\d.]+) (B|KiB|MiB|GiB)/.exec(text);
  return Number(count) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
};
/** As it is rounded in text. */
const isAbout = (value, right) => assert.ok(Math.abs(value / right - 1) < 0.01, `${value}, not ${right}`);

/** In the page: what the arrows are on in the canvas that has the focus. */
function current() {
  const id = document.activeElement.getAttribute("aria-activedescendant");
  return document.getElementById(id)?.textContent ?? "";
}

visiting("the switch goes from time to what was allocated, to what is live, and back", async (visit) => {
  assert.equal(await visit.page.evaluate(pressed), "Time");
  assert.match(await visit.flame(), /^Flame graph of [\d.]+ (ms|s)$/);
  await show(visit, "Allocated", "allocated");
  assert.match(await visit.page.evaluate(told), /[\d,]+ samples.*MiB allocated ± [\d.]+ %.*about [\d,]+ objects/);
  isAbout(bytesIn(await visit.flame()), ALLOCATED.bytes);
  await visit.picture("allocated");
  await show(visit, "Live", "live");
  assert.match(await visit.page.evaluate(told), /snapshot of this moment, without a line of time/);
  isAbout(bytesIn(await visit.flame()), LIVE.bytes);
  assert.equal(await visit.page.locator(".overview").count(), 0);
  await visit.page.getByRole("tree").focus();
  for (let row = 0; row < 20 && !/^map_one/.test(await visit.page.evaluate(current)); row++)
    await visit.page.keyboard.press("ArrowDown");
  assert.match(await visit.page.evaluate(current), /^map_one, [\d.]+ MiB, [\d.]+ %/);
  await visit.picture("live");
  await show(visit, "Time", "CPU");
  assert.match(await visit.flame(), /^Flame graph of [\d.]+ (ms|s)$/);
});

visiting("functions have bytes, and objects as the second unit", async (visit) => {
  await show(visit, "Allocated", "allocated");
  await visit.tab("Table").click();
  await total(visit, "_start").waitFor();
  await visit.settled();
  isAbout(bytesIn(await total(visit, "_start").innerText()), ALLOCATED.bytes);
  await visit.page.keyboard.press("u");
  await visit.when(() => document.querySelector(".head").textContent.includes("objects"));
  await visit.settled();
  isAbout(numberIn(await total(visit, "_start").innerText()), ALLOCATED.objects);
  await visit.sameElsewhere("kind=alloc", () =>
    [...document.querySelectorAll(".functions .row .number")].map(({ textContent }) => textContent),
  );
});

visiting("k and arrows switch it, and one stop of Tab reaches it", async (visit) => {
  await visit.page.locator(".kind").waitFor();
  for (const name of ["Allocated", "Live", "Time"]) {
    await visit.page.keyboard.press("k");
    await visit.when((wanted) => document.querySelector(".kind [aria-pressed=true]").textContent === wanted, name);
  }
  assert.equal(await visit.page.locator(".kind button[tabindex='0']").count(), 1);
  await kind(visit, "Time").focus();
  await visit.page.keyboard.press("ArrowRight");
  await visit.page.keyboard.press("Enter");
  await visit.when(() => document.querySelector(".kind [aria-pressed=true]").textContent === "Allocated");
});

visiting("a range selects what was allocated in it, and nothing of what is live", async (visit) => {
  await show(visit, "Allocated", "allocated");
  const all = await visit.samples();
  await visit.dragTime(0.2, 0.6);
  await visit.when((count) => window.shownSamples() < count, all);
  assert.equal(await visit.page.locator(".chip").count(), 1);
  await show(visit, "Live", "live");
  isAbout(bytesIn(await visit.flame()), LIVE.bytes);
  assert.equal(await visit.page.locator(".chip").count(), 0);
});

visiting("two ranges of what was allocated are compared by their bytes", async (visit) => {
  await show(visit, "Allocated", "allocated");
  await visit.dragTime(0.1, 0.5);
  await visit.page.locator(".chip").waitFor();
  await visit.page.keyboard.press("c");
  await visit.dragTime(0.5, 0.9);
  await visit.page.getByRole("tree", { name: /^Differential flame graph/ }).waitFor();
  await visit.settled();
  assert.match(await visit.text(".sides"), /before: .* (MiB|KiB)\s.*now: .* (MiB|KiB)/s);
});

visiting("views of time say that they are, and lead back to it", async (visit) => {
  await show(visit, "Live", "live");
  await visit.tab("Heat map").click();
  assert.match(await visit.text(".view"), /snapshot of this moment: it has no line of time/);
  await visit.tab("Chart").click();
  assert.match(await visit.text(".view"), /This view is of time/);
  await visit.button("Show time").click();
  await visit.when(() => document.querySelector(".kind [aria-pressed=true]").textContent === "Time");
});

visiting("only forms that have a place for bytes are offered", async (visit) => {
  await show(visit, "Live", "live");
  await visit.page.keyboard.press("e");
  const sheet = visit.page.locator("dialog[open]");
  await sheet.getByRole("button", { name: "pprof", exact: true }).waitFor();
  assert.equal(await sheet.getByRole("button", { name: "cpuprofile", exact: true }).count(), 0);
  await visit.picture("save_live");
  await visit.page.keyboard.press("Escape");
  const { name, content } = await visit.saved("folded");
  assert.match(name, /\.folded\.txt$/);
  isAbout(String(content).trim().split("\n").reduce((sum, line) => sum + Number(line.split(" ").pop()), 0), LIVE.bytes);
});

visiting("at 400 pixels the switch and the snapshot's words have room", async (visit) => {
  await show(visit, "Live", "live");
  const { x, width } = await visit.place(visit.page.locator(".kind"));
  assert.ok(x >= 0 && x + width <= 400);
  assert.ok(await visit.page.evaluate(() => document.querySelector(".moment").scrollWidth <= 400));
  await visit.picture("live_narrow");
}, { viewport: { width: 400, height: 800 } });

test("what is live is compared with an earlier moment; a view that is frozen stays", () =>
  visited(Service.stepping(workload("allocates", "holds"), "--alloc=65536"), async (visit, service) => {
    await service.step();
    await show(visit, "Live", "MiB live");
    await visit.tab("Table").click();
    await total(visit, "leak_0").waitFor();
    // 8 MiB: what else the step has got and given back is told a moment later, and no part of what is before.
    await visit.when(() => {
      const mib = Number(/([\d.]+) MiB live/.exec(document.querySelector(".moment").textContent)?.[1]);
      return mib > 2 && mib < 11.5;
    });
    await visit.tab("Compare").click();
    await visit.button("Take this moment as before").click();
    await service.step();
    await visit.page.getByRole("tree", { name: /^Differential flame graph/ }).waitFor();
    await visit.when(() => {
      const [before, now] = [...document.querySelectorAll(".sides i.faint")].map(({ textContent }) => parseFloat(textContent));
      return now > 1.5 * before;
    });
    await visit.button("Freeze").click();
    await visit.button("Go live").waitFor();
    await visit.tab("Table").click();
    await visit.settled(); // what was on its way came before that answer, and is in the frozen view
    const before = await visit.page.evaluate(told);
    const { _counters: counters } = await service.ask("_getCpuSamples", { kind: "alloc", count: 1 });
    await service.step();
    const later = async () => (await service.ask("_getCpuSamples", { kind: "alloc", count: 1 }))._counters;
    for (let now = counters; now.alloc_sampled === counters.alloc_sampled; ) now = await later();
    await visit.tab("Flame").click();
    await visit.settled();
    assert.equal(await visit.page.evaluate(told), before);
    await visit.button("Go live").click();
    await visit.when((old) => document.querySelector(".moment").textContent !== old, before);
  }));

test("where nothing was sampled the page says why, and what helps", () =>
  visited(Service.of(["/bin/sleep", "1000"], "--alloc=1073741824"), async (visit) => {
    await kind(visit, "Allocated").click();
    await visit.when(() => /Nothing allocated was sampled yet.*--alloc=BYTES/.test(document.querySelector(".view").textContent));
    await kind(visit, "Live").click();
    await visit.when(() => /Nothing that was sampled is live now/.test(document.querySelector(".view").textContent));
  }));

test("a service without --alloc has no switch, and a link to another says what to do", () =>
  visited(Service.ended(workload("threads", "2", "1")), async (visit, service) => {
    await visit.moreThan(0);
    await visit.page.locator("dialog").first().waitFor({ state: "attached" }); // the second file is there
    assert.equal(await visit.page.locator(".kind").count(), 0);
    const other = await Visit.of(browser, `${service.uri}#kind=live`);
    await other.page.getByText("Run the program with isoscope run --alloc").waitFor();
    assert.match(await other.flame(), /^Flame graph of [\d.]+ (ms|s)$/);
    await other.close();
  }));

test("a saved session of time has only time", () =>
  visited(Service.served(workload("threads", "2", "1")), async (visit) => {
    await visit.moreThan(0);
    await visit.page.locator("dialog").first().waitFor({ state: "attached" });
    assert.equal(await visit.page.locator(".kind").count(), 0);
  }));

test("waits are kinds too: a lock is the leaf, and what was waited is time", () =>
  visited(Service.ended([...workload("waits_for_locks", "turns")], "--lock=10"), async (visit) => {
    await kind(visit, "Locks").waitFor();
    await show(visit, "Locks", "waited");
    assert.match(await visit.flame(), /^Flame graph of [\d.]+ (ms|s)$/);
    await visit.tab("Table").click();
    await total(visit, "queue_lock").waitFor();
    await visit.picture("locks");
    // A wait is a bar in the lanes, which says what it was for, how long it took, and who had it.
    const { x, y, width } = await visit.place(visit.page.locator(".lanes canvas"));
    const words = () => document.querySelector(".tip")?.innerText ?? "";
    let told = "";
    for (let at = 124; at < width && !/held by/.test(told); at += 2) {
      await visit.page.mouse.move(x + at, y + 12);
      told = await visit.page.evaluate(words);
    }
    assert.match(told, /waited for queue_lock, [\d.]+ (µs|ms|s)\nheld by .* \(\d+\)/);
    await visit.picture("lock_in_a_lane");
    await show(visit, "Waits", "waited");
  }));
