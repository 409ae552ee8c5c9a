// A page in headless Chromium, and what is read from it. Whatever it asks of another machine, any error in
// its console and any script that a name became fail the test.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ROOT, until } from "./service.mjs";

const { chromium } = createRequire(join(ROOT, "clients/web/package.json"))("playwright-core");
const CHROMIUM = process.env.ISOSCOPE_CHROMIUM ?? "/usr/bin/chromium";
const PICTURES = process.env.ISOSCOPE_PICTURES;

/** What any part of the browser, workers too, wanted of another machine: it all goes to this proxy. */
export const left = [];

// The browser's own: updates, accounts, autofill. The proxy lets none of it out.
const BROWSERS = /^(https?:\/\/)?[\w.-]+\.(google|googleapis|gvt1|gstatic)\.com[:/]/;

/** Without what the browser wanted for itself. */
export const wantedElsewhere = () => left.filter((url) => !BROWSERS.test(url));

/** options: further ones of Chromium. */
export async function launch(...options) {
  const proxy = createServer((request, response) => {
    left.push(request.url);
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    left.push(request.url);
    socket.destroy();
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  proxy.unref();
  const sandbox = process.getuid() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...sandbox, ...options],
    proxy: { server: `http://127.0.0.1:${proxy.address().port}`, bypass: "127.0.0.1" },
  });
}

