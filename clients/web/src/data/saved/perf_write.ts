// Text as `perf script` prints it: a block a sample, leaf first.
//
// Lost: tags, lines, cut stacks; of inlined frames their library, in whose place stands (inlined), as perf
// has it. Blanks in libraries' paths become underscores. The period is CPU time in ns; addresses are 0.
import { type Chosen, libraryPath, oneLine, placesOf } from "../files/chosen";

export function writePerf({ profile, places }: Chosen): string {
  const { samples, threads, processNames } = profile;
  const stacks = new Map<number, string>();
  const stackOf = (node: number) => {
    let text = stacks.get(node);
    if (text === undefined) {
      const lines = placesOf(profile, node).map((place) => {
        const fn = profile.functionAt(place);
        const library = libraryPath(profile, fn).trim().replace(/\s+/g, "_") || "[unknown]";
        const where = profile.isInlined(place) ? "inlined" : library;
        return `\t${"0".padStart(16)} ${oneLine(profile.functions[fn].name)}+0x0 (${where})\n`;
      });
      stacks.set(node, (text = `${lines.join("")}\n`));
    }
    return text;
  };
  return Array.from(places, (i) => {
    const { pid, tid, name } = threads[samples.thread.data[i]];
    const title = oneLine(name || processNames.get(pid) || "") || "unknown";
    const time_us = Math.round(samples.time_us.data[i]);
    const time = `${Math.floor(time_us / 1e6)}.${String(time_us % 1e6).padStart(6, "0")}`;
    const period = String(Math.round(samples.cpu_ns.data[i])).padStart(10);
    return `${title}  ${pid}/${tid}  ${time}: ${period} cpu-clock: \n${stackOf(samples.stack.data[i])}`;
  }).join("");
}
