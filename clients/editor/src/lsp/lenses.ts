// Code lenses: what each function of a file has, above it.
import type { CodeLens } from "vscode-languageserver/node";
import { plain } from "../core/safe_text";
import { trendOf } from "../core/trend";
import { COMMANDS } from "./command_names";
import type { FileView, PlacedFunction } from "./file_view";
import type { Shown } from "./shown";
import { many, percent, shares } from "./words";

const ON_A_LINE = 2; // overloads and instances of a template; the others are summed up

export function lensesOf(shown: Shown, view: FileView | null): CodeLens[] {
  if (!view) return [];
  const byLine = new Map<number, PlacedFunction[]>();
  for (const one of view.functions) byLine.set(one.line, [...(byLine.get(one.line) ?? []), one]);
  const lenses = [...byLine.values()].flatMap((all) => lensesOfLine(shown, view, all));
  return view.stale ? [lens(1, staleWords(view), COMMANDS.status), ...lenses] : lenses;
}

function staleWords({ stale, isByName, leftOut }: FileView): string {
  const left = leftOut ? `; ${many(leftOut, "function")} with samples left out` : "";
  return `isoscope: ${stale}${isByName ? ": functions are found by their names, lines are not shown" : ""}${left}`;
}

function lensesOfLine(shown: Shown, view: FileView, all: PlacedFunction[]): CodeLens[] {
  const samples = shown.reading?.whole.samples ?? 0;
  const sorted = [...all].sort((a, b) => b.fact.total - a.fact.total);
  const lenses = sorted.slice(0, ON_A_LINE).map(({ fact, line }) => {
    const late = shown.stalls.get(fact.key)?.stalls.length ?? 0;
    const trend = trendOf(shown.before, fact.key, fact.total, samples);
    const words = shares(fact, trend) + (late ? ` · ${many(late, "stall")}` : "");
    const name = all.length > 1 ? `${plain(fact.name)}: ` : "";
    return lens(line, `${view.isByName ? "stale: " : ""}${name}${words}`, COMMANDS.openPage, fact.key);
  });
  const rest = sorted.slice(ON_A_LINE);
  if (!rest.length) return lenses;
  const self = rest.reduce((sum, { fact }) => sum + fact.self, 0);
  return [...lenses, lens(rest[0].line, `${many(rest.length, "more function")} here: self ${percent(self)}`, COMMANDS.status)];
}

function lens(line: number, title: string, command: string, ...words: string[]): CodeLens {
  const at = { line: line - 1, character: 0 };
  return { range: { start: at, end: at }, command: { title, command, arguments: words } };
}
