// The reading of `isoscope explain`, by the command itself: its rules stand once.
import { execFile } from "node:child_process";
import { isoscopeCommand } from "../../core/children";
import { Problem } from "../../core/problem";
import { named, percent, type Value } from "../facts/answer";
import { PART, type Part } from "../facts/look";
import type { Source } from "../facts/sources";
import { SOURCE, told, tool } from "../facts/tool";

const PATIENCE_MS = 120_000;
const BYTES_MOST = 16 << 20;
const SENTENCE_MOST = 400;

export const explain = tool({
  name: "explain",
  title: "Why is this slow",
  description:
    "The findings that matter, by rules and without a model: hot functions, waits for locks and files, stalls, allocations. Each with its " +
    "share and error, place, path, evidence, cause, a next step and a command to check it; and what was looked at where nothing is found. " +
    "Waits are seen in wall mode (`isoscope run --mode wall`), locks by name with --lock.",
  input: { ...SOURCE, ...PART },
  async answer({ source: id, ...part }, { sources }) {
    const source = await sources.pick(id);
    const report = await reported(source, part);
    return {
      facts: {
        ...{ ...told({ source }), headline: sentence(report.headline), healthy: report.healthy, left_out: report.leftOut },
        looked_at: report.lookedAt.map(sentence),
        error: "half of the 95 % range, in percent points",
      },
      unsure: report.unsure.map(sentence),
      columns: ["kind", "title", "percent", "error", "of", "place", "path", "evidence", "cause", "next", "check"],
      rows: report.findings.map(row),
    };
  },
});

interface Finding {
  kind: string;
  title: string;
  share: number;
  error: number;
  of: string;
  place: { function: string; library: string | null; file: string | null; line: number | null } | null;
  path: string[];
  evidence: string[];
  cause: string;
  next: string;
  commandLine: string;
}
interface Report {
  headline: string;
  healthy: boolean;
  leftOut: number;
  findings: Finding[];
  lookedAt: string[];
  unsure: string[];
}

const sentence = (text: string) => named(text, SENTENCE_MOST);

function row(one: Finding): Value[] {
  return [
    ...[one.kind, sentence(one.title), percent(one.share), percent(one.error), one.of],
    one.place && {
      function: named(one.place.function),
      library: one.place.library,
      file: one.place.file,
      line: one.place.line,
    },
    one.path.slice(-10).map((name) => named(name, 100)),
    one.evidence.map(sentence),
    ...[sentence(one.cause), sentence(one.next), sentence(one.commandLine)],
  ];
}

function wordsOf({ from_s, to_s, last_s, process, thread }: Part): string[] {
  const options = { from: from_s, to: to_s, last: last_s, process, thread };
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}

/** A URI is not told on a command line, which others can read. */
function reported({ kind, where }: Source, part: Part): Promise<Report> {
  const isService = kind === "service";
  const file = where.startsWith("-") ? `./${where}` : where;
  const words = ["explain", "--format", "json", ...wordsOf(part), ...(isService ? [] : [file])];
  const env = { ...process.env, ...(isService && { ISOSCOPE_URI: where }) };
  return new Promise((resolve, reject) => {
    execFile(isoscopeCommand(), words, { env, timeout: PATIENCE_MS, maxBuffer: BYTES_MOST }, (error, stdout, stderr) => {
      if (error && !stdout)
        reject(new Problem(reasonOf(stderr, where) || `isoscope explain failed: ${error.message.split("\n")[0]}`));
      else resolve(JSON.parse(stdout) as Report);
    });
  });
}

/** What isoscope said, without the token. */
function reasonOf(stderr: string, where: string): string {
  const lines = stderr
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("isoscope: "));
  const text = lines.join("; ").replaceAll("isoscope: ", "");
  return where.startsWith("http")
    ? text.replaceAll(where, new URL(where).host).replaceAll(new URL(where).pathname, "/")
    : text;
}
