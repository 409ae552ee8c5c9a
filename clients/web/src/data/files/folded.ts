// Folded stacks: `main;parse;lex 42`, one line a distinct stack. Names are all there is.
import type { Profile } from "../profile";
import { BadFile, Builder } from "./builder";
import { type Chosen, framesOf } from "./chosen";

const LINE = /^(.*\S)\s+(\d+)$/;

/** Whether the first line is one. */
export function isFolded(text: string): boolean {
  const line = text.split("\n").find((one) => one.trim() && one[0] !== "#");
  return line !== undefined && LINE.test(line.trimEnd());
}

export function readFolded(text: string): Profile {
  const builder = new Builder();
  const places = new Map<string, number>();
  const thread = builder.profile.thread(0, 0, "");
  let number = 0;
  for (const line of text.split("\n")) {
    number++;
    if (!line.trim() || line[0] === "#") continue;
    const match = LINE.exec(line.trimEnd());
    if (!match) throw new BadFile(`line ${number}: a stack and a number should be there`);
    let stack = 0;
    for (const name of match[1].split(";")) {
      let place = places.get(name);
      if (place === undefined) places.set(name, (place = builder.place(builder.fn({ name }))));
      stack = builder.profile.stack(stack, place);
    }
    builder.addMany(Number(match[2]), { stack, thread });
  }
  return builder.profile;
}

/** A semicolon would be another frame, a line's end another stack. */
function written(name: string): string {
  return name
    .split(/[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+/)
    .join(" ")
    .replaceAll(";", ":");
}

export function writeFolded({ profile, places }: Chosen): string {
  const counts = new Map<number, number>();
  const { callOf } = profile;
  const stack = profile.samples.stack.data;
  for (const i of places) counts.set(callOf[stack[i]], (counts.get(callOf[stack[i]]) ?? 0) + 1);
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
