// What a page's process holds: its proportional set size, after its garbage was collected.
import { readFileSync } from "node:fs";

/** Bytes. The browser has no other page, so all its renderers are this one's. */
export async function memoryOf(browser, page) {
  for (const heap of [page, ...page.workers()]) await heap.evaluate(() => gc());
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer");
  return renderers.reduce((sum, { id }) => sum + proportional(id), 0);
}

function proportional(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(text)[1]);
}
