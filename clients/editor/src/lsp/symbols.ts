// workspace/symbol: hot functions, the heaviest first. Where their files lie here, and as far as their lines are known.
import { pathToFileURL } from "node:url";
import { SymbolKind, type SymbolInformation } from "vscode-languageserver/node";
import type { FunctionFact } from "../core/reading";
import { plain } from "../core/safe_text";
import type { FilePlace, Places } from "./places";
import { percent } from "./words";

const SYMBOLS_MOST = 100;

/** query: parts of a name, in any order. */
export function hotSymbols(functions: readonly FunctionFact[], places: Places, query: string): SymbolInformation[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const symbols: SymbolInformation[] = [];
  for (const fact of functions) {
    const name = fact.name.toLowerCase();
    const place = parts.every((part) => name.includes(part)) ? places.of(fact) : null;
    if (!place) continue;
    symbols.push(symbolOf(fact, place));
    if (symbols.length === SYMBOLS_MOST) break;
  }
  return symbols;
}

function symbolOf({ name, self, total, library }: FunctionFact, { path, line, isStale }: FilePlace): SymbolInformation {
  const at = { line: Math.max(0, line - 1), character: 0 };
  return {
    name: plain(name),
    kind: SymbolKind.Function,
    containerName: `${isStale ? "stale: " : ""}self ${percent(self)}, total ${percent(total)} of ${plain(library)}`,
    location: { uri: pathToFileURL(path).href, range: { start: at, end: at } },
  };
}
