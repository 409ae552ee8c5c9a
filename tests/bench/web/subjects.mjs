// Who is measured: how each is opened, given the profile, zoomed and searched. Times are milliseconds in the
// page's own clock, from the event to the frame that shows what it did.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { serve } from "../../web/browser/serve.mjs";
import { ROOT, Service } from "../../web/browser/service.mjs";

const PROFILE = "profile.speedscope.json";
/** From the file's arrival in the page's input until isLoaded, asked with each frame, and drawn. */
async function loadBy(page, input, file) {
  await page.evaluate((input) => {
    window.loaded = new Promise((resolve) => {
      const begin = () => {
        const start = performance.now();
        window.drawn(window.isLoaded).then((shown) => resolve(shown - start));
      };
      document.querySelector(input).addEventListener("change", begin, true);
    });
  }, input);
  await page.setInputFiles(input, file);
  return page.evaluate(() => window.loaded);
}

/** From the event's arrival in the page until it is drawn. */
async function drawnAfter(page, event, act) {
  await page.evaluate((event) => {
    window.answered = new Promise((resolve) =>
      addEventListener(
        event,
        async () => {
          const start = performance.now();
          resolve((await window.drawn()) - start);
        },
        { once: true, capture: true },
      ),
    );
  }, event);
  await act();
  return page.evaluate(() => window.answered);
}

async function wheel(page, i, modifier) {
  await page.mouse.move(500 + 3 * i, 300);
  if (modifier) await page.keyboard.down(modifier);
  const time = await drawnAfter(page, "wheel", () => page.mouse.wheel(0, i % 2 ? 40 : -60));
  if (modifier) await page.keyboard.up(modifier);
  return time;
}

const isoscope = {
  async open() {
    const service = await Service.of(["/bin/sleep", "1000"]);
    return { uri: service.uri, end: () => service.end() };
  },
  async ready(page) {
    // The input that the page makes for a click stays for ours.
    await page.evaluate(() => {
      const input = document.createElement("input");
      input.type = "file";
      input.id = "given";
      document.body.append(input);
      input.addEventListener("change", () => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(input.files[0]);
        document
          .querySelector("main")
          .dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
      });
    });
  },
  isLoaded: () =>
    document.querySelector(".banner b") !== null &&
    / [1-9]/.test(document.querySelector(".boxes canvas")?.getAttribute("aria-label") ?? ""),
  load: (page, folder) => loadBy(page, "#given", join(folder, PROFILE)),
  zoom: (page, i) => wheel(page, i),
  /** The answer is the worker's: until it is told. */
  search: (page, text) =>
    page.evaluate(async (text) => {
      const input = document.querySelector("#search");
      const output = document.querySelector(".search output");
      const type = (text, isThere) => {
        input.value = text;
        input.dispatchEvent(new InputEvent("input", { bubbles: true }));
        return window.drawn(() => isThere(output.textContent));
      };
      await type("", (told) => told === "");
      const start = performance.now();
      const shown = await type(text, (told) => told.endsWith("%"));
      return shown - start;
    }, text),
};

const speedscope = {
  open: (folder) => serve(join(folder, "node_modules/speedscope/dist/release")),
  isLoaded: () => /^made/.test(document.title),
  load: (page, folder) => loadBy(page, "input[type=file]", join(folder, PROFILE)),
  zoom: (page, i) => wheel(page, i, "Control"),
  async search(page, text) {
    if (!(await page.locator("input:not([type=file])").count())) {
      await page.keyboard.press("Control+f");
      await page.locator("input:not([type=file])").waitFor();
    }
    const input = page.locator("input:not([type=file])");
    return drawnAfter(page, "input", () => input.fill(text));
  },
};

/** Its own files in one, beside the tree. */
async function bundle(folder) {
  const { build } = createRequire(join(ROOT, "clients/web/package.json"))("esbuild");
  await build({
    stdin: {
      contents: `export { default as flamegraph } from "d3-flame-graph"; export { select } from "d3-selection";`,
      resolveDir: folder,
    },
    outfile: join(folder, "d3.js"),
    bundle: true,
    minify: true,
    format: "iife",
    globalName: "d3",
    logLevel: "warning",
  });
}

const d3 = {
  async open(folder) {
    await bundle(folder);
    writeFileSync(join(folder, "d3.html"), "<!doctype html>");
    const server = await serve(folder);
    return { ...server, uri: `${server.uri}d3.html` };
  },
  load: async (page) => {
    await page.addScriptTag({ url: "/d3.js" });
    return page.evaluate(async () => {
      document.body.innerHTML = '<div id="chart"></div><p id="details"></p>';
      const start = performance.now();
      const tree = await (await fetch("/profile.d3.json")).json();
      window.chart = d3.flamegraph().width(1280).transitionDuration(0);
      d3.select("#chart").datum(tree).call(window.chart);
      return (await window.drawn()) - start;
    });
  },
  /** One of the widest, and back to all of it. */
  zoom: (page, i) =>
    page.evaluate(async (i) => {
      const start = performance.now();
      if (i % 2) window.chart.resetZoom();
      else
        document
          .querySelectorAll("#chart g.frame")
          [1 + (i >> 1)].dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return (await window.drawn()) - start;
    }, i),
  search: (page, text) =>
    page.evaluate(async (text) => {
      const start = performance.now();
      window.chart.search(text);
      return (await window.drawn()) - start;
    }, text),
};

export const SUBJECTS = { isoscope, speedscope, "d3-flame-graph": d3 };
