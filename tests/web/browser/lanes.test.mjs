// The lanes of threads: groups of a real program with 200 threads, processes, and files with
// hundreds of threads that are called as nobody would call one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingOf } from "./recording.mjs";
import { Service, workload } from "./service.mjs";
import { Visit } from "./visit.mjs";

const HOSTILE = "<img onerror=x>"; // as long as a name of a thread can be

/** As the service tells them in the table form. */
function threadsOf({ trees }) {
  const found = new Map();
  for (const { threads, samples } of trees) {
    for (const { tid, name } of threads)
      found.set(tid, { samples: found.get(tid)?.samples ?? 0, tid, name }); // its newest name
    for (const thread of samples.threads) found.get(threads[thread].tid).samples++;
  }
  return [...found.values()].filter((one) => one.samples > 0);
}

const { browser, samples, service, visited, visiting } = await recordingOf(workload("thread_groups", "0.02"));
/** tid, name and samples of each that has some. */
const threads = threadsOf(await service.ask("_getCpuSamples", { form: "table" }));

/** The first two workers that have samples: of 200 threads some may have none on a busy machine. */
const [FIRST, SECOND] = threads
  .map(({ name }) => name)
  .filter((name) => name.startsWith("worker-"))
  .sort((a, b) => Number(a.slice(7)) - Number(b.slice(7)));

const isIn = (name, group) => (group === HOSTILE ? name === group : name.startsWith(group));
const samplesOf = (group) =>
  threads.filter(({ name }) => isIn(name, group)).reduce((sum, one) => sum + one.samples, 0);
const countOf = (group) => threads.filter(({ name }) => isIn(name, group)).length;

/** The label of a lane, by what it begins with. */
const label = (visit, begin) =>
  visit.page.locator(".lane").filter({ has: visit.page.getByText(begin, { exact: true }) });

/** In the lane itself, beside its label. */
async function clickLane(visit, begin, ...modifiers) {
  const box = await visit.place(label(visit, begin).first());
  for (const key of modifiers) await visit.page.keyboard.down(key);
  await visit.page.mouse.click(box.x + 300, box.y + box.height / 2);
  for (const key of modifiers) await visit.page.keyboard.up(key);
}

/** In the page: of the threads that the address filters for. */
function threadsInAddress(count) {
  const filter = new URLSearchParams(location.hash.slice(1)).get("filter") ?? "{}";
  return JSON.parse(filter).threads?.length === count;
}

visiting("200 threads of three names are three lanes, and no name is run", async (visit) => {
  assert.ok(threads.length > 180, `only ${threads.length} threads have samples`);
  for (const [group, text] of [
    ["worker-", "worker-*"],
    ["pool #", "pool #*"],
    [HOSTILE, HOSTILE],
  ]) {
    assert.match(await label(visit, text).innerText(), new RegExp(`\\(${countOf(group)}\\)$`));
    assert.equal(await label(visit, text).getAttribute("aria-expanded"), "false");
  }
  assert.equal(await visit.page.locator(".overview img").count(), 0);
  const { height } = await visit.place(visit.page.locator(".overview"));
  assert.ok(height < 200, `the strip is ${height} px high`);
  await visit.picture("lanes");
});

visiting("a group that is picked picks its threads, with Ctrl others too", async (visit) => {
  await clickLane(visit, "pool #*");
  await visit.exactly(samplesOf("pool #"));
  await visit.tab("Table").click();
  const grid = visit.page.getByRole("grid");
  await grid.getByText("pool_spin").first().waitFor();
  assert.equal(await grid.getByText("worker_spin").count(), 0);
  await visit.picture("lanes_picked");
  await clickLane(visit, HOSTILE, "Control");
  await visit.exactly(samplesOf("pool #") + samplesOf(HOSTILE));
  await grid.getByText("twin_spin").first().waitFor();
  await visit.when(threadsInAddress, countOf("pool #") + countOf(HOSTILE));
  await visit.button(`${countOf("pool #") + countOf(HOSTILE)} threads ×`).click();
  await visit.exactly(samples);
  await clickLane(visit, "worker-*");
  await visit.exactly(samplesOf("worker-"));
  await clickLane(visit, "worker-*");
  await visit.exactly(samples);
});

