// The two trees: functions, the hottest first, and stalls.
import * as vscode from "vscode";
import type { FunctionRow, Place, StallRow } from "../../../editor/src/lsp/own_messages";
import { levelOf } from "../model/heat";
import { functionTooltip, functionWords, stallWords } from "../model/words";
import type { LanguageServer } from "../server/language_server";

const COLOURS = ["charts.foreground", "charts.yellow", "charts.yellow", "charts.orange", "charts.red", "charts.red"]; // by level

export function registerTrees(server: LanguageServer): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.window.registerTreeDataProvider("isoscope.functions", new Rows(server, () => server.overview?.functions ?? [], functionItem)),
    vscode.window.registerTreeDataProvider("isoscope.stalls", new Rows(server, () => server.overview?.stalls ?? [], stallItem)),
  );
}

class Rows<Row> implements vscode.TreeDataProvider<Row> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(
    server: LanguageServer,
    private readonly rows: () => Row[],
    readonly getTreeItem: (row: Row) => vscode.TreeItem,
  ) {
    this.onDidChangeTreeData = server.onChanged;
  }

  getChildren(row?: Row): Row[] {
    return row ? [] : this.rows();
  }
}

function functionItem(row: FunctionRow): vscode.TreeItem {
  const item = new vscode.TreeItem(row.name);
  item.id = row.key;
  item.description = functionWords(row);
  item.tooltip = functionTooltip(row);
  item.iconPath = new vscode.ThemeIcon("circle-filled", new vscode.ThemeColor(COLOURS[levelOf(row.self)]));
  item.contextValue = "function";
  item.command = opening(row.place);
  return item;
}

function stallItem(row: StallRow): vscode.TreeItem {
  const item = new vscode.TreeItem(`${row.duration} in ${row.loop}`);
  item.id = String(row.number);
  item.description = stallWords(row);
  item.tooltip = `${row.level} of ${row.loop}, thread ${row.thread}: ${row.duration}\n${stallWords(row)}`;
  item.iconPath = new vscode.ThemeIcon(row.isOngoing ? "sync~spin" : "watch");
  item.command = opening(row.place);
  return item;
}

function opening(place: Place | null): vscode.Command | undefined {
  if (!place) return undefined;
  const at = new vscode.Position(Math.max(0, place.line - 1), 0);
  const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(at, at), preview: true };
  return { command: "vscode.open", title: "Open", arguments: [vscode.Uri.parse(place.uri), options] };
}
