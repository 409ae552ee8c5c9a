// VS Code's workbench in a browser, as a user handles it. code-server serves it from this machine.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { chromium } = createRequire(join(root, "clients/web/package.json"))("playwright-core");
const LIST_MS = 3000;
const DEADLINE_MS = 60_000; // a machine that is busy

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export async function until(condition, what, deadline_ms = DEADLINE_MS) {
  const deadline = Date.now() + deadline_ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${deadline_ms / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function ended(child) {
  return new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve()));
}

function writeSettings(folder, settings) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings, null, 2));
}

/** program: code-server's entry. home: a folder for all that it writes. settings: the user's; machine: of where it runs. */
export async function startServer({ program, home, vsixes, settings, machine }) {
  const folders = ["--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];
  const options = { env: { ...process.env, HOME: home, EXTENSIONS_GALLERY: "{}" }, stdio: ["ignore", "pipe", "pipe"] };
  writeSettings(join(home, "data/User"), settings);
  writeSettings(join(home, "data/Machine"), machine);
  const extensions = vsixes.flatMap((vsix) => ["--install-extension", vsix]);
  const installs = spawn(process.execPath, [program, ...folders, ...extensions], options);
  let said = "";
  for (const stream of [installs.stdout, installs.stderr]) stream.on("data", (text) => (said += text));
  await ended(installs);
  if (installs.exitCode !== 0) throw new Error(`the extension was not installed: ${said}`);
  const port = await freePort();
  const words = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const server = spawn(process.execPath, [program, ...folders, ...words], options);
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (said += text));
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`code-server ended: ${said}`);
    return (await fetch(`${url}/healthz`).catch(() => null))?.ok;
  }, "code-server");
  const stop = async () => {
    server.kill("SIGTERM");
    await ended(server);
  };
  return { url, stop };
}

export async function openWorkbench(url, folder) {
  const browser = await chromium.launch({
    executablePath: process.env.ISOSCOPE_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
  const page = await context.newPage();
  const asked = new Set(); // hosts
  page.on("request", (request) => asked.add(new URL(request.url()).hostname));
  page.setDefaultTimeout(DEADLINE_MS);
  await page.goto(`${url}/?folder=${encodeURIComponent(folder)}`);
  await page.waitForSelector(".monaco-workbench .part.statusbar");
  return new Workbench(browser, page, asked);
}

class Workbench {
  constructor(browser, page, asked) {
    Object.assign(this, { browser, page, asked });
  }

  /** By the explorer, and to stay: to search for it takes a program that npm does not bring. */
  async open(file) {
    await this.view("Explorer");
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: new RegExp(`^${file.replaceAll(".", "\\.")}$`) }).dblclick();
    await this.page.locator(".tab.active", { hasText: file }).waitFor();
  }

  /** What an extension brings is not in a list that was opened before it was known: then it is opened again. */
  async command(title) {
    const { page } = this;
    const row = page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
    await until(async () => {
      await page.keyboard.press("Escape");
      await page.keyboard.press("F1");
      await page.waitForSelector(".quick-input-widget input");
      await page.keyboard.type(title);
      return row.click({ timeout: LIST_MS }).then(() => true, () => false);
    }, `the command ${title}`);
  }

  async choose(row, picture = "") {
    const found = this.page.locator(".quick-input-list .monaco-list-row", { hasText: row }).first();
    await found.waitFor();
    if (picture) await this.picture(picture);
    await found.click();
  }

  /** Into the box that asks; without a text, what stands there. */
  async answer(text) {
    const box = this.page.locator(".quick-input-widget:visible input[type=text]").first();
    await box.waitFor();
    if (text !== undefined) await box.fill(text);
    await box.press("Enter");
  }

  /** Into the box that asks for a file: it writes its folder there itself, once it has read that. */
  async answerFile(path) {
    await until(async () => (await this.value().catch(() => "")).startsWith("/"), "the box's folder");
    await until(async () => {
      await this.answer(path);
      return this.page.locator(".quick-input-widget:visible").waitFor({ state: "hidden", timeout: LIST_MS }).then(() => true, () => false);
    }, `${path} is taken`);
  }

  /** What the box has to say, and what stands in it. */
  question = () => this.page.locator(".quick-input-widget:visible").first().innerText();
  value = () => this.page.locator(".quick-input-widget:visible input[type=text]").first().inputValue();

  /** As the status bar has them; -1: it tells of none. */
  async samples() {
    const found = /([\d,]+) samples?/.exec(await this.statusBarText());
    return found ? Number(found[1].replaceAll(",", "")) : -1;
  }

  /** The first lens with a text, or a later one. */
  async clickLens(text, at = 0) {
    await this.page.locator(".codelens-decoration a", { hasText: text }).nth(at).click();
  }

  /** An entry in the menu of a row. */
  async menuOf(row, entry, picture) {
    const { page } = this;
    await page.locator(".monaco-list-row", { hasText: row }).first().click({ button: "right" });
    const item = page.locator(".monaco-menu .action-item", { hasText: entry }).first();
    await item.waitFor();
    await this.picture(picture);
    await item.click();
  }

  /** Titles of lenses that are in sight, from above. */
  async lenses() {
    return (await this.page.locator(".codelens-decoration a").allTextContents()).map((text) => text.replaceAll("\u00a0", " "));
  }

  async hints() {
    const texts = await this.page.locator(".view-line span[class*='dyn-rule']").allTextContents();
    return texts.map((text) => text.replaceAll("\u00a0", " ")).filter((text) => text.includes("%"));
  }

  /** Rows of a tree, by the title of its pane. */
  async rows(pane) {
    const rows = this.page.locator(".pane", { has: this.page.locator(`.pane-header[aria-label^="${pane}"]`) }).locator(".monaco-list-row");
    return (await rows.allTextContents()).map((text) => text.trim());
  }

  async clickRow(pane, row) {
    const { page } = this;
    await page.locator(".pane", { has: page.locator(`.pane-header[aria-label^="${pane}"]`) }).locator(".monaco-list-row", { hasText: row }).first().click();
  }

  /** A view's container, by its title in the bar at the side; it is opened where it is not. */
  async view(title) {
    const item = this.page.locator(`.activitybar .action-item:has([aria-label^="${title}"])`).first();
    if (!(await item.getAttribute("class")).includes("checked")) await item.click();
  }

  async statusBarText() {
    return (await this.page.locator(".statusbar-item").allTextContents()).map((text) => text.trim()).join(" | ");
  }

  /** Of the gutter: how many lines have a bar. */
  bars() {
    return this.page.locator(".glyph-margin-widgets .cgmr, .margin-view-overlays .cgmr").count();
  }

  /** The frame, in the innermost of a webview, in which a selector is. */
  frameWith(selector) {
    return until(async () => {
      for (const frame of this.page.frames()) if (await frame.locator(selector).count().catch(() => 0)) return frame;
      return null;
    }, `a webview with ${selector}`);
  }

  picture = (file) => this.page.screenshot({ path: file });

  close = () => this.browser.close();
}
