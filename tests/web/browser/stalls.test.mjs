// Loops that were late: their marks in the lanes, the table, one in full. The service is one whose stalls the test makes.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeService } from "./fake_service.mjs";
import { openBrowser } from "./recording.mjs";
import { Service, workload } from "./service.mjs";
import { beyond, LOOPS, NEAR, ongoing, ORIGIN_US, SAMPLES, STALLS, UNWATCHED } from "./stalls_told.mjs";
import { Visit } from "./visit.mjs";

const { browser, visited } = await openBrowser();
const told = { samples: SAMPLES, stalls: STALLS, loops: LOOPS, unwatched: UNWATCHED };
const service = await FakeService.of(told);
after(() => service.end());

const marks = (visit) => visit.page.locator(".mark");
const rows = (visit) => visit.page.getByRole("grid").locator(".body .row");
const stall = (visit) => visit.page.locator("section.stall");
const S = 1_000_000;

/** Samples of a thread from..to, in seconds since the first one. */
const samplesIn = (tid, from, to) =>
  SAMPLES.filter((one) => one.tid === tid && one.at >= ORIGIN_US + from * S && one.at < ORIGIN_US + to * S).length;

const visiting = (name, act, options) =>
  test(name, async () => {
    const visit = await Visit.of(browser, service.uri, options);
    await visit.exactly(SAMPLES.length);
    await marks(visit).first().waitFor();
    await act(visit);
    await visit.close();
  });

visiting("each stall is a mark over its thread's lane, from its start to its end, and says what it was", async (visit) => {
  assert.equal(await marks(visit).count(), STALLS.length);
  const strip = await visit.place(visit.page.locator(".overview canvas").first());
  const extent = SAMPLES.at(-1).at - ORIGIN_US;
  const xOf = (seconds) => strip.x + 120 + ((seconds * S) / extent) * (strip.width - 120);
  const hang = await marks(visit).first().boundingBox();
  assert.ok(Math.abs(hang.x - xOf(1)) < 4, `${hang.x}, not ${xOf(1)}`);
  assert.ok(Math.abs(hang.x + hang.width - xOf(2.9)) < 4);
  const lane = await visit.page.getByRole("button", { name: "render", exact: true }).boundingBox();
  const dead = visit.page.getByRole("button", { name: /^Stall 3 of render: 6\.20 s, dead, io, read, in load_texture/ });
  assert.ok(Math.abs((await dead.boundingBox()).y - lane.y) < 2, "in the lane of its thread, which has no samples");
  await dead.hover();
  await visit.page.locator(".tip", { hasText: "dead, io" }).waitFor();
  await visit.picture("stalls-lanes");
});

visiting("a click on a mark selects the time of the stall and its thread, and tells it in full", async (visit) => {
  await marks(visit).first().click();
  await stall(visit).getByRole("heading", { name: /Stall 1 of main: 1\.90 s, stall/ }).waitFor();
  await visit.exactly(samplesIn(4242, 1 - 0.0038, 2.9));
  const text = await visit.text("section.stall");
  assert.match(text, /busy: it computed\./);
  assert.match(text, /render_page.*editor · render\.c:212/);
  assert.match(text, /open_document.*editor · document\.c:87/);
  assert.match(text, /1\.20 s without a break; on top in 60 of 95 looks \(63\.2 %\)/);
  assert.match(text, /in slice\s+open report\.pdf\s+user tag\s+opening/);
  assert.match(text, /all stacks begin\s+main › run_loop › dispatch/);
  await visit.page.locator("aside h2", { hasText: "render_page" }).waitFor(); // the culprit is picked
  await visit.sameElsewhere("stall=", () => document.querySelector("section.stall h2")?.innerText);
  await visit.picture("stalls-one");
});

visiting("a press on a part of the story selects that time", async (visit) => {
  await marks(visit).first().click();
  await visit.page.getByRole("button", { name: /^compress_block, 400\.0 ms/ }).click();
  await visit.exactly(samplesIn(4242, 2.5, 2.9));
  await visit.page.getByRole("button", { name: /^compress_block/, pressed: true }).waitFor();
  await visit.page.keyboard.press("Escape");
  await visit.exactly(samplesIn(4242, 1 - 0.0038, 2.9));
});

visiting("what it waited in, and who held the lock", async (visit) => {
  await visit.page.keyboard.press("l");
  await rows(visit).filter({ hasText: "flush_log" }).click();
  await stall(visit).getByRole("heading", { name: /Stall 2/ }).waitFor();
  const text = await visit.text("section.stall");
  assert.match(text, /lock: it waited in futex for thread 4251 'saver', which stood in write_all\./);
  assert.match(text, /had a processor 4\.0 ms\s+waited for one 1\.0 ms\s+slept 305\.0 ms/);
  assert.match(text, /waited in\s+futex\s+held by\s+saver \(4251\) in write_all/);
  await rows(visit).filter({ hasText: "load_texture" }).click();
  await stall(visit).getByText("9: /mnt/share/textures/wall.png", { exact: true }).waitFor();
});