visiting("a group opens into its threads, is so in the address, and closes", async (visit) => {
  await label(visit, "worker-*").click();
  await label(visit, FIRST).waitFor();
  await visit.settled();
  assert.equal(await label(visit, "worker-*").getAttribute("aria-expanded"), "true");
  const { height } = await visit.place(visit.page.locator(".lanes"));
  assert.ok(height < 200, `the lanes are ${height} px high`);
  assert.ok((await visit.page.locator(".lane").count()) < 60, "only those in sight");
  await visit.picture("lanes_open");

  const second = threads.find(({ name }) => name === SECOND);
  await label(visit, SECOND).click();
  await visit.exactly(second.samples);
  await visit.when(() => /filter=.*open=/.test(location.hash));
  const again = await Visit.of(browser, visit.page.url());
  await label(again, FIRST).waitFor();
  await again.exactly(second.samples);
  await again.close();

  await label(visit, "worker-*").click();
  await label(visit, FIRST).waitFor({ state: "detached" });
  await visit.exactly(second.samples); // what is picked stays so
  await visit.page.keyboard.press("Escape");
  await label(visit, FIRST).waitFor();
});

visiting("lanes are found by typing, and all of them are picked by Enter", async (visit) => {
  await visit.page.keyboard.press("n");
  await visit.page.keyboard.type("pool #1");
  await label(visit, "pool #1").waitFor();
  const found = threads.filter(({ name }) => name.includes("pool #1"));
  await visit.when(() =>
    [...document.querySelectorAll(".lane")].every((lane) => lane.title.includes("pool #1")),
  );
  assert.equal(await label(visit, "worker-*").count(), 0);
  await visit.page.keyboard.press("Enter");
  await visit.exactly(found.reduce((sum, one) => sum + one.samples, 0));
  await visit.picture("lanes_found");
  await visit.sameElsewhere("laneFind", () => document.querySelectorAll(".lane").length);
  await visit.page.keyboard.press("Escape");
  await label(visit, "worker-*").waitFor();
});

visiting("lanes stand by activity or by name, as the link says", async (visit) => {
  const names = () => [...document.querySelectorAll(".lane bdi")].map((one) => one.textContent);
  const groups = ["worker-", "pool #", HOSTILE];
  const busiest = groups.sort((a, b) => samplesOf(b) - samplesOf(a))[0];
  await visit.page.getByLabel("Order of the lanes").selectOption("activity");
  await visit.when(
    (begin) => document.querySelector(".lane bdi").textContent.startsWith(begin),
    busiest,
  );
  await visit.sameElsewhere("laneOrder=activity", names);
  await visit.page.getByLabel("Order of the lanes").selectOption("name");
  await visit.when(() => document.querySelector(".lane bdi").textContent.startsWith("<img"));
});

visiting("arrows pick lanes, Enter opens, and what is picked is scrolled to", async (visit) => {
  await clickLane(visit, "worker-*");
  await visit.exactly(samplesOf("worker-"));
  await visit.page.keyboard.press("o");
  await visit.page.keyboard.press("Enter");
  await label(visit, FIRST).waitFor();
  await visit.page.keyboard.press("ArrowDown");
  const first = threads.find(({ name }) => name === FIRST);
  await visit.exactly(first.samples);
  await visit.page.getByRole("button", { name: FIRST, exact: true, pressed: true }).waitFor();
  await visit.page.keyboard.press("ArrowUp");
  await visit.exactly(samplesOf("worker-"));
  await visit.button(`${countOf("worker-")} threads ×`).click();
  await visit.exactly(samples);
  await visit.page.keyboard.press("o");
  await visit.page.keyboard.press("ArrowUp"); // the last one, which lies below many
  await visit.exactly(samplesOf(HOSTILE));
  await visit.when(() => {
    const lane = [...document.querySelectorAll(".lane[aria-expanded]")]
      .at(-1)
      .getBoundingClientRect();
    const { top, bottom } = document.querySelector(".lanes").getBoundingClientRect();
    return lane.top >= top - 1 && lane.bottom <= bottom + 1;
  });
  await visit.page.keyboard.press("ArrowDown"); // beyond it: all
  await visit.exactly(samples);
});

visiting(
  "a group is a button: Tab reaches it, Enter and space open and close it",
  async (visit) => {
    const button = visit.page.getByRole("button", { name: /^worker-\*/ });
    assert.equal(await button.evaluate((element) => element.tabIndex), 0);
    await button.focus();
    await visit.page.keyboard.press("Enter");
    await visit.page.getByRole("button", { name: /^worker-\*/, expanded: true }).waitFor();
    await visit.page.getByRole("button", { name: FIRST, exact: true }).waitFor();
    await visit.page.keyboard.press(" ");
    await visit.page.getByRole("button", { name: /^worker-\*/, expanded: false }).waitFor();
    await visit.exactly(samples); // nothing was picked by it
  },
);

