// What a page's process holds: its proportional set size, after its garbage was collected.
import { readFileSync } from "node:fs";

/** Bytes. */
export async function memoryOf(browser, page) {
  for (const heap of [page, ...page.workers()]) await heap.evaluate(() => gc());
  return (await renderers(browser)).reduce((sum, pid) => sum + proportional(pid), 0);
}

/** Pids: the browser has no other page, so all its renderers are this one's. */
export async function renderers(browser) {
  const whole = await browser.newBrowserCDPSession();
  const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
  return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
}

export function proportional(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(text)[1]);
}
