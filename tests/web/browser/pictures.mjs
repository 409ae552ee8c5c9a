// node pictures.mjs FOLDER: each view and sheet, light and dark, at 1280 and at 1920 pixels, to be looked at.
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Service } from "./service.mjs";
import { launch, Visit } from "./visit.mjs";

const folder = process.argv[2];
const SIZES = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
];

// Four threads that work on different things, by different libraries, and wait for each other.
const PROGRAM = `
import ast, ctypes, glob, hashlib, json, sqlite3, threading, time, zlib
texts = [open(path, encoding="utf-8", errors="replace").read() for path in sorted(glob.glob("/usr/lib/python3*/*.py"))]
name = lambda text: ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)
end = time.monotonic() + 6
def parse(text): ast.parse(text)
def compress(text): zlib.decompress(zlib.compress(text.encode(), 6))
def digest(text): hashlib.sha256(text.encode() * 40).hexdigest()
def query(text):
    base = sqlite3.connect(":memory:")
    base.execute("create table words (word text, length int)")
    base.executemany("insert into words values (?, ?)", [(word, len(word)) for word in text.split()])
    base.execute("select length, count(*), max(word) from words group by length order by 2 desc").fetchall()
def work(number, label, act):
    name(label)
    while time.monotonic() < end:
        for text in texts[number::4]:
            act(text)
            if time.monotonic() > end: break
        time.sleep(0.05)
for number, (label, act) in enumerate([("parser", parse), ("worker-1", compress), ("worker-2", digest), ("worker-3", query)]):
    threading.Thread(target=work, args=(number, label, act)).start()
`;

const VIEWS = ["Flame", "Chart", "Call tree", "Bottom-up", "Table", "Source", "Compare"];
const SHEETS = { filters: "t", save: "e", help: "?" };

async function picture(visit, name, suffix) {
  await visit.page.waitForTimeout(1000); // pictures for people: what is late is missing, nothing fails
  await visit.page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
}

async function pick(visit) {
  await visit.tab("Table").click();
  await visit.page.getByRole("grid").getByRole("row").nth(1).click();
}

mkdirSync(folder, { recursive: true });
const script = join(tmpdir(), `isoscope-pictures-${process.pid}.py`);
writeFileSync(script, PROGRAM);
const service = await Service.of(["/usr/bin/python3", script], "--mode", "wall");
const browser = await launch();
try {
  await service.programEnds();
  for (const colorScheme of ["light", "dark"])
    for (const viewport of SIZES) {
      const visit = await Visit.of(browser, service.uri, { viewport, colorScheme });
      await visit.moreThan(1000);
      await pick(visit);
      await visit.dragTime(0.1, 0.45);
      await visit.page.keyboard.press("c");
      await visit.dragTime(0.5, 0.9);
      const suffix = `${colorScheme}-${viewport.width}`;
      for (const name of VIEWS) {
        await visit.tab(name).click();
        await picture(visit, name.toLowerCase().replace(" ", "-"), suffix);
      }
      for (const [name, key] of Object.entries(SHEETS)) {
        await visit.page.keyboard.press(key);
        await picture(visit, name, suffix);
        await visit.page.keyboard.press("Escape");
      }
      await visit.page.context().close();
    }
} finally {
  await browser.close();
  await service.end();
}