/** own: a page from file:// may ask for itself. */
const isLocal = (url, own) =>
  /^(data|blob|about):/.test(url) ||
  (own.startsWith("file:") ? url.replace(/#.*/, "") === own : new URL(url).hostname === "127.0.0.1");

/** Runs in the page. -1: it tells none. */
function addReader() {
  window.shownSamples = () => {
    for (const { textContent } of document.querySelectorAll(".told span"))
      if (/^[\d,]+ samples$/.test(textContent)) return Number(textContent.replace(/\D/g, ""));
    return -1;
  };
}

/**
 * Runs in the page. window.isSettled(): the worker has answered all that it was asked, and what follows from that
 * asks nothing more. Parts of the page are drawn each by its own answer: one may be there long before another.
 */
function addSettling() {
  const asked = new Set();
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(...words) {
      super(...words);
      this.addEventListener("message", ({ data: { say, id } }) => {
        if (say === "answer" || say === "failed") asked.delete(id);
      });
    }
    postMessage(message, ...more) {
      if (message.say === "ask") asked.add(message.id);
      super.postMessage(message, ...more);
    }
  };
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  window.isSettled = async () => {
    for (let turn = 0; turn < 3 && !asked.size; turn++) await drawn();
    return !asked.size;
  };
}

export class Visit {
  outside = []; // requests to other machines
  errors = [];

  constructor(page) {
    this.page = page;
  }

  static async of(browser, uri, options = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    const visit = new Visit(page);
    const seen = (url) => {
      if (!isLocal(url, uri)) visit.outside.push(url);
    };
    context.on("request", (request) => seen(request.url()));
    page.on("websocket", (socket) => seen(socket.url()));
    page.on("pageerror", (error) => visit.errors.push(String(error)));
    page.on("console", (message) => {
      // What the browser itself says of a service that is gone is no fault of the page.
      if (message.type() === "error" && !/ERR_CONNECTION|WebSocket connection/.test(message.text()))
        visit.errors.push(message.text());
    });
    await page.addInitScript(addReader);
    await page.addInitScript(addSettling);
    await page.goto(uri);
    return visit;
  }

  async close() {
    const hacked = await this.page.evaluate("window.hacked");
    await this.page.context().close();
    assert.deepEqual(
      [...this.outside, ...wantedElsewhere()],
      [],
      "requests that leave the machine",
    );
    assert.deepEqual(this.errors, [], "errors in the page");
    assert.equal(hacked, undefined, "a name was run");
  }

  /** When it has settled. */
  async text(selector) {
    await this.settled();
    return this.page.locator(selector).innerText();
  }

  /** Samples of the selection, as the overview tells them. */
  async samples() {
    await this.settled();
    return this.page.evaluate(() => window.shownSamples());
  }

  /** Until that is so in the page. (Playwright's own waiting would need eval there, which the page forbids.) */
  async when(condition, argument) {
    await until(() => this.page.evaluate(condition, argument), String(condition));
  }

  /** Until all parts of the page show what it knows by now. */
  async settled() {
    await this.when(() => window.isSettled());
  }

  /** Until samples of the kind are shown that the switch has by this name: until they have come, those before are. */
  async showsKind(name) {
    await this.when((wanted) => {
      const [pressed] = document.querySelectorAll(".kind[aria-busy=false] [aria-pressed=true]");
      return pressed?.textContent === wanted;
    }, name);
    await this.settled();
  }

  /** Until the selection has more than so many samples. */
  async moreThan(count) {
    await this.when((least) => window.shownSamples() > least, count);
    return this.samples();
  }

  /** Until it has so many, and the other parts of the page have them too. */
  async exactly(count) {
    await this.when((wanted) => window.shownSamples() === wanted, count);
    await this.settled();
  }

  /** What the flame graph says of itself. */
  async flame() {
    await this.settled();
    return this.page.locator(".boxes canvas").getAttribute("aria-label");
  }

  tab(name) {
    return this.page.getByRole("tab", { name, exact: true });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Where it stands when nothing moves it any more: to be pressed, or measured. */
  async place(locator) {
    await locator.waitFor();
    await this.settled();
    return locator.boundingBox();
  }

  /** Until the tab of that name is the one that is shown. */
  shows(name) {
    return this.page.getByRole("tab", { name, exact: true, selected: true }).waitFor();
  }

  /** A second page at this address, which has word in it, must give what read gives here. */
  async sameElsewhere(word, read) {
    await this.when((wanted) => decodeURIComponent(location.hash).includes(wanted), word);
    let opened = this.page.url();
    const other = await Visit.of(this.page.context().browser(), opened);
    await other.exactly(await this.samples());
    // Of both anew each time: this page too may have rows to bring into sight yet.
    const both = () => Promise.all([other, this].map(({ page }) => page.evaluate(read)));
    // What read looks for need not be there yet, and the address may still be on its way.
    const isSame = async () => {
      const address = this.page.url();
      if (address !== opened) {
        opened = address;
        await other.page.goto(address);
        await other.page.reload(); // goto alone changes the hash of a page that is there
      }
      return both().then((seen) => isDeepStrictEqual(...seen), () => false);
    };
    await until(isSame, word).catch(() => {}); // what differs is told below
    assert.deepEqual(...(await both()));
    await other.close();
  }

  /** Selects a part of the time that the overview shows, 0 to 1. */
  async dragTime(from, to) {
    const box = await this.place(this.page.locator(".overview canvas").first());
    const left = 122; // where labels end
    const x = (part) => box.x + left + part * (box.width - left - 2);
    await this.page.mouse.move(x(from), box.y + 30);
    await this.page.mouse.down();
    await this.page.mouse.move(x((from + to) / 2), box.y + 30, { steps: 4 });
    await this.page.mouse.move(x(to), box.y + 30, { steps: 4 });
    await this.page.mouse.up();
  }

  /** The bytes of the file that is saved by a click on it. */
  async saved(name) {
    await this.when(() => !document.querySelector("dialog[open]")); // of a save before: it takes keys
    const sheet = this.page.locator("dialog[open]");
    await until(async () => {
      await this.page.keyboard.press("e"); // lost while the page is busy with the save before
      return sheet.waitFor({ timeout: 1000 }).then(() => true, () => false);
    }, "the sheet");
    const [download] = await Promise.all([
      this.page.waitForEvent("download"),
      sheet.getByRole("button", { name, exact: true }).click({ noWaitAfter: true }),
    ]);
    return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
  }

  /** As a user drops it, on the half that shows it or on the one that compares. */
  async drop({ name, content }, use) {
    const transfer = await this.page.evaluateHandle(
      ([name, base64]) => {
        const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], name));
        return transfer;
      },
      [name, Buffer.from(content).toString("base64")],
    );
    await this.page.dispatchEvent("main", "dragenter", { dataTransfer: transfer });
    const half = this.page.locator(`.drop [data-use=${use}]`);
    await half.waitFor();
    await half.dispatchEvent("drop", { dataTransfer: transfer });
  }

  /** A picture for people, where one is wanted. */
  async picture(name) {
    if (!PICTURES) return;
    if (!existsSync(PICTURES)) mkdirSync(PICTURES, { recursive: true });
    await this.settled();
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
}

export function numberIn(text) {
  return Number(/[\d,]+/.exec(text)[0].replaceAll(",", ""));
}
