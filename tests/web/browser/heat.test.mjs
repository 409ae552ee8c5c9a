// The heat map on a file whose every cell is known: 25 s with a little work each 100 ms, and a short burst.
import assert from "node:assert/strict";
import { recordingOf } from "./recording.mjs";
import { workload } from "./service.mjs";

const SECONDS = 25;
const BURST = { from: 12_342, ms: 36 }; // in the cells from 12.34 to 12.38 s
const COUNT = SECONDS * 10 + BURST.ms;
const EDGES = { left: 56, right: 8, top: 8, bottom: 20 }; // of the canvas, around the cells

/** speedscope's form: a sample of 1 ms at each time. Empty stacks are time without one. */
function fileOf() {
  const steady = Array.from({ length: SECONDS * 10 }, (_, i) => [100 * i, 0]);
  const burst = Array.from({ length: BURST.ms }, (_, i) => [BURST.from + i, 1]);
  const [samples, weights] = [[], []];
  let end = 0;
  for (const [at, frame] of [...steady, ...burst].sort((a, b) => a[0] - b[0])) {
    samples.push([], [frame]);
    weights.push(at - end, 1);
    end = at + 1;
  }
  const name = "main (pid 1, tid 1)";
  const profile = { type: "sampled", name, unit: "milliseconds", startValue: 0, endValue: end, samples, weights };
  return JSON.stringify({
    shared: { frames: [{ name: "serve" }, { name: "collect" }] },
    profiles: [profile],
  });
}

const recording = await recordingOf(workload("threads", "1", "0.05"));
const visiting = (name, act, options) =>
  recording.visiting(
    name,
    async (visit) => {
      await visit.drop({ name: "bursts.json", content: fileOf() }, "shown");
      await visit.exactly(COUNT);
      await visit.page.keyboard.press("8");
      await visit.page.locator("canvas.heat").waitFor();
      await act(visit);
    },
    options,
  );

/** What keys are on, as a screen reader has it. */
const current = () => document.querySelector("canvas.heat [role=gridcell]")?.textContent ?? "";

async function keys(visit, ...names) {
  for (const name of names) await visit.page.keyboard.press(name);
}
const times = (count, name) => Array(count).fill(name);

/** The middle of a cell, in the window. */
async function place(visit, column, cell) {
  const box = await visit.place(visit.page.locator("canvas.heat"));
  const width = box.width - EDGES.left - EDGES.right;
  const height = box.height - EDGES.top - EDGES.bottom;
  return [
    box.x + EDGES.left + ((column + 0.5) / SECONDS) * width,
    box.y + EDGES.top + (1 - (cell + 0.5) / 50) * height,
  ];
}

const selected = (visit, text) =>
  visit.page.locator(".bar-of-view", { hasText: `selected: ${text}` }).waitFor();

visiting("arrows go to the burst, Shift marks it, Enter selects it everywhere", async (visit) => {
  assert.match(await visit.text(".bar-of-view"), /18\.0 ms CPU time per cell\s*column: 1 s, cell: 20 ms/);
  await keys(visit, "v", "Home", ...times(12, "ArrowRight"), ...times(17, "ArrowUp"));
  await visit.when(
    (words) => document.querySelector("canvas.heat [role=gridcell]")?.textContent === words,
    "12.34 – 12.36 s, 18.0 ms CPU time, 0.90 CPUs in use",
  );
  await keys(visit, "Shift+ArrowUp");
  await visit.when(() => /36\.0 ms/.test(document.querySelector("canvas.heat [role=gridcell]")?.textContent));
  await visit.exactly(COUNT); // so far nothing is selected
  await keys(visit, "Enter");
  await visit.exactly(BURST.ms);
  await selected(visit, "12.34 – 12.38 s");
  await visit.picture("heat_selected");
  await keys(visit, "1");
  await visit.page.locator("aside", { hasText: "collect" }).waitFor();
  assert.equal(await visit.page.locator("aside", { hasText: "serve" }).count(), 0);
  await keys(visit, "Escape", "Escape"); // to the map, and to all time
  await visit.page.locator("canvas.heat").waitFor();
  await visit.exactly(COUNT);
});

visiting("Escape forgets what keys marked, and undoes nothing", async (visit) => {
  await keys(visit, "v", "Home", "Shift+ArrowRight");
  await visit.when(current);
  await keys(visit, "Escape");
  await visit.when(() => document.querySelector("canvas.heat [role=gridcell]") === null);
  assert.equal(await visit.tab("Heat map").getAttribute("aria-selected"), "true");
});

visiting("dragging selects from cell to cell; a click selects one, and again all", async (visit) => {
  await visit.page.mouse.move(...(await place(visit, 3, 10)));
  await visit.page.locator(".tip", { hasText: "3.20 – 3.22 s" }).waitFor();
  await visit.page.locator(".tip", { hasText: /1\.0 ms CPU time\s*0\.05 CPUs in use/ }).waitFor();
  await visit.page.mouse.down();
  await visit.page.mouse.move(...(await place(visit, 4, 30)), { steps: 3 });
  await visit.page.mouse.move(...(await place(visit, 5, 9)), { steps: 3 });
  await visit.page.locator(".tip", { hasText: "3.20 – 5.20 s" }).waitFor();
  await visit.page.mouse.up();
  await selected(visit, "3.20 – 5.20 s");
  await visit.exactly(20);
  await visit.page.keyboard.press("Escape");
  await visit.page.keyboard.press("Escape");
  await visit.exactly(COUNT);
  await visit.page.mouse.click(...(await place(visit, 12, 18)));
  await selected(visit, "12.36 – 12.38 s");
  await visit.exactly(19); // of which the first one began before
  await visit.page.mouse.click(...(await place(visit, 12, 18)));
  await visit.exactly(COUNT);
});

visiting("it follows the focus and the unit, and zooms with the overview", async (visit) => {
  const bar = (text) => visit.page.locator(".bar-of-view", { hasText: text }).waitFor();
  await keys(visit, "u");
  await bar("18 samples per cell");
  await visit.dragTime(0.4, 0.6);
  await visit.when((all) => window.shownSamples() < all, COUNT);
  await keys(visit, "z");
  await bar("column: 200 ms, cell: 4 ms");
  await keys(visit, "0");
  await bar("column: 1 s");
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").filter({ hasText: "serve" }).click();
  await keys(visit, "f", "8");
  await bar("1 sample per cell");
});

visiting(
  "on a narrow screen and in the dark it is whole",
  async (visit) => {
    const box = await visit.place(visit.page.locator("canvas.heat"));
    assert.ok(box.width <= 400 && box.height > 80, `${box.width} x ${box.height}`);
    await visit.page.mouse.click(...(await place(visit, 12, 18)));
    await visit.exactly(19);
    await visit.picture("heat_narrow");
  },
  { colorScheme: "dark", viewport: { width: 400, height: 720 } },
);
