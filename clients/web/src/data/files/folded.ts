// Folded stacks: `main;parse;lex 42`, one line a distinct stack. Names are all there is, and a number:
// microseconds of CPU time, or samples where shares are of these.
import type { Profile } from "../profile";
import { BadFile, Builder } from "./builder";
import { type Chosen, framesOf, oneLine } from "./chosen";

const LINE = /^(.*\S)\s+(\d+)$/;
// What the numbers are of no file says. So many samples nobody has who counted them, and of fewer
// microseconds shares are the same when they are taken for samples. Ten hours are no profile's.
const TIME_LEAST = 200_000;
const TIME_MOST = 36e9;

/** Whether the first line is one. */
export function isFolded(text: string): boolean {
  const line = text.split("\n").find((one) => one.trim() && one[0] !== "#");
  return line !== undefined && LINE.test(line.trimEnd());
}

export function readFolded(text: string): Profile {
  const builder = new Builder();
  const places = new Map<string, number>();
  const thread = builder.profile.thread(0, 0, "");
  const lines = text.split("\n");
  const sum = lines.reduce((sum, line) => sum + Number(LINE.exec(line.trimEnd())?.[2] ?? 0), 0);
  const isTime = sum >= TIME_LEAST && sum <= TIME_MOST;
  let number = 0;
  for (const line of lines) {
    number++;
    if (!line.trim() || line[0] === "#") continue;
    const match = LINE.exec(line.trimEnd());
    if (!match) throw new BadFile(`line ${number} is not a stack and a number`);
    let stack = 0;
    for (const name of match[1].split(";")) {
      let place = places.get(name);
      if (place === undefined) places.set(name, (place = builder.place(builder.fn({ name }))));
      stack = builder.profile.stack(stack, place);
    }
    if (isTime) builder.add({ stack, thread, cpu_ns: 1000 * Number(match[2]) });
    else builder.addMany(Number(match[2]), { stack, thread });
  }
  return builder.profile;
}

/** A semicolon would be another frame, a line's end another stack. */
function written(name: string): string {
  return oneLine(name).replaceAll(";", ":");
}

export function writeFolded({ profile, places }: Chosen): string {
  const counts = new Map<number, number>();
  const { callOf } = profile;
  const stack = profile.samples.stack.data;
  const cpu_ns = profile.unit() === "time" && profile.samples.cpu_ns.data;
  const part = profile.kind === "time" ? 1000 : 1;
  for (const i of places) {
    const node = callOf[stack[i]];
    counts.set(node, (counts.get(node) ?? 0) + (cpu_ns ? Math.round(cpu_ns[i] / part) : 1));
  }
  // Two functions may have one name: their stacks are one line.
  const lines = new Map<string, number>();
  for (const [node, count] of counts) {
    const names = framesOf(profile, node).map((fn) => written(profile.functions[fn].name));
    const line = names.join(";");
    lines.set(line, (lines.get(line) ?? 0) + count);
  }
  return [...lines.keys()]
    .sort()
    .map((line) => `${line} ${lines.get(line)}\n`)
    .join("");
}
