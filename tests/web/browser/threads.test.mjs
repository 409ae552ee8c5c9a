// A function between its callers and callees; threads as a table, and as bands of the chart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { Service, workload } from "./service.mjs";
import { numberIn, Visit } from "./visit.mjs";

const { browser, samples, visited, visiting } = await recordingOf(workload("threads", "2", "1"));

const half = (visit, name) => visit.page.getByRole("tree", { name: new RegExp(`^${name}: `) });
const middle = () => document.querySelector(".middle").innerText;

/** In the page: what the arrows are on in the canvas that has the focus. */
function current() {
  const id = document.activeElement.getAttribute("aria-activedescendant");
  return document.getElementById(id)?.textContent ?? "";
}

async function pick(visit, name) {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").filter({ hasText: name }).first().click();
  await visit.page.locator("aside h2", { hasText: name }).waitFor();
}

async function sandwichOf(visit, name) {
  await pick(visit, name);
  await visit.page.keyboard.press("w");
  await half(visit, `Callers of ${name}`).waitFor();
}

visiting("a function stands between its callers and its callees", async (visit) => {
  await sandwichOf(visit, "thread_spin");
  await half(visit, "Callees of thread_spin").waitFor();
  assert.match(await visit.text(".middle"), /thread_spin[\s\S]*self ~?[\d.]+ % · [\s\S]*total ~?[\d.]+ % · /);
  const tops = ["Callers", "Callees"].map((one) => visit.place(half(visit, `${one} of thread_spin`)));
  const [callers, callees] = await Promise.all(tops);
  const { y } = await visit.place(visit.page.locator(".middle"));
  assert.ok(callers.y < y && y < callees.y);
  await visit.picture("sandwich");
});

visiting("beside the middle a frame is picked; Enter and a double click make it the middle", async (visit) => {
  await sandwichOf(visit, "thread_spin");
  await half(visit, "Callers of thread_spin").focus();
  await visit.page.keyboard.press("ArrowUp");
  await visit.page.locator("aside h2", { hasText: "thread_main" }).waitFor();
  await visit.settled();
  assert.match(await visit.page.evaluate(current), /^thread_main, .*% of thread_spin/);
  assert.match(await visit.page.evaluate(middle), /^thread_spin/);
  await visit.sameElsewhere("sandwich=", () => document.querySelector(".middle").innerText);
  await visit.page.keyboard.press("Enter");
  await half(visit, "Callers of thread_main").waitFor();
  await visit.page.keyboard.press("Escape");
  const callers = half(visit, "Callers of thread_spin");
  const { height } = await visit.place(callers);
  await callers.dblclick({ position: { x: 60, y: height - 10 } }); // row 0 is the lowest
  await half(visit, "Callees of thread_main").waitFor();
});

visiting("the list beside it picks the middle, without a pick it is the heaviest", async (visit) => {
  await visit.tab("Sandwich").click();
  const first = visit.page.locator(".brief .row").first();
  await first.waitFor();
  await visit.settled();
  const name = await first.locator("bdi").first().getAttribute("title");
  await visit.when((wanted) => document.querySelector(".middle bdi").title === wanted, name);
  const row = visit.page.getByRole("grid").getByRole("row").filter({ hasText: "thread_main" });
  await row.first().click();
  await half(visit, "Callees of thread_main").waitFor();
  await visit.page.fill("#search", "thread_spin");
  await visit.when(() => document.querySelectorAll(".brief .row").length === 1);
});

visiting("the menu of a frame shows it in the sandwich", async (visit) => {
  await pick(visit, "thread_spin");
  const row = visit.page.getByRole("grid").getByRole("row").filter({ hasText: "thread_spin" });
  await row.first().click({ button: "right" });
  await visit.page.getByRole("menuitem", { name: "Show in sandwich" }).click();
  await half(visit, "Callers of thread_spin").waitFor();
});

