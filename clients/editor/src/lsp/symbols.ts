// workspace/symbol: hot functions, the heaviest first. Where their files lie here, and as far as their lines are known.
import { pathToFileURL } from "node:url";
import { SymbolKind, type SymbolInformation } from "vscode-languageserver/node";
import type { FunctionFact } from "../core/reading";
import { plain } from "../core/safe_text";
import type { Documents } from "./documents";
import type { Views } from "./file_view";
import type { Shown } from "./shown";
import { percent } from "./words";

const SYMBOLS_MOST = 100;

/** line 0: it has none any more; then the file is shown from its start. */
type PlaceOf = (fact: FunctionFact) => { line: number; isStale: boolean };

/** query: parts of a name, in any order. */
export function hotSymbols(shown: Shown, documents: Documents, views: Views, query: string): SymbolInformation[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const places = new Map<string, PlaceOf>(); // by path
  const symbols: SymbolInformation[] = [];
  for (const fact of shown.reading?.functions ?? []) {
    const name = fact.name.toLowerCase();
    const path = fact.line > 0 && parts.every((part) => name.includes(part)) ? shown.sources.local(fact.file) : null;
    if (!path) continue;
    const placeOf = places.get(path) ?? placesIn(shown, documents, views, path);
    places.set(path, placeOf);
    symbols.push(symbolOf(fact, path, placeOf));
    if (symbols.length === SYMBOLS_MOST) break;
  }
  return symbols;
}

function symbolOf(fact: FunctionFact, path: string, placeOf: PlaceOf): SymbolInformation {
  const { name, self, total, library } = fact;
  const { line, isStale } = placeOf(fact);
  const at = { line: Math.max(0, line - 1), character: 0 };
  return {
    name: plain(name),
    kind: SymbolKind.Function,
    containerName: `${isStale ? "stale: " : ""}self ${percent(self)}, total ${percent(total)} of ${plain(library)}`,
    location: { uri: pathToFileURL(path).href, range: { start: at, end: at } },
  };
}

/** Of a file that is open, as it is there now. */
function placesIn(shown: Shown, documents: Documents, views: Views, path: string): PlaceOf {
  const uri = documents.uriOf(path);
  const view = uri ? views.of(uri) : null;
  if (!view)
    return ({ line, modulePath }) => {
      const isStale = !shown.profile || shown.freshnesses.of(shown.profile, path, modulePath).isStale;
      return { line: isStale ? 0 : line, isStale };
    };
  const lines = new Map(view.functions.map(({ fact, line }) => [fact.fn, line]));
  return ({ fn }) => {
    const line = lines.get(fn) ?? 0;
    return { line, isStale: !line || view.isByName };
  };
}
