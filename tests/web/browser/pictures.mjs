// Pictures of the page, to be looked at: light and dark, at 400, 1280 and 1920 pixels, of each of pictured.mjs.
//
//   ISOSCOPE_BUILD=BUILD node pictures.mjs FOLDER [NAME...]     NAME: python, cpp, threads, empty, killed
//
// With ISOSCOPE_SPEEDSCOPE=PACKAGE, the folder of its npm package, speedscope's picture of the same samples is
// beside them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "./pictured.mjs";
import { serve } from "./serve.mjs";
import { Service } from "./service.mjs";
import { launch, Visit } from "./visit.mjs";

const SIZES = [
  { width: 400, height: 800 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
];
const SCHEMES = ["light", "dark"];
const SHEETS = { filters: "t", save: "e", help: "?" };
const SPEEDSCOPE = process.env.ISOSCOPE_SPEEDSCOPE;

const [folder, ...wanted] = process.argv.slice(2);
if (!folder) throw new Error("pictures.mjs FOLDER [NAME...]");

async function picture(page, ...names) {
  await page.waitForTimeout(1000); // pictures for people: what is late is missing, nothing fails
  await page.screenshot({ path: join(folder, `${names.join("-")}.png`) });
}

/** A function is picked, and two windows are to be compared. */
async function select(visit) {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").nth(1).click();
  await visit.dragTime(0.1, 0.45);
  await visit.page.keyboard.press("c");
  await visit.dragTime(0.5, 0.9);
}

async function everything(visit, ...names) {
  for (const tab of await visit.page.getByRole("tab").all()) {
    await tab.click();
    await picture(visit.page, ...names, (await tab.innerText()).toLowerCase().replaceAll(" ", "-"));
  }
  for (const [name, key] of Object.entries(SHEETS)) {
    await visit.page.keyboard.press(key);
    await picture(visit.page, ...names, name);
    await visit.page.keyboard.press("Escape");
  }
}

async function ofPage(browser, service, name, { all, how }) {
  for (const colorScheme of SCHEMES)
    for (const viewport of SIZES) {
      const visit = await Visit.of(browser, service.uri, { viewport, colorScheme });
      const names = [name, colorScheme, viewport.width];
      if (how === "runs") await visit.page.locator(".empty").waitFor();
      else await visit.moreThan(100);
      await picture(visit.page, ...names, "first");
      if (all) {
        await select(visit);
        await everything(visit, ...names);
      }
      await visit.page.context().close();
    }
}

/** What the page saves, in speedscope. */
async function ofSpeedscope(browser, service, name, at) {
  const visit = await Visit.of(browser, service.uri);
  await visit.moreThan(100);
  const { content } = await visit.saved("speedscope");
  await visit.page.context().close();
  const file = { name: `${name}.json`, mimeType: "application/json", buffer: content };
  for (const colorScheme of SCHEMES)
    for (const viewport of SIZES) {
      const page = await browser.newPage({ viewport, colorScheme });
      await page.goto(at.uri);
      await page.locator("input[type=file]").setInputFiles(file);
      await page.getByText("Sandwich").waitFor();
      await picture(page, name, colorScheme, viewport.width, "speedscope");
      await page.close();
    }
}

async function pictures(browser, name, subject, speedscope) {
  const service = await Service.of(subject.command, "--mode", subject.mode);
  try {
    if (subject.how === "ended") await service.programEnds();
    if (subject.how === "killed") {
      const visit = await Visit.of(browser, service.uri);
      await visit.moreThan(1000);
      await visit.page.context().close();
      service.killProgram();
      await service.programEnds();
    }
    await ofPage(browser, service, name, subject);
    if (speedscope && subject.how === "ended") await ofSpeedscope(browser, service, name, speedscope);
  } finally {
    await service.end();
  }
}

mkdirSync(folder, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "isoscope-pictures-"));
const browser = await launch();
const speedscope = SPEEDSCOPE && (await serve(join(SPEEDSCOPE, "dist/release")));
try {
  for (const [name, subject] of Object.entries(programs(scratch)))
    if (!wanted.length || wanted.includes(name)) await pictures(browser, name, subject, speedscope);
} finally {
  if (speedscope) await speedscope.end();
  await browser.close();
  rmSync(scratch, { recursive: true });
}
