// node live.mjs MINUTES: the live page of eight threads in wall mode at 1 kHz, for so long. A line of JSON each
// minute: the samples that the page holds, its memory and the service's (bytes), and of both the part of a processor.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Service } from "../../web/browser/service.mjs";
import { launch, Visit } from "../../web/browser/visit.mjs";
import { memoryOf, proportional, renderers } from "./memory.mjs";

const minutes = Number(process.argv[2]);
const PROGRAM = join(process.env.ISOSCOPE_BUILD, "tests/bench/many_paths");
const TICKS = 100; // a second in /proc/PID/stat

/** Seconds of CPU time that a process took. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

const service = await Service.of([PROGRAM], "--mode", "wall", "--period", "1000");
const browser = await launch("--js-flags=--expose-gc");
try {
  const visit = await Visit.of(browser, service.uri);
  const { page } = visit;
  // The browser may keep another one ready; what the page needs is the larger one.
  const [pid] = (await renderers(browser)).sort((a, b) => proportional(b) - proportional(a));
  const start = performance.now();
  const now = () => ({
    s: (performance.now() - start) / 1000,
    page: cpuOf(pid),
    service: cpuOf(service.process.pid),
  });
  let before = now();
  for (let minute = 1; minute <= minutes; minute++) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * (60 * minute - now().s)));
    const after = now();
    const s = after.s - before.s;
    const found = {
      minute,
      samples: await page.evaluate(() => window.shownSamples()),
      memory: await memoryOf(browser, page),
      serviceMemory: proportional(service.process.pid),
      cpu: (after.page - before.page) / s,
      serviceCpu: (after.service - before.service) / s,
    };
    console.log(JSON.stringify(found));
    if (visit.errors.length) throw new Error(visit.errors.join());
    before = now(); // without what collecting garbage took
  }
} finally {
  await browser.close();
  await service.end();
}