visiting("at 400 pixels the list stands above the sandwich, and nothing is cut", async (visit) => {
  await visit.tab("Sandwich").click();
  await visit.page.locator(".middle").waitFor();
  const box = (selector) => visit.place(visit.page.locator(selector));
  const [list, halves] = [await box(".sandwich .list"), await box(".sandwich .halves")];
  assert.ok(list.y + list.height <= halves.y + 1);
  assert.ok(halves.width <= 400 && halves.height >= 180);
  await visit.picture("sandwich_narrow");
  await visit.tab("Threads").click();
  await visit.page.locator(".threads .row").first().waitFor();
  await visit.settled();
  assert.ok(await visit.page.evaluate(() => document.querySelector(".threads").scrollWidth <= 400));
  await visit.picture("threads_narrow");
}, { viewport: { width: 400, height: 800 } });

const rowOf = (visit, name) =>
  visit.page.locator(".threads .row").filter({ has: visit.page.getByText(name, { exact: true }) });

visiting("the table of threads has their samples; a click filters, Ctrl adds, twice is all", async (visit) => {
  await visit.tab("Threads").click();
  await rowOf(visit, "spin-0").waitFor();
  await visit.settled();
  const counts = await visit.page.locator(".threads .row .count").allInnerTexts();
  assert.equal(counts.map(numberIn).reduce((a, b) => a + b), samples);
  for (const unit of await visit.page.locator(".threads .row .time").allInnerTexts())
    assert.match(unit, /^[\d.:]+ (µs|ms|s|min)$/);
  await visit.picture("threads");
  const of = async (name) => numberIn(await rowOf(visit, name).locator(".count").innerText());
  const [zero, one] = [await of("spin-0"), await of("spin-1")];
  await rowOf(visit, "spin-0").click();
  await visit.exactly(zero);
  await rowOf(visit, "spin-1").click({ modifiers: ["Control"] });
  await visit.exactly(zero + one);
  await visit.sameElsewhere("threads", () =>
    [...document.querySelectorAll(".threads .row")].map((row) => [row.className, row.textContent]),
  );
  await rowOf(visit, "spin-0").dblclick();
  await visit.exactly(samples);
});

visiting("threads are sorted by their heads, found by typing, and picked by arrows", async (visit) => {
  await visit.tab("Threads").click();
  await rowOf(visit, "spin-0").waitFor();
  await visit.page.getByRole("columnheader", { name: "thread" }).getByRole("button").click();
  const sorted = (sign) => {
    const names = [...document.querySelectorAll(".threads .row bdi:first-of-type")].map((one) => one.title);
    const own = names.filter((name) => name.startsWith("spin"));
    return own.length > 1 && own[0] < own[1] === sign > 0;
  };
  await visit.when(sorted, 1);
  await visit.page.getByRole("columnheader", { name: "thread" }).getByRole("button").click();
  await visit.when(sorted, -1);
  await visit.page.getByLabel("Find threads by name, pid or tid").fill("spin-1");
  await visit.when(() => document.querySelectorAll(".threads .row").length === 1);
  await visit.page.getByRole("grid").focus();
  await visit.page.keyboard.press("ArrowDown");
  await visit.exactly(numberIn(await rowOf(visit, "spin-1").locator(".count").innerText()));
  await visit.page.getByLabel("Find threads by name, pid or tid").fill("nobody");
  await visit.page.getByText("No matching threads.").waitFor();
});

test("in wall mode threads tell which part of the time they were in which state", () =>
  visited(Service.ended(workload("threads", "2", "1"), "--mode", "wall"), async (visit) => {
    await visit.moreThan(0);
    await visit.tab("Threads").click();
    await rowOf(visit, "spin-0").waitFor();
    const told = await rowOf(visit, "spin-0").locator(".states").getAttribute("title");
    assert.match(told, /^(\w+ ~?[\d.]+ %(, )?)+$/);
    assert.match(told, /Runn/);
    await visit.picture("threads_wall");
  }));

