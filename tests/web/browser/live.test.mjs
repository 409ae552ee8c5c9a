// The page beside a program that runs: recording, holding, the program's end, the service's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "./recording.mjs";
import { busy, freePort, Service, until, workload } from "./service.mjs";
import { Visit } from "./visit.mjs";

const { browser, visited } = await openBrowser();

/** How many samples the service has. */
async function recorded(service) {
  return (await service.ask("_getCpuSamples", { form: "table" })).sampleCount;
}

function beside(name, act, ...options) {
  test(name, () => visited(Service.of(busy(1000), ...options), act));
}

beside(
  "samples come by themselves; pause and record switch the profiler, and the header says so",
  async (visit, service) => {
    const first = await visit.moreThan(0);
    await visit.moreThan(first);
    const standing = (word) => visit.page.locator(".standing", { hasText: word }).waitFor();
    await standing("Recording");
    await visit.page.locator(".standing .dot").waitFor();
    await visit.button("Pause").click();
    await until(async () => (await service.flag("profiler")) === "false", "the profiler's stop");
    await standing("Paused");
    await visit.page.locator(".standing .dot").waitFor({ state: "detached" });
    await visit.button("Record").click();
    await until(async () => (await service.flag("profiler")) === "true", "the profiler's start");
    await standing("Recording");
    await visit.moreThan(await visit.samples());
  },
);

beside("clear forgets, and what comes then is shown", async (visit) => {
  const many = await visit.moreThan(1500);
  await visit.button("Clear").click();
  await visit.when((before) => window.shownSamples() < before, many);
  await visit.moreThan(0);
});

beside(
  "a view that is frozen stays while samples come, and then has them all",
  async (visit, service) => {
    await visit.moreThan(500);
    await visit.page.keyboard.press(" ");
    await visit.button("Go live").waitFor();
    await visit.page.locator(".standing", { hasText: "Recording, view frozen" }).waitFor();
    const held = await visit.flame();
    const before = await recorded(service);
    // More than one of the page's seconds.
    await until(async () => (await recorded(service)) > before + 2500, "samples", 250);
    assert.equal(await visit.flame(), held);
    await visit.page.keyboard.press(" ");
    await visit.moreThan(before);
  },
);

beside("the period and the mode are the service's", async (visit, service) => {
  await visit.moreThan(0);
  const [period, mode] = await visit.page.locator("header select").all();
  await period.selectOption("500");
  await until(async () => (await service.flag("profile_period")) === "500", "the period");
  await mode.selectOption("wall");
  await until(async () => (await service.flag("profile_mode")) === "wall", "the mode");
});

beside(
  "the program is killed: the page says so, and goes on with what was recorded",
  async (visit, service) => {
    await visit.moreThan(500);
    service.killProgram();
    await visit.page.getByText(/program was ended by SIGKILL at .*; this is what was/).waitFor();
    assert.equal(await visit.text(".standing"), "Ended by SIGKILL");
    for (const name of ["Freeze", "Pause", "Clear"])
      assert.ok(await visit.button(name).isDisabled(), name);
    for (const one of await visit.page.locator("header select").all())
      assert.ok(await one.isDisabled());
    const count = await recorded(service);
    await visit.exactly(count);
    await visit.tab("Bottom-up").click();
    const first = visit.page.getByRole("treegrid").getByRole("row").nth(1);
    await first.waitFor();
    await first.click();
    await visit.page.locator("aside h2").waitFor();
    assert.equal(await visit.samples(), count);
    await visit.picture("ended");
  },
);

test("a page that comes after the program's end says with which status it ended", () => {
  const work = workload("spin_two_to_one", "0.3").join(" ");
  return visited(Service.ended(["/bin/sh", "-c", `${work}; exit 3`]), async (visit, service) => {
    const ended = async () => (await service.ask("getVM"))._exit;
    assert.deepEqual(await until(ended, "the program's end"), { status: 3 });
    await visit.page.getByText(/program ended with status 3 at \S*\d:\d\d/).waitFor();
    assert.equal(await visit.text(".standing"), "Ended with status 3");
    await visit.button("Close this line").click();
    await visit.page.locator(".banner").waitFor({ state: "detached" });
  });
});

