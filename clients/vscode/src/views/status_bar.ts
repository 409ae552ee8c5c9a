// What is shown, and the CPU that it uses now.
import * as vscode from "vscode";
import { statusLines, statusWords } from "../model/words";
import type { LanguageServer } from "../server/language_server";

const MENU = ["openPage", "run", "attach", "stop", "compare", "window", "clear", "exportCpuprofile", "openPageOutside", "status"];

export function registerStatusBar(server: LanguageServer, titles: ReadonlyMap<string, string>): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("isoscope.status", vscode.StatusBarAlignment.Left, 10);
  item.name = "isoscope";
  item.command = "isoscope.menu";
  const show = () => {
    item.text = statusWords(server.overview);
    item.tooltip = statusLines(server.overview).join("\n");
    item.show();
  };
  show();
  return vscode.Disposable.from(
    item,
    server.onChanged(show),
    vscode.commands.registerCommand("isoscope.menu", () => menu(titles)),
  );
}

async function menu(titles: ReadonlyMap<string, string>): Promise<void> {
  const choices = MENU.map((name) => `isoscope.${name}`).map((command) => ({ label: titles.get(command) ?? command, command }));
  const chosen = await vscode.window.showQuickPick(choices, { title: "isoscope" });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}
