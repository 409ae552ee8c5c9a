// Beside each line that has samples: how hot it is. The shares themselves are the server's inlay hints.
import * as vscode from "vscode";
import type { LineRow } from "../../../editor/src/lsp/own_messages";
import { barOf, byLevel, colourOf, LEVELS } from "../model/heat";
import { lineTooltip } from "../model/words";
import type { LanguageServer } from "../server/language_server";

const pictureOf = (level: number) => vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(barOf(level)).toString("base64")}`);

export class Gutter implements vscode.Disposable {
  #types = Array.from({ length: LEVELS }, (_, i) =>
    vscode.window.createTextEditorDecorationType({
      gutterIconPath: pictureOf(i + 1),
      gutterIconSize: "contain",
      overviewRulerColor: colourOf(i + 1),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  );
  #listening: vscode.Disposable;

  constructor(private readonly server: LanguageServer) {
    const draw = () => void this.#draw();
    this.#listening = vscode.Disposable.from(
      server.onChanged(draw),
      vscode.window.onDidChangeVisibleTextEditors(draw),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("isoscope.gutter") && draw()),
    );
  }

  async #draw(): Promise<void> {
    const isWanted = vscode.workspace.getConfiguration("isoscope").get("gutter", true);
    const editors = vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === "file");
    await Promise.all(editors.map((editor) => this.#drawIn(editor, isWanted)));
  }

  async #drawIn(editor: vscode.TextEditor, isWanted: boolean): Promise<void> {
    const { version } = editor.document;
    const lines = isWanted ? await this.server.lines(editor.document).then(({ lines }) => lines, () => []) : [];
    if (version !== editor.document.version) return; // it is asked again
    byLevel(lines).forEach((rows, i) => editor.setDecorations(this.#types[i], rows.map((row) => decoration(editor.document, row))));
  }

  dispose(): void {
    this.#listening.dispose();
    for (const type of this.#types) type.dispose();
  }
}

function decoration(document: vscode.TextDocument, row: LineRow): vscode.DecorationOptions {
  const range = document.lineAt(Math.min(row.line, document.lineCount) - 1).range;
  return { range, hoverMessage: lineTooltip(row) };
}
