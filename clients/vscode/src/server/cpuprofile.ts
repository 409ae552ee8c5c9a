// A profile as a .cpuprofile, which VS Code's own viewer shows.
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import type { LanguageServer } from "./language_server";

const FORMAT = "cpuprofile";

export function registerCpuprofile(server: LanguageServer): vscode.Disposable {
  return vscode.commands.registerCommand("isoscope.exportCpuprofile", async (file: unknown) => {
    try {
      await exportCpuprofile(server, file instanceof vscode.Uri ? file.fsPath : undefined);
    } catch (error) {
      void vscode.window.showErrorMessage(`isoscope: ${(error as Error).message}`);
    }
  });
}

/** file: a session or another profile; without one, what is shown. */
async function exportCpuprofile(server: LanguageServer, file?: string): Promise<void> {
  const source = file ? basename(file) : server.overview?.status.source;
  if (!source) throw new Error("there is no profile to export: run a program, or attach to a service or a session");
  const name = `${source.replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "_")}.${FORMAT}`;
  const folder = file ? dirname(file) : (vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "");
  const out = await vscode.window.showSaveDialog({
    title: "isoscope: the .cpuprofile to write",
    defaultUri: vscode.Uri.file(join(folder, name)),
    filters: { "CPU profiles": [FORMAT] },
  });
  if (!out) return;
  const made = await server.command<string[]>("isoscope.export", out.fsPath, FORMAT, ...(file ? [file] : []));
  const chosen = made.length > 1 ? await chooseThread(made) : made[0];
  if (chosen) await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(chosen));
}

/** Such a file holds one thread. */
async function chooseThread(made: string[]): Promise<string | undefined> {
  const choices = made.map((path) => ({ label: basename(path), path }));
  return (await vscode.window.showQuickPick(choices, { title: "isoscope: a file for each thread was written; open which one?" }))?.path;
}
