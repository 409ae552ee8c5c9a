import { z } from "zod";
import { readSource } from "../../../../web/src/wire/source";
import { Problem } from "../../core/problem";
import type { LineFact, Reading } from "../../core/reading";
import { named, percent, type Value } from "../facts/answer";
import { errorOf } from "../facts/chance";
import { functionOf } from "../facts/functions";
import { wholeOf } from "../facts/look";
import { look, type LookOf, OF_SAMPLES, told, tool } from "../facts/tool";

const AROUND = 2; // lines before and behind one with samples
const TEXT_MOST = 160;
const FILES_SHOWN = 10;

export const sourceLines = tool({
  name: "source_lines",
  title: "Source lines with heat",
  description:
    "Lines of one source file that samples fell into, with their shares, and the text where the service has it. The file is that " +
    "of a function, or one that the profile names; no other file is read.",
  input: {
    ...OF_SAMPLES,
    function: z.string().min(1).optional().describe("whose file is wanted; or say file"),
    library: z.string().optional(),
    file: z.string().min(1).optional().describe("a path as another answer has it, or its end"),
  },
  async answer(args, context) {
    const seen = await look(args, context);
    const { reading, samples } = seen;
    const file = args.function ? fileOfFunction(reading, args.function, args.library) : fileOf(reading, args.file);
    const lines = reading.lines(file);
    if (!lines.length) throw new Problem(`no sample of this part fell into a line of ${JSON.stringify(named(file))}`);
    const text = await textOf(seen, file);
    return {
      facts: {
        ...told(seen.current),
        ...wholeOf(seen),
        file: named(file),
        lines_with_samples: lines.length,
        has_text: text !== null,
      },
      unsure: text
        ? seen.unsure
        : [...seen.unsure, "the service has no text of this file: its folder is not under --source-root, or it is gone"],
      columns: [
        "line",
        "self_percent",
        "self_error",
        "total_percent",
        "total_error",
        "self_samples",
        "total_samples",
        "text",
      ],
      rows: rowsOf(lines, text, samples),
    };
  },
});

/** By the lines with samples, and some around them. */
function rowsOf(lines: readonly LineFact[], text: string[] | null, samples: number): Value[][] {
  const byLine = new Map(lines.map((one) => [one.line, one]));
  const shown = new Set<number>();
  for (const { line } of lines)
    for (let at = line - AROUND; at <= line + AROUND; at++)
      if (byLine.has(at) || (text && at >= 1 && at <= text.length)) shown.add(at);
  const textAt = (line: number) => (text && line <= text.length ? named(text[line - 1], TEXT_MOST) : null);
  return [...shown]
    .sort((a, b) => a - b)
    .map((line) => {
      const one = byLine.get(line);
      if (!one) return [line, 0, 0, 0, 0, 0, 0, textAt(line)];
      const shares = [one.self, one.total].flatMap((share) => [percent(share), percent(errorOf(share, samples))]);
      return [line, ...shares, one.selfSamples, one.totalSamples, textAt(line)];
    });
}

function fileOfFunction(reading: Reading, name: string, library?: string): string {
  const one = functionOf(reading, name, library);
  if (one.file) return one.file;
  throw new Problem(
    `function: ${JSON.stringify(named(one.name))} has no source file: its program or library has no debug information`,
  );
}

/** Of those that the profile names. */
function fileOf(reading: Reading, wanted?: string): string {
  const files = [...new Set([...reading.files(), ...reading.functions.map(({ file }) => file)])].filter(Boolean);
  if (!files.length) throw new Problem("the profile names no source file: the program has no debug information");
  if (wanted === undefined) return files[0];
  const found = files.filter((one) => one === wanted || named(one) === wanted);
  const ends = found.length ? found : files.filter((one) => one.endsWith(`/${wanted}`));
  if (ends.length === 1) return ends[0];
  const shown = (ends.length ? ends : files).slice(0, FILES_SHOWN).map((one) => JSON.stringify(named(one)));
  throw new Problem(
    `file: ${ends.length ? "several end so" : "the profile names no such file"}; ${ends.length ? "say one of" : "there are"}: ${shown.join(", ")}`,
  );
}

/** null: the service gives none, or is gone. */
async function textOf({ current: { profile } }: LookOf, file: string): Promise<string[] | null> {
  if (profile.link.state !== "open") return null;
  return (await readSource(profile.rpc, file))?.split(/\r?\n/) ?? null;
}
