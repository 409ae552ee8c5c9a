// A flame graph as one HTML page to zoom and search in: the Python client's page (its formats/html.py) with the
// same data in it, so that it is the file that `isoscope export` writes.
//
// Lost: time, threads, tags, lines but those of definitions, lost samples.
import page from "flame-page";
import { slotsOf } from "../colour_slots";
import { PALETTE, SELF_STEPS, shaded } from "../shades";
import { nameForms } from "../short_name";
import type { Profile } from "../profile";
import { type Chosen, libraryPath, spanOf } from "./chosen";
import { type Box, flameBoxes, processLabels } from "./html_boxes";

const OTHERS = PALETTE[PALETTE.length - 1];
const WORTH_A_WORD = 0.01; // of all samples truncated
const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]);

export function writeHtml(chosen: Chosen): string {
  const parts: Record<string, string> = {
    TITLE: escaped(titleOf(chosen)),
    SUMMARY: summaryOf(chosen).map((line) => `<p>${escaped(line)}</p>`).join(""),
    DATA: JSON.stringify(dataOf(chosen)).replaceAll("<", "\\u003c"), // no name can end the script element
  };
  return page.replace(/@([A-Z]+)@/g, (open, name) => parts[name] ?? open);
}

function titleOf(chosen: Chosen): string {
  const labels = [...processLabels(chosen).values()];
  const more = labels.length > 3 ? ` and ${labels.length - 3} more` : "";
  return labels.slice(0, 3).join(", ") + more || "profile";
}

function summaryOf(chosen: Chosen): string[] {
  const { profile, places } = chosen;
  const { cpu_ns, thread, whole } = profile.samples;
  const parts = [counted(places.length, "sample")];
  const cpu_us = places.reduce((sum, i) => sum + Math.round(cpu_ns.data[i] / 1000), 0);
  if (cpu_us) parts.push(`${duration(cpu_us)} of CPU time`);
  if (profile.period_us) parts.push(`one per ${duration(profile.period_us)}`);
  const { first_us, last_us } = spanOf(chosen);
  if (last_us > first_us) parts.push(`over ${duration(last_us - first_us)}`);
  parts.push(counted(new Set(Array.from(places, (i) => thread.data[i])).size, "thread"));
  const lines = [parts.join(" · ")];
  const cut = places.reduce((sum, i) => sum + (whole.data[i] ? 0 : 1), 0);
  if (cut >= Math.max(1, WORTH_A_WORD * places.length)) {
    const share = ((100 * cut) / places.length).toFixed(1);
    lines.push(`${share} % of the stacks are truncated: they do not reach the thread's start`);
  }
  return lines;
}

const grouped = (number: string) => number.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
const counted = (count: number, noun: string) => `${grouped(`${count}`)} ${noun}${count === 1 ? "" : "s"}`;

function duration(us: number): string {
  if (us >= 1e6) return `${grouped((us / 1e6).toFixed(2))} s`;
  return us >= 1000 ? `${grouped((us / 1e3).toFixed(1))} ms` : `${us} us`;
}

function dataOf(chosen: Chosen): object {
  const boxes = flameBoxes(chosen);
  const { legend, colourOf } = coloursOf(boxes);
  const names = new Names(chosen.profile, colourOf);
  const columns: Record<string, number[]> = { name: [], row: [], start: [], width: [], self: [] };
  const put = (...entries: number[]) =>
    Object.values(columns).forEach((column, i) => column.push(entries[i]));
  const roots = boxes.filter(({ row }) => !row);
  const isJoined = roots.length !== 1; // several processes, or a CPU time of 0: below a box of all
  const all = roots.reduce((sum, { total }) => sum + total, 0);
  if (isJoined) put(names.ofAll(), 0, 0, all, 0);
  for (const box of boxes)
    put(names.of(box), box.row + +isJoined, box.start, box.total, box.self);
  return {
    unit: chosen.profile.unit() === "time" ? "us" : "samples",
    legend,
    others: OTHERS,
    names: names.rows,
    boxes: { ...columns, inlined: boxes.flatMap((box, i) => (box.inlined ? [i + +isJoined] : [])) },
  };
}

/** What boxes are called: [name, full name, library, where, colours by self, shorter names]. */
class Names {
  readonly rows: unknown[][] = [];
  readonly #numbers = new Map<number, number>();

  constructor(
    private readonly profile: Profile,
    private readonly colourOf: (library: string) => string,
  ) {}

  ofAll(): number {
    return this.rows.push(["all", "", "", "", [OTHERS], []]) - 1;
  }

  of(box: Box): number {
    let number = this.#numbers.get(box.fn);
    if (number === undefined) {
      number = this.rows.push(this.#row(box)) - 1;
      this.#numbers.set(box.fn, number);
    }
    return number;
  }

  #row({ fn, name, library }: Box): unknown[] {
    const colour = this.colourOf(library);
    const fills = [];
    for (let step = 0; step <= SELF_STEPS; step++) fills.push(shaded(colour, name, step));
    const shorter = nameForms(name).slice(1);
    if (fn < 0) return [name, "", "", "", fills, shorter];
    const { file, line } = this.profile.functions[fn];
    const where = file && line ? `${file}:${line}` : file;
    return [name, "", libraryPath(this.profile, fn), where, fills, shorter];
  }
}

/** Libraries with a colour of their own, the busiest first. */
function coloursOf(boxes: Box[]) {
  const selves = new Map<string, number>();
  for (const { library, self } of boxes)
    if (library) selves.set(library, (selves.get(library) ?? 0) + self);
  const slots = slotsOf(selves);
  const colourOf = (library: string) => PALETTE[slots.get(library) ?? PALETTE.length - 1];
  const legend = [...selves]
    .filter(([name]) => slots.has(name))
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, own]) => [name, own, colourOf(name)]);
  return { legend, colourOf };
}
