// The page beside a program that runs: recording, holding, the program's end, the service's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { busy, freePort, Service, until, workload } from "./service.mjs";
import { launch, Visit } from "./visit.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A page at a service of its own; both are ended, whatever came. */
function visiting(name, act, ...options) {
  test(name, async () => {
    const service = await Service.of(busy(1000), ...options);
    try {
      const visit = await Visit.of(browser, service.uri);
      await act(visit, service);
      await visit.close();
    } finally {
      await service.end();
    }
  });
}

visiting(
  "samples come by themselves; stop and record switch the profiler",
  async (visit, service) => {
    const first = await visit.moreThan(0);
    await visit.moreThan(first);
    await visit.button("Stop").click();
    await until(async () => (await service.flag("profiler")) === "false", "the profiler's stop");
    await visit.button("Record").click();
    await until(async () => (await service.flag("profiler")) === "true", "the profiler's start");
    await visit.moreThan(await visit.samples());
  },
);

visiting("clear forgets, and what comes then is shown", async (visit) => {
  const many = await visit.moreThan(1500);
  await visit.button("Clear").click();
  await visit.when((before) => window.shownSamples() < before, many);
  await visit.moreThan(0);
});

visiting(
  "a view that is held stays while samples come, and then has them all",
  async (visit, service) => {
    await visit.moreThan(500);
    await visit.page.keyboard.press(" ");
    await visit.page.getByRole("button", { name: "held" }).waitFor();
    const held = await visit.flame();
    const count = async () => (await service.ask("_getCpuSamples", { form: "table" })).sampleCount;
    const before = await count();
    // More than one of the page's seconds.
    await until(async () => (await count()) > before + 2500, "samples", 250);
    assert.equal(await visit.flame(), held);
    await visit.page.keyboard.press(" ");
    await visit.moreThan(before);
  },
);

visiting("the period and the mode are the service's", async (visit, service) => {
  await visit.moreThan(0);
  const [period, mode] = await visit.page.locator("header select").all();
  await period.selectOption("500");
  await until(async () => (await service.flag("profile_period")) === "500", "the period");
  await mode.selectOption("wall");
  await until(async () => (await service.flag("profile_mode")) === "wall", "the mode");
});

visiting(
  "the program is killed: the page says so, and goes on with what was recorded",
  async (visit, service) => {
    await visit.moreThan(500);
    service.killProgram();
    await visit.page.getByText(/program was ended by SIGKILL at .*; this is what was/).waitFor();
    const count = await visit.samples();
    await visit.tab("Bottom-up").click();
    const first = visit.page.getByRole("treegrid").getByRole("row").nth(1);
    await first.waitFor();
    await first.click();
    await visit.page.locator("aside h2").waitFor();
    assert.equal(await visit.samples(), count);
    await visit.picture("ended");
  },
);

test("a page that comes after the program's end says with which status it ended", async () => {
  const work = workload("spin_two_to_one", "0.3").join(" ");
  const service = await Service.of(["/bin/sh", "-c", `${work}; exit 3`]);
  try {
    const ended = async () => (await service.ask("getVM"))._exit;
    assert.deepEqual(await until(ended, "the program's end"), { status: 3 });
    const visit = await Visit.of(browser, service.uri);
    await visit.page.getByText(/program ended with status 3 at \S*\d:\d\d/).waitFor();
    await visit.close();
  } finally {
    await service.end();
  }
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

test("a program that uses no CPU: the page says why nothing is seen, and what to do", async () => {
  const service = await Service.of(["/bin/sleep", "1000"]);
  try {
    const visit = await Visit.of(browser, service.uri);
    await visit.page.locator(".empty").getByRole("button", { name: /wall/i }).click();
    await until(async () => (await service.flag("profile_mode")) === "wall", "the mode");
    await visit.moreThan(0);
    await visit.close();
  } finally {
    await service.end();
  }
});
