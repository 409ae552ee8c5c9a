// The views on a program of two threads whose source is there: chart, table, source, lanes, keys.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { ROOT, Service, until } from "./service.mjs";
import { numberIn } from "./visit.mjs";

const SOURCE = join(ROOT, "tests/workloads/threads.c");
const CALL = "burn_rounds(burn, burn_draw(burn));"; // a line of it

const folder = mkdtempSync(join(tmpdir(), "isoscope-views-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Two threads for a second: the command. */
function built() {
  const program = join(folder, "threads");
  const flags = ["-O1", "-g", "-pthread", "-D_GNU_SOURCE", "-o", program];
  const compiled = spawnSync(process.env.CC ?? "cc", [...flags, SOURCE], { encoding: "utf8" });
  assert.equal(compiled.status, 0, compiled.stderr);
  return [program, "2", "1"];
}

const command = built();
const { samples, visited, visiting } = await recordingOf(command, "--source-root", ROOT);

/** What the arrows are on, as a screen reader has it. */
function current() {
  const canvas = document.querySelector(".boxes canvas");
  return document.getElementById(canvas?.getAttribute("aria-activedescendant"))?.textContent ?? "";
}

async function pickInTable(visit, name) {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").filter({ hasText: name }).first().click();
  await visit.page.locator("aside h2", { hasText: name }).waitFor();
}

visiting(
  "the chart shows one thread in the order of time, and another by the list",
  async (visit) => {
    await visit.tab("Chart").click();
    await visit.page.locator(".boxes canvas").waitFor();
    const list = visit.page.getByLabel("Thread", { exact: true });
    await visit.settled();
    const options = await list.locator("option").allInnerTexts();
    assert.ok(
      options.some((text) => /^spin-0 /.test(text)),
      String(options),
    );
    assert.ok(
      options.some((text) => /^spin-1 /.test(text)),
      String(options),
    );
    const other = options.find((text) => /^spin-1 /.test(text));
    await list.selectOption({ label: other });
    await visit.exactly(numberIn(other.slice(other.indexOf("):"))));
    await visit.page.locator(".boxes canvas").focus();
    await visit.page.keyboard.press("ArrowDown");
    await visit.when(() =>
      /\d s, for [\d.]+ (s|ms|µs)/.test(
        document.querySelector(".boxes canvas [aria-selected=true]")?.textContent ?? "",
      ),
    );
    await visit.page.keyboard.press("+");
    await visit.button("Select this time").click();
    await visit.when(() => /window_us/.test(decodeURIComponent(location.hash)));
    await visit.picture("chart");
  },
);

visiting("arrows go from frame to frame, and each is told as an item of a tree", async (visit) => {
  await visit.page.getByRole("button", { name: "fold system" }).click(); // then thread_main is a root
  await visit.page.locator(".crumbs .chip", { hasText: "folded" }).waitFor();
  await visit.page.locator(".boxes canvas").focus();
  await visit.page.keyboard.press("ArrowDown");
  await visit.when(() => document.querySelector(".boxes canvas [aria-level='1']") !== null);
  await visit.settled();
  let first = await visit.page.evaluate(current);
  for (let i = 0; i < 5 && !first.startsWith("thread_main"); i++) {
    await visit.page.keyboard.press("ArrowRight");
    await visit.when(
      (before) =>
        document.querySelector(".boxes canvas [aria-selected=true]").textContent !== before,
      first,
    );
    first = await visit.page.evaluate(current);
  }
  assert.match(first, / m?s, \d/); // CPU time
  await visit.page.keyboard.press("ArrowDown");
  await visit.when(
    () => document.querySelector(".boxes canvas [aria-level='2'][aria-selected=true]") !== null,
  );
  await visit.settled();
  const second = await visit.page.evaluate(current);
  assert.ok(second.startsWith(await visit.text("aside h2")), second);
  await visit.page.keyboard.press("ArrowUp");
  await visit.when(
    () => document.querySelector(".boxes canvas [aria-level='1'][aria-selected=true]") !== null,
  );
  assert.equal(await visit.page.evaluate(current), first);
});

visiting("no two columns of a table have the same head", async (visit) => {
  for (const tab of ["Table", "Call tree", "Bottom-up"]) {
    await visit.tab(tab).click();
    await visit.page.locator(".table .row").first().waitFor();
    await visit.settled();
    const heads = (await visit.page.getByRole("columnheader").allInnerTexts()).map((head) =>
      head.replace(/[▾▴]/, "").trim(),
    );
    assert.equal(new Set(heads).size, heads.length, heads.join(", "));
  }
});

visiting("the table is sorted by its headers, and picks by arrows", async (visit) => {
  await visit.tab("Table").click();
  const grid = visit.page.getByRole("grid");
  await grid.getByRole("row").nth(2).waitFor();
  await grid.getByRole("button", { name: "function" }).click();
  await visit.when(
    () => document.querySelector("[role=columnheader][aria-sort=ascending]") !== null,
  );
  await visit.settled();
  const names = await grid.locator(".row .name bdi").allInnerTexts();
  assert.deepEqual(
    names,
    [...names].sort((a, b) => (a < b ? -1 : 1)),
  );
  await grid.focus();
  await visit.page.keyboard.press("Home");
  await visit.page.locator("aside h2").getByText(names[0], { exact: true }).waitFor();
  await visit.page.keyboard.press("ArrowDown");
  await visit.page.locator("aside h2").getByText(names[1], { exact: true }).waitFor();
});

visiting("below the table stand all callers and callees of what is picked", async (visit) => {
  await pickInTable(visit, "thread_spin");
  const callers = visit.page.getByRole("region", { name: "Callers of thread_spin" });
  await callers.getByRole("button", { name: "thread_main" }).waitFor();
  await visit.picture("table");
  await callers.getByRole("button", { name: "thread_main" }).click();
  const callees = visit.page.getByRole("region", { name: "Callees of thread_main" });
  await callees.getByRole("button", { name: "thread_spin" }).waitFor();
});

visiting("a table is copied as aligned text", async (visit) => {
  await pickInTable(visit, "thread_spin");
  await visit.page.getByRole("grid").focus();
  await visit.page.keyboard.press("Control+c");
  await visit.when(async () => (await navigator.clipboard.readText()).includes("thread_spin"));
  const text = await visit.page.evaluate(() => navigator.clipboard.readText());
  const [head, ...lines] = text.trimEnd().split("\n");
  const column = head.indexOf("function");
  for (const line of lines) assert.match(line.slice(column - 2), /^ {2}\S/);
});

visiting("source stands beside what its lines cost, at the hottest one", async (visit) => {
  await pickInTable(visit, "thread_spin");
  await visit.page.keyboard.press("s");
  const line = visit.page.locator(".source .row", { hasText: CALL });
  await line.waitFor();
  await visit.settled();
  assert.match(await line.locator(".share").first().innerText(), /\d %/);
  assert.ok(await line.isVisible());
  await visit.when(() => {
    const row = document.querySelector(".source .row.current");
    return row?.querySelector("code").textContent.trim() && /\d %/.test(row.textContent);
  });
  await visit.picture("source");
});

visiting("a link has the chart's thread and zoom, and Esc takes the zoom back", async (visit) => {
  await visit.tab("Chart").click();
  await visit.page.locator(".boxes canvas").waitFor();
  const list = visit.page.getByLabel("Thread", { exact: true });
  await visit.settled();
  const options = await list.locator("option").allInnerTexts();
  // Not the busiest, which is what is shown without a choice.
  const other = options.filter((text) => /^spin-/.test(text))[1];
  assert.ok(other, String(options));
  await list.selectOption({ label: other });
  await visit.exactly(numberIn(other.slice(other.indexOf("):"))));
  const seen = () => document.querySelector(".view .bar-of-view").innerText;
  const zoomIn = async () => {
    await visit.settled();
    const before = await visit.page.evaluate(seen);
    await visit.page.keyboard.press("+");
    await visit.when(
      (text) => document.querySelector(".view .bar-of-view").innerText !== text,
      before,
    );
  };
  await visit.page.locator(".boxes canvas").focus();
  await zoomIn();
  await zoomIn();
  await visit.page.keyboard.press("ArrowDown");
  await visit.page.locator("aside h2").waitFor();
  await visit.sameElsewhere("seen_us", () => [
    document.querySelector(".view .bar-of-view").innerText,
    document.querySelector(".view select").selectedOptions[0].textContent,
    document.querySelector("aside h2").textContent,
  ]);
  await visit.settled();
  const near = await visit.page.evaluate(seen);
  await zoomIn();
  await visit.page.keyboard.press("Escape"); // what was zoomed since the pick
  await visit.when(
    (text) => document.querySelector(".view .bar-of-view").innerText === text,
    near,
  );
  await visit.page.keyboard.press("Escape"); // the pick
  await visit.page.keyboard.press("Escape"); // both steps of the zoom, as of a wheel
  await visit.when(() => !/ seen/.test(document.querySelector(".view .bar-of-view").innerText));
});

/** speedscope's form: 102 s of one thread; in their middle another function for 2 or 3 pixels. */
const STEADY = Array(170).fill([0]);
const RARE = JSON.stringify({
  shared: { frames: [{ name: "steady" }, { name: "rare" }] },
  profiles: [
    {
      ...{ type: "sampled", name: "main (pid 1, tid 1)", unit: "milliseconds" },
      ...{ startValue: 0, endValue: 102_300, samples: [...STEADY, [1], ...STEADY] },
      weights: Array(2 * STEADY.length + 1).fill(300),
    },
  ],
});

visiting("what a pick brought into sight is taken back with it, and not with a zoom by hand", async (visit) => {
  await visit.drop({ name: "rare.json", content: RARE }, "shown");
  await visit.exactly(2 * STEADY.length + 1);
  await visit.tab("Chart").click();
  const bar = visit.page.locator(".view .bar-of-view");
  const canvas = visit.page.locator(".boxes canvas");
  await canvas.waitFor();
  await visit.page.fill("#search", "rare");
  await visit.page.locator(".hits [role=option]", { hasText: "rare" }).waitFor();
  await visit.page.keyboard.press("Enter");
  await visit.page.locator("aside h2", { hasText: "rare" }).waitFor();
  await bar.filter({ hasText: / seen/ }).waitFor();
  const near = await visit.text(".view .bar-of-view");
  await canvas.focus();
  await visit.page.keyboard.press("+");
  const isAt = (text) => document.querySelector(".view .bar-of-view").innerText === text;
  await until(async () => !(await visit.page.evaluate(isAt, near)), "the zoom by hand");
  await visit.page.keyboard.press("Escape");
  await visit.when(isAt, near);
  await visit.page.keyboard.press("Escape");
  await bar.filter({ hasNotText: / seen/ }).waitFor();
  await visit.page.locator("aside h2", { hasText: "rare" }).waitFor({ state: "detached" });
});

visiting("a link has the file that was chosen in the source view", async (visit) => {
  await pickInTable(visit, "thread_spin");
  await visit.page.keyboard.press("s");
  const list = visit.page.getByLabel("File");
  await visit.page.locator(".source .row", { hasText: CALL }).waitFor();
  await visit.settled();
  const first = await list.inputValue();
  const files = await list.locator("option").evaluateAll((all) => all.map((one) => one.value));
  const other = files.find((file) => file !== first);
  assert.ok(other, `another file than ${first} among ${files}`);
  await list.selectOption(other);
  await visit.when((file) => document.querySelector(`[aria-label="Lines of ${file}"] .row`), other);
  await visit.sameElsewhere("source=", () => [
    document.querySelector(".view select").value,
    document.querySelector(".source .body").getAttribute("aria-label"),
  ]);
  await visit.page.keyboard.press("Escape");
  await visit.when((file) => document.querySelector(".view select").value === file, first);
});

visiting("whatever somebody wrote into the address, its view shows", async (visit) => {
  const rows = ".table .row";
  const canvas = ".boxes canvas";
  for (const [tab, seen, fragment] of [
    ["Chart", canvas, 'view=chart&chart={"pid":1,"tid":"x","seen_us":[1,2]}'],
    ["Chart", canvas, 'view=chart&chart={"seen_us":[5e15,6e15]}'],
    ["Chart", canvas, 'view=chart&filter={"window_us":[-9e15,9e15]}'],
    ["Call tree", rows, 'view=tree&treeSort=[]&filter={"threads":5,"tags":[{}]}'],
    ["Bottom-up", rows, 'view=bottom-up&bottomUpSort={"by":"__proto__","ascending":1}'],
    ["Table", rows, 'view=table&tableSort={"by":null}&transforms=[{"kind":"focus-function"}]'],
    ["Table", rows, "view=table&group=x&order=up&unit=weight&filter=[1]"],
    ["Source", rows, 'view=source&source={"of":"","file":"/nowhere.c"}'],
    ["Compare", ".sides", 'view=compare&before={"kind":"window","window_us":[3]}&compareSort=1'],
    ["Flame", canvas, 'zoom=[[]]&search={"text":5}&rootBelow=no&picked=nobody'],
    ["Flame", canvas, "view=zz&%&%%&=&__proto__=5"],
  ]) {
    await visit.page.evaluate((hash) => (location.hash = hash), fragment);
    await visit.page.getByRole("tab", { name: tab, exact: true, selected: true }).waitFor();
    await visit.page.locator(`.view ${seen}`).first().waitFor();
    await visit.exactly(samples);
    const problems = visit.page.locator("footer").getByRole("button", { name: "OK" });
    assert.equal(await problems.count(), 0, fragment);
  }
});

visiting(
  "a lane picks its thread, dragging in lanes selects time, and arrows do both",
  async (visit) => {
    const lanes = visit.page.locator(".lanes canvas");
    await visit.page.getByRole("button", { name: /^spin-\*/ }).click(); // opens
    const thread = visit.page.getByRole("button", { name: "spin-1", exact: true });
    await thread.click();
    await visit.when((all) => window.shownSamples() < all, samples);
    await visit.page.keyboard.press("Escape");
    await visit.exactly(samples);
    const [box, { y }] = [await visit.place(lanes), await visit.place(thread)];
    await visit.page.mouse.click(box.x + 0.5 * box.width, y + 4);
    await visit.when((all) => window.shownSamples() < all, samples);
    await visit.page.keyboard.press("Escape");
    await visit.exactly(samples);
    await visit.page.mouse.move(box.x + 0.4 * box.width, box.y + 4);
    await visit.page.mouse.down();
    await visit.page.mouse.move(box.x + 0.6 * box.width, box.y + 8, { steps: 4 });
    await visit.page.mouse.up();
    await visit.when((all) => window.shownSamples() < all, samples);
    const part = await visit.samples();
    assert.ok(part > 0);
    await visit.page.keyboard.press("Escape"); // the whole drag is one step
    await visit.exactly(samples);
    await visit.page.keyboard.press("o");
    await visit.page.keyboard.press("ArrowLeft");
    await visit.when((all) => window.shownSamples() < all, samples);
    const tenth = await visit.samples();
    await visit.page.keyboard.press("Shift+ArrowLeft");
    await visit.when((before) => window.shownSamples() < before, tenth);
    await visit.page.keyboard.press("0");
    await visit.exactly(samples);
    await visit.page.keyboard.press("ArrowUp");
    await visit.when((all) => window.shownSamples() < all, samples);
  },
);

visiting("a window without samples says why, and leads back", async (visit) => {
  await visit.page.evaluate(() => (location.hash = "filter=%7B%22window_us%22%3A%5B1%2C2%5D%7D"));
  const words = visit.page.locator(".empty");
  await words.getByText(/used no CPU/).waitFor();
  await words.getByRole("button", { name: "Show all time" }).click();
  await visit.exactly(samples);
});

test("where the service does not give the text, lines stand by number, and it is said", () =>
  visited(Service.ended(command), async (visit) => {
    await visit.moreThan(0);
    await pickInTable(visit, "thread_spin");
    await visit.page.keyboard.press("s");
    await visit.page.getByText(/--source-root DIR/).waitFor();
    await visit.page.locator(".source .row .line").first().waitFor();
    assert.equal((await visit.page.locator(".source code").allInnerTexts()).join("").trim(), "");
  }));
