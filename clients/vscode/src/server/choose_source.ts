// Which service or file: one of those that run, an address, a file.
import * as vscode from "vscode";
import type { LanguageServer } from "./language_server";

interface Found {
  base: string;
  told: string;
}

interface Choice extends vscode.QuickPickItem {
  source?: string;
  ask?: () => Promise<string | undefined>;
}

/** first: choices before the others. undefined: none was chosen. */
export async function chooseSource(server: LanguageServer, title: string, first: Choice[]): Promise<string | undefined> {
  const choices = async (): Promise<Choice[]> => {
    const found = await server.command<Found[]>("isoscope.services");
    const running = found.map(({ base, told }) => ({ label: `$(pulse) ${new URL(base).host}`, description: told, source: base }));
    return [...first, ...running, ...OTHERS];
  };
  const chosen = await vscode.window.showQuickPick(choices(), { title: `isoscope: ${title}`, placeHolder: "A service or a file" });
  return chosen?.ask ? chosen.ask() : chosen?.source;
}

const OTHERS: Choice[] = [
  { label: "$(link) An address…", description: "the line that isoscope prints", ask: askAddress },
  { label: "$(file) A file…", description: "a session or a service's info file", ask: askFile },
];

async function askAddress(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: "isoscope: the address of a service",
    placeHolder: "http://127.0.0.1:8181/TOKEN=/",
    validateInput: (text) => (/^(https?|wss?):\/\/\S+$/.test(text.trim()) ? "" : "It looks like http://127.0.0.1:8181/TOKEN=/"),
  });
}

async function askFile(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: "isoscope: a session or an info file",
    filters: { "Sessions and info files": ["isoscope", "json"], "All files": ["*"] },
  });
  return files?.[0]?.fsPath;
}