visiting("the chart shows threads as bands; names are gone through, closed and chosen", async (visit) => {
  await visit.tab("Chart").click();
  const canvas = visit.page.getByRole("tree", { name: /^Flame chart: stacks of \d+ threads/ });
  await canvas.waitFor();
  await visit.picture("chart_bands");
  await canvas.focus();
  await visit.page.keyboard.press("ArrowDown");
  await visit.when(() => document.querySelector(".boxes [aria-level='1'][aria-selected=true]"));
  const first = await visit.page.evaluate(current);
  assert.match(first, /\(\d+\), [\d,]+ sample/);
  await visit.page.keyboard.press("ArrowRight");
  await visit.when(
    (before) => document.querySelector(".boxes [aria-selected=true]").textContent !== before,
    first,
  );
  await visit.page.keyboard.press("ArrowDown");
  await visit.when(() => document.querySelector(".boxes [aria-level='2'][aria-selected=true]"));
  await visit.page.keyboard.press("ArrowUp");
  await visit.when(() => document.querySelector(".boxes [aria-level='1'][aria-selected=true]"));
  const { x, y } = await visit.place(canvas);
  await visit.page.mouse.click(x + 100, y + 10); // the name of the first band
  await visit.when(
    () => document.querySelector(".boxes [aria-selected=true]").ariaExpanded === "false",
  );
  await visit.page.mouse.click(x + 100, y + 10);
  await visit.when(
    () => document.querySelector(".boxes [aria-selected=true]").ariaExpanded === "true",
  );
  const own = numberIn(/, ([\d,]+) samples?/.exec(await visit.page.evaluate(current))[1]);
  await visit.page.keyboard.press("Enter");
  await visit.exactly(own);
  await visit.page.getByRole("tree", { name: /^Flame chart: stacks of a thread/ }).waitFor();
});

visiting("a link has the rows that were opened, and the overview's zoom; Esc takes them back", async (visit) => {
  const rows = () => document.querySelectorAll(".view .row").length;
  await visit.tab("Bottom-up").click();
  const tree = visit.page.getByRole("treegrid");
  await tree.getByRole("row").filter({ hasText: "thread_spin" }).first().click();
  await visit.settled();
  const before = await visit.page.evaluate(rows);
  await visit.page.keyboard.press("ArrowRight");
  await visit.when((count) => document.querySelectorAll(".view .row").length > count, before);
  await visit.dragTime(0.2, 0.6);
  await visit.page.keyboard.press("z");
  await visit.when(() => /overview=/.test(location.hash));
  await visit.sameElsewhere("bottomUpOpen=", () => [
    [...document.querySelectorAll(".view .row")].map((row) => row.textContent),
    [...document.querySelectorAll(".lanes canvas, .overview > canvas")].map((one) => one.toDataURL()),
  ]);
  await visit.page.keyboard.press("Escape"); // the overview's zoom
  await visit.when(() => !/overview=/.test(location.hash));
  await visit.page.keyboard.press("Escape"); // the range
  await visit.exactly(samples);
  await visit.page.keyboard.press("Escape"); // what was opened
  await visit.when((count) => document.querySelectorAll(".view .row").length === count, before);
  await visit.tab("Call tree").click();
  await tree.getByRole("row").nth(1).waitFor();
  await tree.focus();
  await visit.page.keyboard.press("Home");
  await visit.page.keyboard.press("ArrowLeft");
  await visit.sameElsewhere("treeOpen=", () =>
    [...document.querySelectorAll(".view .row")].map((row) => row.textContent),
  );
});

test("a link of a frozen view is frozen at the same sample", () =>
  visited(Service.of(["/usr/bin/python3", "-c", "while True: pass"]), async (visit, live) => {
    const seen = await visit.moreThan(0);
    await visit.page.keyboard.press(" ");
    await visit.button("Go live").waitFor();
    await visit.when(() => /held=\d/.test(location.hash));
    const frozen = await visit.samples();
    assert.ok(frozen >= seen);
    const other = await Visit.of(browser, live.uri);
    await other.moreThan(frozen + 500); // the recording went on
    await other.close();
    await visit.sameElsewhere("held=", () => document.querySelector(".boxes canvas").ariaLabel);
    assert.equal(await visit.samples(), frozen);
    await visit.page.keyboard.press(" ");
    await visit.when(() => !/held=/.test(location.hash));
    await visit.moreThan(frozen);
  }));
