// A session file with samples of all kinds: the page that has it inside, and the file dropped on a page, show what
// the page of the service that serves the file shows.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./recording.mjs";
import { ROOT, Service } from "./service.mjs";
import { Visit } from "./visit.mjs";

const ISOSCOPE = join(resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build")), "bin/isoscope");
const SMALL = join(ROOT, "tests/sessions/small.isoscope");
// It allocates and keeps some, touches new memory, and its threads wait for a lock and for each other.
const PROGRAM = `
import threading, time
kept, lock = [], threading.Lock()
def work():
    for turn in range(40):
        with lock:
            kept.append(bytearray(1 << 18))
            bytearray(1 << 19)
            time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(3)]
[one.start() for one in threads]
[one.join() for one in threads]
sum(range(3_000_000))
`;

const { browser } = await openBrowser();
const locks = join(resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build")), "tests/workloads/waits_for_locks");
const command = ["/bin/sh", "-c", '/usr/bin/python3 -c "$0"; exec "$1" turns', PROGRAM, locks];
const service = await Service.served(command, "--alloc=16384", "--lock=10", "--faults=1");
after(() => service.end());
const KINDS = ["Time", "Allocated", "Live", "Locks", "Waits"];
if ((await service.ask("getVM"))._profilerTimer === "sigtrap") KINDS.push("Faults");
else console.log("SKIPPED page faults of a session file: the kernel refuses perf events here");
const file = join(service.folder, "cpu.isoscope");
const exported = join(service.folder, "profile.html");
assert.equal(spawnSync(ISOSCOPE, ["export", "-o", exported, file]).status, 0);

const kind = (visit, name) => visit.page.locator(".kind").getByRole("button", { name, exact: true });

async function shown(visit, name) {
  await kind(visit, name).click();
  await visit.showsKind(name);
  await visit.page.getByRole("grid").getByRole("row").nth(1).waitFor();
}

/** In the page: what is said above the views, and the table of functions. */
const seen = () => [
  document.querySelector(".told, .moment").innerText,
  ...Array.from(document.querySelectorAll('[role="grid"] [role="row"]'), (row) => row.innerText).slice(0, 15),
];

/** In the page, from now on: was it ever of time? A moment has no overview. */
function watchForTime() {
  window.wasOfTime = false;
  const look = () => void (window.wasOfTime ||= document.getElementById("overview") !== null);
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}

/** Of every kind, as that page shows it. */
async function allOf(visit) {
  const all = {};
  await visit.tab("Table").click();
  await visit.page.locator(".kind").waitFor();
  for (const name of KINDS) {
    await shown(visit, name);
    all[name] = await visit.page.evaluate(seen);
    await visit.picture(`kinds-${name}-${visit.page.url().slice(0, 4)}`);
  }
  return all;
}

async function visited(address, act) {
  const visit = await Visit.of(browser, address, { offline: address.startsWith("file:") });
  await act(visit);
  await visit.close();
}

let served;
await visited(service.uri, async (visit) => {
  await visit.moreThan(0);
  served = await allOf(visit);
});

test("the page with the file inside has all its kinds, with the totals of the service", async () => {
  for (const name of KINDS) assert.ok(served[name].length > 3, `${name}: ${served[name]}`);
  await visited(pathToFileURL(exported).href, async (visit) => {
    await visit.moreThan(0);
    assert.deepEqual(await allOf(visit), served);
  });
});

test("a file that is dropped has all its kinds, and another one that has only time shows that", () =>
  visited(pathToFileURL(exported).href, async (visit) => {
    await visit.moreThan(0);
    await visit.drop({ name: "small.isoscope", content: readFileSync(SMALL) }, "shown");
    await visit.exactly(5);
    assert.equal(await visit.page.locator(".kind").count(), 0);
    await visit.drop({ name: "all.isoscope", content: readFileSync(file) }, "shown");
    await visit.when(() => window.shownSamples() > 5);
    assert.deepEqual(await allOf(visit), served);
    await visit.drop({ name: "small.isoscope", content: readFileSync(SMALL) }, "shown");
    await visit.page.getByText(`the file has no samples of ${KINDS.at(-1).toLowerCase()}`).waitFor();
    await visit.exactly(5);
  }));

test("a link to a kind opens the file at it, and files are compared by it", () =>
  visited(pathToFileURL(exported).href, async (visit) => {
    await visit.page.evaluate(() => void (location.hash = "#kind=alloc"));
    await visit.page.reload();
    await visit.when(() => document.querySelector(".told")?.textContent.includes("allocated"));
    await visit.tab("Compare").click();
    await visit.drop({ name: "all.isoscope", content: readFileSync(file) }, "compared");
    await visit.page.getByRole("tree", { name: /^Differential flame graph/ }).waitFor();
    await visit.settled();
    assert.match(await visit.text(".sides"), /before: .* (MiB|KiB)\s.*now: .* (MiB|KiB)/s);
  }));

test("a program's kinds are shown again when a file that was opened is closed", () =>
  visited(service.uri, async (visit) => {
    await visit.moreThan(0);
    await visit.tab("Table").click();
    await shown(visit, "Live"); // the program's have come
    await visit.drop({ name: "all.isoscope", content: readFileSync(file) }, "shown");
    await visit.button("Back to the program").waitFor();
    await shown(visit, "Live");
    await visit.page.evaluate(watchForTime);
    await visit.button("Back to the program").click();
    await visit.button("Back to the program").waitFor({ state: "detached" });
    await visit.showsKind("Live");
    await visit.page.getByRole("grid").getByRole("row").nth(1).waitFor();
    assert.deepEqual(await visit.page.evaluate(seen), served.Live);
    assert.equal(await visit.page.evaluate(() => window.wasOfTime), false, "another kind was seen for a moment");
  }));
