// node measure.mjs SUBJECT FOLDER: one round in a browser of its own; the figures as JSON.
//
// SUBJECT is isoscope, speedscope, d3-flame-graph, or live: only the first paint of the page.
import { busy, Service, until } from "../../web/browser/service.mjs";
import { launch } from "../../web/browser/visit.mjs";
import { memoryOf } from "./memory.mjs";
import { SUBJECTS } from "./subjects.mjs";

const [subject, folder] = process.argv.slice(2);
const EVENTS = 11; // of which the middle one counts

const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** Runs in the page: drawn() tells when the first frame in which it is so has been drawn: a message follows it. */
function addClock() {
  const { port1, port2 } = new MessageChannel();
  window.drawn = (isSo = () => true) =>
    new Promise((resolve) => {
      port1.onmessage = () => resolve(performance.now());
      const look = () => (isSo() ? port2.postMessage(null) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    });
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask" });
}

async function firstPaint(browser) {
  const service = await Service.of(busy(1000));
  try {
    const page = await (
      await browser.newContext({ viewport: { width: 1280, height: 800 } })
    ).newPage();
    await page.goto(service.uri);
    const paints = () => performance.getEntriesByName("first-contentful-paint").length;
    await until(() => page.evaluate(paints), "the first paint");
    return await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType("navigation");
      return (
        performance.getEntriesByName("first-contentful-paint")[0].startTime - navigation.responseEnd
      );
    });
  } finally {
    await service.end();
  }
}

async function measure(browser, one) {
  const opened = await one.open(folder);
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(300_000);
    await page.addInitScript(addClock);
    await page.addInitScript(`window.isLoaded = ${one.isLoaded}`);
    await page.goto(opened.uri);
    await one.ready?.(page);
    await page.evaluate(() => (window.longest = 0));
    const load = await one.load(page, folder);
    await page.evaluate(() => window.drawn());
    const blocked = await page.evaluate(() => window.longest);
    const memory = await memoryOf(browser, page);
    const zoom = [];
    const search = [];
    for (let i = 0; i < EVENTS; i++) zoom.push(await one.zoom(page, i));
    for (let i = 0; i < EVENTS; i++) search.push(await one.search(page, `function_${10 + i}`));
    return {
      load: load / 1000,
      blocked,
      memory: memory / 1e6,
      zoom: middle(zoom),
      search: middle(search),
    };
  } finally {
    await opened.end();
  }
}

/** A page that does not live through it is a finding, too. */
function tried() {
  return measure(browser, SUBJECTS[subject]).catch((error) => ({
    failed: error.message.split("\n")[0],
  }));
}

const browser = await launch("--js-flags=--expose-gc");
try {
  const found = subject === "live" ? { paint: await firstPaint(browser) } : await tried();
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
