// `isoscope lsp`, as VS Code's language client: it shows lenses, hints, hovers and symbols by itself. Here is what goes beyond.
import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import { LanguageClient, type Middleware, type StaticFeature } from "vscode-languageclient/node";
import {
  type Ended,
  type Lines,
  NOTIFICATIONS,
  type Output,
  type Overview,
  REQUESTS,
} from "../../../editor/src/lsp/own_messages";

const ASK_MS = 2000; // while a program runs, for the CPU that it uses now

const settings = () => vscode.workspace.getConfiguration("isoscope");

export class LanguageServer implements vscode.Disposable {
  #client: LanguageClient;
  #overview: Overview | null = null;
  #changed = new vscode.EventEmitter<void>();
  #output = new vscode.EventEmitter<Output>();
  #ended = new vscode.EventEmitter<Ended>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  #isAskedAgain = false;
  readonly onChanged = this.#changed.event; // the overview, or lines
  readonly onOutput = this.#output.event;
  readonly onEnded = this.#ended.event;

  constructor(middleware: Middleware) {
    this.#client = new LanguageClient("isoscope", "isoscope", () => started(), {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: () => {
        const { source, sourceMap, hot } = settings();
        return { source, sourceMap, hot };
      },
      middleware,
    });
    this.#client.registerFeature(listens);
    this.#client.onNotification(NOTIFICATIONS.changed, () => void this.#ask());
    this.#client.onNotification(NOTIFICATIONS.output, (output: Output) => this.#output.fire(output));
    this.#client.onNotification(NOTIFICATIONS.ended, (ended: Ended) => this.#ended.fire(ended));
  }

  get overview(): Overview | null {
    return this.#overview;
  }

  /** Throws an Error in words for the user. */
  async start(): Promise<void> {
    await this.#client.start();
    await this.#ask();
  }

  /** With the settings as they are now. */
  async restart(): Promise<void> {
    this.#overview = null;
    if (this.#client.isRunning()) await this.#client.stop();
    await this.start();
  }

  lines(document: vscode.TextDocument): Promise<Lines> {
    const uri = this.#client.code2ProtocolConverter.asUri(document.uri);
    return this.#client.sendRequest<Lines>(REQUESTS.lines, { uri });
  }

  /** A command of the server. Throws an Error in words for the user. */
  async command<Answer>(command: string, ...words: unknown[]): Promise<Answer> {
    if (!this.#client.isRunning()) throw new Error("`isoscope lsp` does not run; the setting isoscope.command says where isoscope is");
    return this.#client.sendRequest<Answer>("workspace/executeCommand", { command, arguments: words });
  }

  log(): void {
    this.#client.outputChannel.show();
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) {
      this.#isAskedAgain = true;
      return;
    }
    this.#isAsking = true;
    clearTimeout(this.#timer);
    try {
      this.#overview = await this.#client.sendRequest<Overview>(REQUESTS.overview);
      this.#changed.fire();
    } catch {
      this.#overview = null; // it has ended, and VS Code says so
    } finally {
      this.#isAsking = false;
    }
    if (this.#isAskedAgain || this.#overview?.isLive) this.#timer = setTimeout(() => void this.#ask(), this.#isAskedAgain ? 0 : ASK_MS);
    this.#isAskedAgain = false;
  }

  async dispose(): Promise<void> {
    clearTimeout(this.#timer);
    for (const emitter of [this.#changed, this.#output, this.#ended]) emitter.dispose();
    if (this.#client.isRunning()) await this.#client.stop();
  }
}

const listens: StaticFeature = {
  fillClientCapabilities: (capabilities) => void (capabilities.experimental = { isoscope: true }),
  initialize: () => {},
  getState: () => ({ kind: "static" }),
  clear: () => {},
};

function started(): Promise<ChildProcess> {
  const command = settings().get("command", "isoscope");
  const cwd = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri.fsPath;
  const child = spawn(command, ["lsp"], { ...(cwd && { cwd }) });
  return new Promise((resolve, reject) => {
    child.once("spawn", () => resolve(child));
    child.once("error", ({ message }) =>
      reject(new Error(`${command} cannot be started: ${message}. The setting isoscope.command says where it is`)),
    );
  });
}
