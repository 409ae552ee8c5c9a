// What is known of the function or the line below the cursor: who calls it, whom it calls, and the stalls it caused.
import type { StallBrief } from "../../../web/src/data/stalls/brief";
import { type FunctionFact, type NeighbourFact, type Reading } from "../core/reading";
import { markdown, plain } from "../core/safe_text";
import { trendOf } from "../core/trend";
import { type FileView, lastName } from "./file_view";
import type { Shown } from "./shown";
import { errorOf, many, milliseconds, percent } from "./words";

const ROWS_MOST = 5;
const FUNCTIONS_MOST = 3;

/** Functions that a word of this line may mean: of the file first, then of all, the heaviest first. */
export function meant(shown: Shown, view: FileView | null, line: number, word: string): FunctionFact[] {
  const { reading } = shown;
  if (!reading || !word) return [];
  const isNamed = ({ name }: FunctionFact) => lastName(name) === word;
  const here = view?.functions.filter((one) => one.line === line && isNamed(one.fact)) ?? [];
  if (here.length) return here.map(({ fact }) => fact);
  const inFile = view?.functions.map(({ fact }) => fact).filter(isNamed) ?? [];
  return inFile.length ? inFile : reading.functions.filter(isNamed);
}

/** In Markdown, or as plain text. */
export function hoverText(shown: Shown, facts: readonly FunctionFact[], isMarkdown: boolean): string {
  const { reading } = shown;
  if (!reading) return "";
  const text = isMarkdown ? markdown : plain;
  const blocks = facts.slice(0, FUNCTIONS_MOST).map((fact) => {
    const stalls = shown.stalls.get(fact.key)?.stalls ?? [];
    return [head(shown, reading, fact, text), ...near(reading, fact, text), ...stallLines(stalls, text)].join("\n\n");
  });
  const left = facts.length - blocks.length;
  return [...blocks, ...(left > 0 ? [`and ${many(left, "more function")} of that name`] : [])].join("\n\n");
}

/** Of functions that have no samples, as those that only wait, and made loops late all the same. "": there are none. */
export function stallText({ stalls }: Shown, word: string, isMarkdown: boolean): string {
  const text = isMarkdown ? markdown : plain;
  return [...stalls.values()]
    .filter(({ name }) => word && lastName(name) === word)
    .map((one) => [`${text(one.name)} (${text(one.library)}): no samples`, ...stallLines(one.stalls, text)].join("\n\n"))
    .join("\n\n");
}

type Text = (text: string) => string;

function head({ before }: Shown, reading: Reading, fact: FunctionFact, text: Text): string {
  const { key, name, library, self, total, selfSamples, totalSamples } = fact;
  const trend = trendOf(before, key, total, reading.whole.samples);
  const was = before?.shares.get(key)?.total ?? 0;
  const change = trend && before ? `; ${percent(was)} in ${text(before.name)}` : "";
  return (
    `${text(name)} (${text(library)}): self ${percent(self)}, total ${percent(total)} ${errorOf(total, reading.whole)}${change}; ` +
    `${many(selfSamples, "sample")} itself, ${many(totalSamples, "sample")} with what it calls`
  );
}

function near(reading: Reading, { fn }: FunctionFact, text: Text): string[] {
  const { callers, callees } = reading.neighbours(fn);
  const list = (title: string, all: NeighbourFact[], nobody: string) => {
    if (!all.length) return [];
    const rows = all.slice(0, ROWS_MOST).map(({ name, share }) => `${text(name || nobody)} ${percent(share)}`);
    const more = all.length > ROWS_MOST ? `, and ${all.length - ROWS_MOST} more` : "";
    return [`${title}: ${rows.join(", ")}${more}`];
  };
  return [...list("Callers", callers, "the thread's start"), ...list("Callees", callees, "")];
}

function stallLines(stalls: readonly StallBrief[], text: Text): string[] {
  if (!stalls.length) return [];
  const rows = stalls.slice(0, ROWS_MOST).map(({ cause, duration_us, loop }) => `${text(cause)} ${milliseconds(duration_us)} in ${text(loop)}`);
  return [`${many(stalls.length, "stall")} because of it: ${rows.join(", ")}`];
}

/** Of a hot line that no function's name is on. */
export function lineText(view: FileView | null, line: number): string {
  const here = view?.lines(0).filter((one) => one.line === line) ?? [];
  return here
    .map(({ fact }) => `This line: self ${percent(fact.self)}, total ${percent(fact.total)}, ${many(fact.totalSamples, "sample")}`)
    .join("\n\n");
}

/** The name at a place of a line. */
export function wordAt(text: string, character: number): string {
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}_$]+/gu))
    if (index! <= character && character <= index! + word.length) return word;
  return "";
}
