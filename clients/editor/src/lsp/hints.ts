// Hot lines: inlay hints at their ends or, for editors that know none, diagnostics of the severity "hint".
import { type Diagnostic, DiagnosticSeverity, type InlayHint, type Range } from "vscode-languageserver/node";
import type { LineFact } from "../core/reading";
import type { Documents } from "./documents";
import type { FileView } from "./file_view";
import { many, percent } from "./words";

/** The line's own share is told as such; without one all is that of what it calls. */
function words({ self, total }: LineFact): string {
  if (self === 0) return percent(total);
  return self < total ? `${percent(total)}, self ${percent(self)}` : `self ${percent(self)}`;
}

export function inlayHints(view: FileView | null, documents: Documents, uri: string, hot: number, range: Range): InlayHint[] {
  const [from, to] = [range.start.line + 1, range.end.line + 1];
  const lines = view?.lines(hot).filter(({ line }) => line >= from && line <= to) ?? [];
  return lines.map(({ fact, line }) => ({
    position: { line: line - 1, character: documents.text(uri, line).length },
    label: words(fact),
    paddingLeft: true,
    tooltip: `${many(fact.totalSamples, "sample")} here or below, ${many(fact.selfSamples, "sample")} here`,
  }));
}

export function diagnostics(view: FileView | null, documents: Documents, uri: string, hot: number): Diagnostic[] {
  const lines = view?.lines(hot) ?? [];
  return lines.map(({ fact, line }) => {
    const text = documents.text(uri, line);
    const start = text.length - text.trimStart().length;
    return {
      range: { start: { line: line - 1, character: start }, end: { line: line - 1, character: text.length } },
      severity: DiagnosticSeverity.Hint,
      source: "isoscope",
      message: `${words(fact)} of the time, ${many(fact.totalSamples, "sample")}`,
    };
  });
}
