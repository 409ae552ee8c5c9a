// The language server: an editor's requests, answered from what is shown.
import {
  type Connection,
  type InitializeParams,
  type InitializeResult,
  ResponseError,
  ErrorCodes,
  TextDocuments,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { isUri, uriInFile } from "../core/address";
import type { Found } from "../core/find";
import type { Launch } from "../core/open";
import { Problem, textOf } from "../core/problem";
import { plain } from "../core/safe_text";
import { SourceMap } from "../core/source_map";
import { COMMANDS } from "./command_names";
import { type Context, HANDLERS, wordsOf } from "./commands";
import { CpuRate } from "./cpu_rate";
import { Documents, pathOf } from "./documents";
import { Editor } from "./editor";
import { Views } from "./file_view";
import { Finder } from "./finder";
import { diagnostics, inlayHints } from "./hints";
import { hoverText, lineText, meant, stallText, wordAt } from "./hover";
import { lensesOf } from "./lenses";
import { linksOf } from "./links";
import { linesIn, overviewOf } from "./overview";
import { REQUESTS } from "./own_messages";
import { Places } from "./places";
import { type Settings, withOptions } from "./settings";
import { Shown } from "./shown";
import { statusOf } from "./status";
import { hotSymbols } from "./symbols";

const LOOK_MS = 1000;

export function serve(connection: Connection, settings: Settings): void {
  new Server(connection, settings).listen();
}

class Server {
  readonly #texts = new TextDocuments(TextDocument);
  readonly #documents = new Documents();
  readonly #editor: Editor;
  #settings: Settings;
  #roots: string[] = [];
  #sources = new SourceMap([], []);
  #shown: Shown;
  #views: Views;
  #finder: Finder | null = null;
  #cpu = new CpuRate();
  #isPinned = false; // the user said what is to be shown
  #watch: ReturnType<typeof setInterval> | undefined; // of the info file that it was said by

  constructor(
    private readonly connection: Connection,
    settings: Settings,
  ) {
    this.#settings = settings;
    this.#editor = new Editor(connection, () => this.#publish());
    this.#shown = this.#newShown();
    this.#views = new Views(this.#shown, this.#documents);
  }

  #newShown(): Shown {
    return new Shown(this.#sources, {
      changed: () => this.#editor.changed(),
      problem: (text) => this.#editor.warn(text),
      output: (text, { id }) => {
        this.#editor.log(plain(text.trimEnd()));
        this.#editor.tell("output", { id, text });
      },
      ended: (status, { id }) => this.#editor.tell("ended", { id, status }),
    });
  }

  listen(): void {
    const { connection } = this;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => void this.#begin());
    connection.onShutdown(() => this.#end());
    connection.onCodeLens(({ textDocument: { uri } }) => lensesOf(this.#shown, this.#views.of(uri)));
    connection.languages.inlayHint.on(({ textDocument: { uri }, range }) =>
      inlayHints(this.#views.of(uri), this.#documents, uri, this.#settings.hot, range),
    );
    connection.onHover(({ textDocument: { uri }, position }) => this.#hover(uri, position.line + 1, position.character));
    connection.onWorkspaceSymbol(({ query }) => hotSymbols(this.#shown.reading?.functions ?? [], this.#places(), query));
    connection.onDocumentLinks(({ textDocument: { uri } }) => linksOf(this.#shown, this.#views.of(uri), this.#documents, uri));
    connection.onRequest(REQUESTS.overview, () => overviewOf(this.#shown, this.#roots, this.#places(), this.#cpuNow()));
    connection.onRequest(REQUESTS.lines, (params: unknown) => linesIn(this.#views.of(String(Object(params).uri))));
    connection.onExecuteCommand(({ command, arguments: words = [] }) => this.#command(command, words));
    this.#texts.onDidOpen(({ document }) => {
      this.#documents.opened(document);
      this.#publish();
    });
    this.#texts.onDidChangeContent(() => this.#editor.changed());
    this.#texts.onDidSave(() => this.#editor.changed());
    this.#texts.onDidClose(({ document }) => {
      this.#documents.closed(document);
      this.#views.closed(document.uri);
    });
    this.#texts.listen(connection);
    connection.listen();
  }

  #initialize({ capabilities, rootUri, workspaceFolders, initializationOptions }: InitializeParams): InitializeResult {
    this.#editor.capabilities = capabilities;
    const folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    try {
      this.#settings = withOptions(this.#settings, initializationOptions);
    } catch (error) {
      throw new ResponseError(ErrorCodes.InvalidParams, `initializationOptions: ${textOf(error)}`);
    }
    const roots = folders.map(pathOf).filter((path) => path !== null);
    this.#sources = new SourceMap(this.#settings.mappings, roots);
    this.#roots = roots.map((path) => this.#sources.real(path));
    this.#shown = this.#newShown();
    this.#views = new Views(this.#shown, this.#documents);
    return {
      serverInfo: { name: "isoscope" },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        codeLensProvider: {},
        inlayHintProvider: true,
        hoverProvider: true,
        workspaceSymbolProvider: true,
        documentLinkProvider: {},
        executeCommandProvider: { commands: Object.values(COMMANDS) },
      },
    };
  }

  async #begin(): Promise<void> {
    const finder = new Finder(this.#roots, {
      isWanted: () => !this.#isPinned && this.#shown.hasEnded,
      found: (one) => this.#said(this.#open(one.base, false)),
      choose: (all) => this.#choose(all),
    });
    this.#finder = finder;
    if (this.#settings.source) await this.#said(this.#open(this.#settings.source, true));
    finder.start();
  }

  /** isPinned: the user said so, and no other one takes its place by itself. */
  async #open(source: string, isPinned: boolean): Promise<void> {
    if (isPinned) this.#watchInfo(source);
    await this.#shows("isoscope: reading samples", isPinned, () => this.#shown.open(source));
  }

  async #run(launch: Launch): Promise<void> {
    clearInterval(this.#watch);
    await this.#shows(`isoscope: starting ${plain(launch.program)}`, true, () => this.#shown.run(launch));
  }

  /** A file that says where the service is says so again when that is started anew. */
  #watchInfo(source: string): void {
    clearInterval(this.#watch);
    let before = isUri(source) ? source : uriInFile(source);
    if (before === source) return;
    this.#watch = setInterval(() => {
      const uri = uriInFile(source);
      if (!uri || uri === before) return;
      before = uri;
      void this.#said(this.#shows("isoscope: reading samples", true, () => this.#shown.open(uri)));
    }, LOOK_MS);
  }

  async #choose(all: readonly Found[]): Promise<Found | null> {
    const at = await this.#editor.choose("isoscope: several services run. Which one shall be shown?", all.map(wordsOf));
    if (at === null) this.#editor.warn(`${all.length} services run; isoscope.attach shows one of them: ${all.map(wordsOf).join(", ")}`);
    return at === null ? null : all[at];
  }

  /** What nobody asked for by a command, whose answer says why it failed. */
  async #said(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => this.#editor.warn(textOf(error)));
  }

  async #shows(title: string, isPinned: boolean, open: () => Promise<void>): Promise<void> {
    const wasPinned = this.#isPinned;
    this.#isPinned ||= isPinned; // at once: a program that is run is not found beside that
    await this.#editor.withProgress(title, open).catch((error: unknown) => {
      this.#isPinned = wasPinned;
      throw error;
    });
    this.#isPinned = isPinned;
    const { base } = this.#shown.profile ?? {};
    if (base) this.#finder?.known(base);
    const { text, problems } = statusOf(this.#shown, this.#roots);
    this.#editor.log(text);
    for (const problem of problems) this.#editor.warn(problem);
  }

  async #end(): Promise<void> {
    this.#finder?.stop();
    clearInterval(this.#watch);
    this.#editor.stop();
    await this.#shown.close();
  }

  #places(): Places {
    return new Places(this.#shown, this.#documents, this.#views);
  }

  /** null: in a window of time there is no now. */
  #cpuNow(): number | null {
    const { reading, filter } = this.#shown;
    if (filter.window_us) this.#cpu.forget();
    return filter.window_us ? null : this.#cpu.next(reading?.whole.time_ns ?? 0, Date.now());
  }

  #hover(uri: string, line: number, character: number) {
    const view = this.#views.of(uri);
    const word = wordAt(this.#documents.text(uri, line), character);
    const facts = meant(this.#shown, view, line, word);
    const isMarkdown = this.#editor.readsMarkdown;
    const value = facts.length
      ? hoverText(this.#shown, facts, isMarkdown)
      : stallText(this.#shown, word, isMarkdown) || lineText(view, line);
    return value ? { contents: { kind: isMarkdown ? ("markdown" as const) : ("plaintext" as const), value } } : null;
  }

  /** For editors that know no inlay hints. */
  #publish(): void {
    if (this.#editor.hasInlayHints) return;
    for (const uri of this.#documents.uris) {
      const found = diagnostics(this.#views.of(uri), this.#documents, uri, this.#settings.hot);
      void this.connection.sendDiagnostics({ uri, diagnostics: found });
    }
  }

  async #command(command: string, words: readonly unknown[]): Promise<unknown> {
    const handler = HANDLERS[command];
    if (!handler) throw new ResponseError(ErrorCodes.InvalidParams, `there is no command ${command}`);
    try {
      return await handler(this.#context(), words);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new ResponseError(ErrorCodes.InvalidRequest, error.message);
    }
  }

  #context(): Context {
    return {
      shown: this.#shown,
      roots: this.#roots,
      launches: this.#settings.launches,
      alive: async () => (await this.#finder?.alive()) ?? [],
      choose: (question, texts) => this.#editor.choose(question, texts),
      open: (source) => this.#open(source, true),
      run: (launch) => this.#run(launch),
      openPage: (uri) => this.#editor.openPage(uri),
    };
  }
}
