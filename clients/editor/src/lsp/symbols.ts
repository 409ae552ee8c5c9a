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

/** query: parts of a name, in any order. */
export function hotSymbols(shown: Shown, documents: Documents, views: Views, query: string): SymbolInformation[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const symbols: SymbolInformation[] = [];
  for (const fact of shown.reading?.functions ?? []) {
    const name = fact.name.toLowerCase();
    const path = fact.line > 0 && parts.every((part) => name.includes(part)) ? shown.sources.local(fact.file) : null;
    if (!path) continue;
    symbols.push(symbolOf(shown, documents, views, fact, path));
    if (symbols.length === SYMBOLS_MOST) break;
  }
  return symbols;
}

function symbolOf(shown: Shown, documents: Documents, views: Views, fact: FunctionFact, path: string): SymbolInformation {
  const { name, self, total, library } = fact;
  const { line, stale } = placeOf(shown, documents, views, fact, path);
  const at = { line: Math.max(0, line - 1), character: 0 };
  return {
    name: plain(name),
    kind: SymbolKind.Function,
    containerName: `${stale}self ${percent(self)}, total ${percent(total)} of ${plain(library)}`,
    location: { uri: pathToFileURL(path).href, range: { start: at, end: at } },
  };
}

/** line 0: it has none any more; then the file is shown from its start. */
function placeOf(shown: Shown, documents: Documents, views: Views, { fn, line, modulePath }: FunctionFact, path: string) {
  const uri = documents.uriOf(path);
  const view = uri ? views.of(uri) : null;
  if (view) {
    const found = view.functions.find(({ fact }) => fact.fn === fn)?.line ?? 0;
    return { line: found, stale: found && !view.isByName ? "" : "stale: " };
  }
  const isStale = shown.profile ? shown.freshnesses.of(shown.profile, path, modulePath).isStale : true;
  return isStale ? { line: 0, stale: "stale: " } : { line, stale: "" };
}
