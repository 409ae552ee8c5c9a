// node events.mjs EVENTS: a timeline of so many in the live page's chart; the figures as JSON.
//
// load: from the page's start until all came; zoom: from an event of the wheel until the frame that shows what the
// worker has told for it; draw: until the first frame, which moves what was told before.
import { busy, Service } from "../../web/browser/service.mjs";
import { launch } from "../../web/browser/visit.mjs";
import { withEvents } from "./made_events.mjs";
import { memoryOf } from "./memory.mjs";

const total = Number(process.argv[2]);
const STEPS = 60; // turns of the wheel, to and fro
const DEADLINE_MS = 600_000;
// What a test puts in place of a file has no address of the machine's; its worker could ask for nothing.
const ANYWHERE = "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests";

/** Runs in the page, before its code: counts answers, and tells when a frame has been drawn. */
function watch() {
  window.answers = { chart: 0, events: 0 };
  const kinds = new Map();
  const own = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, transfer) {
    if (!kinds.size) this.addEventListener("message", ({ data }) => {
      if (data.say === "data") window.answers.events = data.data.events;
      if (data.say === "answer" && kinds.get(data.id) === "chart") window.answers.chart++;
    });
    kinds.set(message.id ?? "", message.kind);
    return own.call(this, message, transfer);
  };
  const { port1, port2 } = new MessageChannel();
  window.drawn = () =>
    new Promise((resolve) => {
      port1.onmessage = () => resolve(performance.now());
      requestAnimationFrame(() => port2.postMessage(null));
    });
}

/** Runs in the page. */
async function turn([x, deltaY]) {
  const canvas = document.querySelector(".boxes canvas");
  const before = window.answers.chart;
  const start = performance.now();
  canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: x, clientY: canvas.getBoundingClientRect().y + 50, bubbles: true, cancelable: true }));
  const draw = (await window.drawn()) - start;
  while (window.answers.chart === before) await new Promise((resolve) => setTimeout(resolve, 1));
  return { draw, zoom: (await window.drawn()) - start };
}

const sorted = (values) => values.sort((a, b) => a - b);
const told = (values) => ({ median: sorted(values)[values.length >> 1], worst: values.at(-1) });

const browser = await launch("--js-flags=--expose-gc", ANYWHERE, "--disable-web-security");
const service = await Service.of(busy(1000));
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await withEvents(context, total, Math.floor(Number(process.hrtime.bigint()) / 1000));
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  await page.addInitScript(watch);
  const start = performance.now();
  await page.goto(`${service.uri}#view=chart`);
  await page.waitForFunction((total) => window.answers.events >= total, total);
  const load = performance.now() - start;
  await page.keyboard.press(" "); // else new samples come in between
  await page.locator(".boxes canvas").waitFor();
  const memory = await memoryOf(browser, page);
  const turns = [];
  for (let i = 0; i < STEPS; i++) turns.push(await page.evaluate(turn, [200 + 20 * (i % 10), i % 20 < 14 ? -400 : 600]));
  const figures = {
    ...{ events: total, load: load / 1000, memory: memory / 1e6 },
    ...{ draw: told(turns.map(({ draw }) => draw)), zoom: told(turns.map(({ zoom }) => zoom)) },
  };
  console.log(JSON.stringify(figures));
} finally {
  await service.end();
  await browser.close();
}
