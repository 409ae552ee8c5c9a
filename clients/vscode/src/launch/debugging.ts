// The debug type isoscope in VS Code: its sessions run within the extension.
import * as vscode from "vscode";
import { entryOf } from "../model/launch_entry";
import type { LanguageServer } from "../server/language_server";
import type { Event, Request, Response } from "./messages";
import { Session } from "./session";

export function registerDebugging(server: LanguageServer): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.debug.registerDebugAdapterDescriptorFactory("isoscope", {
      createDebugAdapterDescriptor: ({ id }) => new vscode.DebugAdapterInlineImplementation(new Adapter(id, server)),
    }),
    vscode.debug.registerDebugConfigurationProvider("isoscope", { resolveDebugConfigurationWithSubstitutedVariables: checked }),
  );
}

/** Before a task is run for it: what is wrong with it is said at once. */
function checked(_folder: vscode.WorkspaceFolder | undefined, config: vscode.DebugConfiguration): vscode.DebugConfiguration | undefined {
  try {
    if (config.request === "launch") entryOf(config, "");
    return config;
  } catch (error) {
    void vscode.window.showErrorMessage(`isoscope: ${(error as Error).message}`);
    return undefined;
  }
}

class Adapter implements vscode.DebugAdapter {
  #sent = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
  #seq = 1;
  #session: Session;
  #listening: vscode.Disposable;
  readonly onDidSendMessage = this.#sent.event;

  constructor(id: string, server: LanguageServer) {
    const send = (message: Response | Event) => this.#sent.fire({ seq: this.#seq++, ...message });
    this.#session = new Session(id, server, send);
    this.#listening = vscode.Disposable.from(
      server.onOutput((output) => this.#session.output(output)),
      server.onEnded((ended) => this.#session.ended(ended)),
    );
  }

  handleMessage(message: vscode.DebugProtocolMessage): void {
    void this.#session.handle(message as Request);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#sent.dispose();
  }
}
