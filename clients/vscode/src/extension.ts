// The extension: the language server, and what VS Code shows of it.
import { dirname } from "node:path";
import * as vscode from "vscode";
import { registerDebugging } from "./launch/debugging";
import { registerProfileLens } from "./launch/profile_lens";
import { registerFileEditors } from "./page/file_editor";
import { PagePanels } from "./page/panels";
import { middlewareFor } from "./server/commands";
import { registerCpuprofile } from "./server/cpuprofile";
import { LanguageServer } from "./server/language_server";
import { Gutter } from "./views/gutter";
import { registerStatusBar } from "./views/status_bar";
import { registerTrees } from "./views/trees";

interface Contributed {
  contributes: { commands: { command: string; title: string }[] };
}

/** Settings that the server is started with. */
const OF_SERVER = ["command", "source", "sourceMap", "hot"].map((name) => `isoscope.${name}`);

export async function activate({ subscriptions, extension }: vscode.ExtensionContext): Promise<void> {
  const { commands } = (extension.packageJSON as Contributed).contributes;
  const pages = new PagePanels(dirname(__filename));
  const server = new LanguageServer(middlewareFor(() => server, pages));
  const starter = new Starter(server, commands.map(({ command }) => command));
  subscriptions.push(
    ...[server, pages, starter, new Gutter(server)],
    ...[registerTrees(server), registerDebugging(server), registerFileEditors()],
    ...[registerProfileLens(), registerCpuprofile(server)],
    registerStatusBar(server, new Map(commands.map(({ command, title }) => [command, title]))),
    vscode.commands.registerCommand("isoscope.openPageOutside", () =>
      pages.outside(async () => vscode.commands.executeCommand("isoscope.openPage")),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (OF_SERVER.some((name) => event.affectsConfiguration(name))) void starter.restart();
    }),
  );
  await starter.start();
}

/** Commands are the client's while the server runs. When it could not be started each of them tries again. */
class Starter implements vscode.Disposable {
  #fallbacks: vscode.Disposable[] = [];

  constructor(
    private readonly server: LanguageServer,
    private readonly commands: readonly string[],
  ) {}

  start = () => this.#tried(() => this.server.start());

  restart = () => this.#tried(() => this.server.restart());

  async #tried(start: () => Promise<void>): Promise<void> {
    this.dispose();
    try {
      await start();
    } catch (error) {
      const known = new Set(await vscode.commands.getCommands(true));
      const missing = this.commands.filter((command) => !known.has(command));
      this.#fallbacks = missing.map((command) => vscode.commands.registerCommand(command, this.restart));
      void this.#say((error as Error).message);
    }
  }

  async #say(text: string): Promise<void> {
    const settings = "Open Settings";
    if ((await vscode.window.showErrorMessage(`isoscope: ${text}`, settings)) !== settings) return;
    await vscode.commands.executeCommand("workbench.action.openSettings", "isoscope.command");
  }

  dispose(): void {
    for (const one of this.#fallbacks) one.dispose();
    this.#fallbacks = [];
  }
}