visiting("marks are reached by keys: arrows go from one to the next, Enter picks it", async (visit) => {
  await marks(visit).first().focus();
  await visit.page.keyboard.press("ArrowRight");
  await visit.page.keyboard.press("Enter");
  await stall(visit).getByRole("heading", { name: /Stall 2 of main/ }).waitFor();
  assert.equal(await marks(visit).evaluateAll((all) => all.filter(({ tabIndex }) => tabIndex === 0).length), 1);
});

visiting("from any view keys go to the next stall in time and back", async (visit) => {
  await visit.page.keyboard.press(".");
  await visit.exactly(samplesIn(4242, 1 - 0.0038, 2.9));
  assert.equal(await visit.tab("Flame").getAttribute("aria-selected"), "true");
  await visit.page.keyboard.press(".");
  await visit.exactly(samplesIn(4242, 4, 4.31));
  await visit.page.keyboard.press(",");
  await visit.exactly(samplesIn(4242, 1 - 0.0038, 2.9));
});

visiting("the table is sorted and searched, and keys pick in it", async (visit) => {
  const shown = () => rows(visit).locator(".nth").allInnerTexts();
  await visit.page.keyboard.press("l");
  await visit.when((count) => document.querySelectorAll(".stalls .body .row").length === count, STALLS.length);
  assert.deepEqual(await shown(), ["9", "8", "7", "6", "5", "4", "3", "2", "1"]);
  await visit.button("duration").click();
  await visit.when(() => document.querySelector(".stalls .body .nth")?.innerText === "3");
  assert.deepEqual((await shown()).slice(0, 3), ["3", "1", "2"]);
  await visit.page.getByRole("grid").focus();
  await visit.page.keyboard.press("Home");
  await stall(visit).getByRole("heading", { name: /Stall 3/ }).waitFor();
  await visit.page.keyboard.press("ArrowDown");
  await stall(visit).getByRole("heading", { name: /Stall 1/ }).waitFor();
  await visit.page.getByLabel("Close the stall").click();
  await visit.when(() => !document.querySelector("section.stall"));
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type("texture");
  await visit.when(() => document.querySelectorAll(".stalls .body .row").length === 1);
  await visit.page.keyboard.type("zzz");
  await visit.page.getByText("No matching stalls.").waitFor();
});

visiting("loops have what their dispatches took, and why they stalled; a click selects the thread", async (visit) => {
  await visit.page.keyboard.press("l");
  await visit.button("Loops 2").click();
  await rows(visit).nth(1).waitFor();
  const cells = await rows(visit).filter({ hasText: "poll" }).locator("span").allInnerTexts();
  assert.deepEqual(cells, [
    ...["main", "4242", "poll", "busy", "4,112", "64–127 µs", "4.1–8.2 ms", "262.1–310.0 ms", "1.90 s"],
    ...["256–511 µs", "3.41 s", "8", "7 busy, 1 lock"],
  ]);
  await rows(visit).filter({ hasText: "poll" }).click();
  await visit.exactly(samplesIn(4242, 0, 100));
  await visit.picture("stalls-loops");
});

visiting(
  "a narrow page has room for a stall",
  async (visit) => {
    await visit.page.keyboard.press("l");
    await rows(visit).filter({ hasText: "render_page" }).click();
    const { height, width } = await stall(visit).boundingBox();
    assert.ok(height > 200 && width <= 400, `${width} x ${height}`);
    await visit.picture("stalls-narrow");
  },
  { viewport: { width: 400, height: 800 }, colorScheme: "dark" },
);

/** A page at a service of the test's own. */
const at = (name, more, act) => test(name, () => visited(FakeService.of({ ...told, ...more }), act));

at("a stall that goes on is marked up to now, grows, and ends", { stalls: STALLS }, async (visit, own) => {
  await visit.exactly(SAMPLES.length);
  await visit.page.keyboard.press("l");
  own.tell([ongoing(0.5)]);
  await visit.page.getByText("1 has not ended").waitFor();
  await rows(visit).filter({ hasText: "500.0 ms so far" }).waitFor();
  const mark = visit.page.locator(".mark.ongoing");
  const end = async () => {
    const { x, width } = await mark.boundingBox();
    return x + width;
  };
  const strip = await visit.place(visit.page.locator(".overview canvas").first());
  assert.ok(Math.abs((await end()) - strip.x - strip.width) < 8, "to the end of what is seen");
  own.tell([ongoing(3)]);
  await rows(visit).filter({ hasText: "3.00 s so far" }).waitFor();
  await visit.settled();
  assert.ok(Math.abs((await end()) - strip.x - strip.width) < 8, "which is now later");
  own.tell([ongoing(4)]);
  await mark.waitFor({ state: "detached" });
  await rows(visit).filter({ hasText: "unlock_vault" }).filter({ hasText: "4.00 s" }).waitFor();
  assert.deepEqual(own.asked("_getStalls").map(({ since }) => since).filter(Boolean).slice(0, 3), ["9", "10", "11"]);
});