visiting("the window that is selected is marked over the curve and in the lanes", async (visit) => {
  await visit.dragTime(0.25, 0.5);
  await visit.when((all) => window.shownSamples() < all, samples);
  const strip = await visit.place(visit.page.locator(".overview"));
  const at = (part) => strip.x + 122 + part * (strip.width - 124);
  const near = (x, y) => assert.ok(Math.abs(x - y) < 3, `${x}, not ${y}`);
  const marked = await visit.page.locator(".window").boundingBox();
  near(marked.x, at(0.25));
  near(marked.x + marked.width, at(0.5));
  const [before, behind] = await visit.page.locator(".shade").all();
  const [left, right] = [await before.boundingBox(), await behind.boundingBox()];
  near(left.x + left.width, at(0.25));
  near(right.x, at(0.5));
  near(right.x + right.width, strip.x + strip.width);
  assert.ok(left.height >= 48, "as high as the lanes");
  await visit.picture("lanes_window");
});

visiting(
  "lanes in the dark are the same",
  async (visit) => {
    await label(visit, "worker-*").click();
    await label(visit, FIRST).waitFor();
    await clickLane(visit, SECOND);
    await visit.when((all) => window.shownSamples() < all, samples);
    await visit.picture("lanes_dark");
  },
  { colorScheme: "dark" },
);

test("of several processes each has its name, and its lanes below", () =>
  visited(Service.ended(workload("forks", "0.2")), async (visit, forks) => {
    const { sampleCount } = await forks.ask("_getCpuSamples");
    await visit.exactly(sampleCount);
    const processes = visit.page.getByRole("button", { name: /^forks \(\d+\)$/ });
    assert.equal(await processes.count(), 5);
    assert.equal(await visit.page.locator(".lane").count(), 10, "and a thread below each");
    await processes.last().click();
    await visit.when((all) => window.shownSamples() > 0 && window.shownSamples() < all, sampleCount);
    await visit.picture("lanes_processes");
  }));

/** speedscope's form: of each thread a few samples in a second. */
function fileOf(names) {
  const profile = (name, i) => ({
    ...{ type: "sampled", name: `${name} (pid 1, tid ${i + 1})`, unit: "milliseconds" },
    ...{ startValue: 0, endValue: 1000 },
    samples: Array.from({ length: 20 }, () => [i % 3]),
    weights: Array.from({ length: 20 }, (_, k) => 1 + ((i + k) % 50)),
  });
  const frames = ["read", "parse", "write"].map((name) => ({ name }));
  return JSON.stringify({ shared: { frames }, profiles: names.map(profile) });
}

async function toTheEnd(visit) {
  await visit.page.evaluate(() => {
    const lanes = document.querySelector(".lanes");
    lanes.scrollTop = lanes.scrollHeight;
  });
}

visiting("500 threads of long, right-to-left and hostile names are text in rows", async (visit) => {
  const kinds = [
    (i) => `<img src=x onerror=window.hacked=1>${"x".repeat(i)}`,
    (i) => `${"n".repeat(2000)}${"y".repeat(i)}`,
    (i) => `\u202e\u05e2\u05d5\u05d1\u05d3${"\u05d0".repeat(i)}`,
    (i) => `"><script>window.hacked=1</script>${i}z`,
    (i) => `</button>&amp;${i}z`,
  ];
  const names = Array.from({ length: 500 }, (_, i) => kinds[i % 5](Math.floor(i / 5)));
  await visit.drop({ name: "names.json", content: fileOf(names) }, "shown");
  await visit.exactly(500 * 20);
  assert.equal(await visit.page.locator(".lane bdi").first().textContent(), names[0]);
  for (const lane of await visit.page.locator(".lane").all()) {
    const { width, height } = await lane.boundingBox();
    assert.ok(width <= 120 && height === 24, `${width} x ${height}`);
  }
  await visit.picture("lanes_hostile");
  await toTheEnd(visit);
  await visit.when(
    (last) => [...document.querySelectorAll(".lane bdi")].at(-1)?.textContent === last,
    names[499],
  );
  assert.equal(await visit.page.locator(".overview img, .overview script").count(), 0);
  await visit.page.locator(".lane").last().click();
  await visit.exactly(20);
});

visiting("2,000 threads of one group open into as many lanes", async (visit) => {
  const names = Array.from({ length: 2000 }, (_, i) => `worker-${i}`);
  await visit.drop({ name: "many.json", content: fileOf(names) }, "shown");
  await visit.exactly(2000 * 20);
  await visit.page.getByText("(2000)").waitFor();
  await label(visit, "worker-*").click();
  await label(visit, "worker-0").waitFor();
  await toTheEnd(visit);
  await label(visit, "worker-1999").click();
  await visit.exactly(20);
  assert.ok((await visit.page.locator(".lane").count()) < 60, "only those in sight");
});