test("the service is gone: the page keeps what it has, and goes on with the next one", async () => {
  const port = String(await freePort());
  const options = ["--port", port, "--disable-service-auth-codes"];
  const first = await Service.of(busy(1000), ...options);
  let second;
  try {
    const visit = await Visit.of(browser, first.uri);
    await visit.moreThan(500);
    await first.end();
    await visit.page.getByText("not connected").waitFor();
    assert.equal(await visit.text(".standing"), "Disconnected");
    assert.equal(await visit.page.locator(".standing .dot").count(), 0);
    assert.ok(await visit.button("Pause").isDisabled());
    assert.ok((await visit.samples()) > 0);
    await visit.picture("gone");
    second = await Service.of(busy(1000), ...options);
    await visit.page.getByText(/· connected/).waitFor();
    await visit.page.getByText(`pid ${second.program()}`).waitFor();
    await visit.moreThan(0);
    await visit.close();
  } finally {
    await first.end();
    await second?.end();
  }
});

test("the service came back with another token: the page says that it is refused", async () => {
  const port = String(await freePort());
  const first = await Service.of(busy(1000), "--port", port);
  let second;
  try {
    const visit = await Visit.of(browser, first.uri);
    await visit.moreThan(0);
    await first.end();
    second = await Service.of(["/bin/sleep", "1000"], "--port", port);
    await visit.page.locator("footer", { hasText: /refused: .*authentication code/ }).waitFor();
    assert.ok((await visit.samples()) > 0, "what had come is still there");
    await visit.close();
  } finally {
    await first.end();
    await second?.end();
  }
});

async function wallModeHelps(visit, service, words) {
  const hint = visit.page.locator(".empty, .banner", { hasText: words });
  const seen = () => visit.page.evaluate(() => document.body.innerText);
  await hint.waitFor().catch(async (error) => {
    throw new Error(`no "${words}"; the page: ${await seen()}`, { cause: error });
  });
  const before = await visit.samples();
  await hint.getByRole("button", { name: "Try wall mode" }).click();
  await until(async () => (await service.flag("profile_mode")) === "wall", "the mode");
  await visit.moreThan(Math.max(before, 0) + 100);
  await hint.waitFor({ state: "detached" });
}

test("a program that uses no CPU: the page says why nothing is seen, and what to do", () =>
  visited(Service.asleep(), (visit, service) =>
    wallModeHelps(visit, service, "the program has used no CPU"),
  ));

async function startSeen() {
  const work = workload("spin_two_to_one", "0.01").join(" ");
  const service = await Service.of(["/bin/sh", "-c", `${work}; exec /bin/sleep 1000`]);
  await until(async () => (await recorded(service)) > 0, "a sample");
  return service;
}

test("a program of which only the start was seen: the page says what to do", () =>
  visited(startSeen(), (visit, service) => wallModeHelps(visit, service, "Hardly any samples")));

beside("the status line tells how much of all CPU time is in samples", async (visit) => {
  await visit.moreThan(500);
  await visit.page.locator("footer summary", { hasText: "CPU time" }).click();
  const shown = visit.page.locator("footer dl");
  const seconds = async () => {
    const told = /In samples\s+([\d.]+) (s|ms), [\d.]+ %/;
    await visit.when((words) => new RegExp(words).test(document.querySelector("footer dl")?.innerText), told.source);
    const [, number, unit] = told.exec(await shown.innerText());
    return unit === "s" ? Number(number) : number / 1000;
  };
  const first = await seconds();
  await until(async () => (await seconds()) > first + 0.5, "newer figures");
  assert.match(await shown.innerText(), /known when the program has ended/);
});

test("a program that is not sampled is told of in the status line, with the reason", () =>
  visited(Service.of(["/bin/sh", "-c", "env -i /bin/sleep 1000; true"]), async (visit) => {
    const told = visit.page.locator("footer .warn", { hasText: "1 process not sampled" });
    await told.getByText("why?").click();
    const reason = /sleep \(\d+\)\s+LD_PRELOAD was removed from its environment/;
    await told.locator("dl", { hasText: /LD_PRELOAD was removed/ }).waitFor();
    assert.match(await told.locator("dl").innerText(), reason);
    await visit.picture("unsampled");
  }));