at("marks that are too near to be told apart are one, and a click on it zooms to them", { stalls: NEAR }, async (visit) => {
  await visit.page.setViewportSize({ width: 360, height: 700 });
  await visit.exactly(SAMPLES.length);
  const joined = visit.page.getByRole("button", { name: `${NEAR.length} stalls; a click zooms to them` });
  await joined.click();
  await visit.when((count) => document.querySelectorAll(".mark").length === count, NEAR.length);
});

at("a frozen view has the stalls of before", { stalls: STALLS }, async (visit, own) => {
  await visit.exactly(SAMPLES.length);
  await marks(visit).first().waitFor();
  await visit.button("Freeze").click();
  await visit.page.locator(".standing", { hasText: "frozen" }).waitFor();
  own.tell([beyond()]);
  await visit.when(() => window.isSettled());
  await visit.page.keyboard.press("l");
  await rows(visit).first().waitFor();
  assert.equal(await rows(visit).count(), STALLS.length);
  await visit.button("Go live").click();
  await rows(visit).filter({ hasText: "17.00 s" }).waitFor();
});

at("a clear takes the stalls away", { stalls: STALLS }, async (visit) => {
  await visit.exactly(SAMPLES.length);
  await marks(visit).first().waitFor();
  await visit.button("Clear").click();
  await marks(visit).first().waitFor({ state: "detached" });
});

at("without stalls the view says what is watched, what is not and why, and how to register a loop", { stalls: [] }, async (visit) => {
  await visit.exactly(SAMPLES.length);
  await visit.page.keyboard.press("l");
  await visit.page.locator(".empty li").first().waitFor();
  const text = await visit.text(".view .empty");
  assert.match(text, /No stalls: no dispatch of a watched loop took 250 ms or longer/);
  assert.match(text, /Watched: render \(4250\), main \(4242\)\./);
  assert.match(text, /Not watched, since they wait by system calls of their own.*net-uring \(4260\) in io_uring_enter/);
  assert.match(text, /isoscope_loop_register\("render", NULL\)/);
  await visit.picture("stalls-none");
});

at("where nothing is watched one press turns it on", { stalls: [], loops: [], unwatched: [], watch: "none" }, async (visit, own) => {
  await visit.exactly(SAMPLES.length);
  await visit.page.keyboard.press("l");
  await visit.button("Watch all that can be").click();
  await visit.page.getByText("No loop is watched now.").waitFor();
  assert.deepEqual(own.asked("setFlag"), [{ name: "stall_watch", value: "auto" }]);
});

at(
  "names of programs are text, wherever they are shown",
  {
    stalls: [
      {
        ...STALLS[1],
        ...{ name: "<img src=x onerror=window.hacked=1>", causeText: "<script>window.hacked=1</script>", path: "<b>" },
        ...{ culprit: { ...STALLS[1].culprit, function: "<img src=x onerror=window.hacked=1>" }, prefix: ["<i>x</i>"] },
      },
    ],
  },
  async (visit) => {
    await visit.exactly(SAMPLES.length);
    await marks(visit).first().click();
    await stall(visit).getByText("<script>window.hacked=1</script>").waitFor();
    assert.equal(await visit.page.locator("section.stall img, section.stall script, .stalls img").count(), 0);
  },
);

const LATE = workload("stall_loop", "decode:100,render:900,compress:100", "wait:300");

test("of a program that stalls the page says what the service says, live and as a session", () =>
  visited(Service.ended(LATE), async (visit, late) => {
    await visit.moreThan(0);
    const { stalls } = await late.ask("_getStalls");
    assert.ok(stalls.length > 0, "it took more than a second");
    const told = stalls.map(({ number, culprit }) => `${number} ${culprit?.function ?? ""}`).sort();
    const read = () =>
      [...document.querySelectorAll(".stalls .body .row")].map((row) => `${row.querySelector(".nth").innerText} ${row.querySelector(".name").innerText}`.trim()).sort();
    const isTold = async () => {
      await visit.when((count) => document.querySelectorAll(".stalls .body .row").length === count, told.length);
      assert.deepEqual(await visit.page.evaluate(read), told.map((one) => one.trim()));
    };
    await visit.page.keyboard.press("l");
    await isTold();
    const [longest] = [...stalls].sort((a, b) => b.durationMicros[1] - a.durationMicros[1]);
    await visit.page.getByRole("button", { name: new RegExp(`^Stall ${longest.number} of `) }).click();
    await stall(visit).getByText(longest.causeText).waitFor();
    const runs = () => stall(visit).locator(".story button").count();
    assert.equal(await runs(), longest.story.length);
    const text = await visit.text("section.stall");
    await visit.picture("stalls-real");
    const { data } = await late.ask("_getSession");
    await visit.drop({ name: "late.isoscope", content: Buffer.from(data, "base64") }, "shown");
    await visit.page.locator("header", { hasText: "Saved session" }).waitFor();
    await isTold();
    await rows(visit).filter({ has: visit.page.locator(".nth", { hasText: new RegExp(`^${longest.number}$`) }) }).click();
    await stall(visit).getByText(longest.causeText).waitFor();
    assert.equal(await visit.text("section.stall"), text);
  }));
