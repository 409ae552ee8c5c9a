// What is shown, in words; and why something is not.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FunctionFact } from "../core/reading";
import { plain } from "../core/safe_text";
import type { Status } from "./own_messages";
import type { Shown } from "./shown";
import { many } from "./words";

export function statusOf(shown: Shown, roots: readonly string[]): Status {
  const { profile, reading, name, before } = shown;
  const samples = reading?.whole.samples ?? 0;
  const problems = profile ? [profile.trouble(), ...withoutLines(shown, roots)].filter(Boolean) : [];
  const window = shown.filter.window_us ? " in the window" : "";
  const text = profile ? `${plain(name)}: ${many(samples, "sample")}${window}` : "no profile: nothing runs under isoscope here";
  return {
    text: [text, ...problems].join("; "),
    samples,
    unit: reading?.unit ?? "",
    source: name,
    link: profile?.link.state ?? "none",
    version: profile?.version ?? 0,
    comparedWith: before?.name ?? "",
    problems,
  };
}

const FILE = /^(\/|[\w.-]+\/)/; // not "<string>", nor "node:internal/timers"
const LEAST = 0.01; // of the total: what is lighter is nobody's trouble

/** Why functions that have samples are nowhere in the project. */
function withoutLines({ reading, sources }: Shown, roots: readonly string[]): string[] {
  if (!reading) return [];
  const isMine = ({ fn }: FunctionFact) => reading.answers.profile.isMine(fn); // no system's, no interpreter's
  const own = reading.functions.filter((one) => one.total >= LEAST && isMine(one));
  const lined = own.filter(({ file, line }) => file && line);
  if (own.length && !lined.length)
    return [`no function of ${plain(own[0].library)} has a file and a line: build it with -g, and do not strip it`];
  const lost = lined.filter(({ file }) => FILE.test(file) && !sources.local(file));
  if (!lost.length) return [];
  const { file } = lost[0];
  return [`${plain(file)} is not here: ${remedy(file, roots)}`];
}

/** FROM=TO, where the rest of the path is below a folder of the project. */
function remedy(file: string, roots: readonly string[]): string {
  for (let from = dirname(file); from !== dirname(from); from = dirname(from))
    for (const root of roots)
      if (existsSync(join(root, file.slice(from.length)))) return `start with --source-map ${plain(from)}=${plain(root)}`;
  return "say where with --source-map FROM=TO";
}
