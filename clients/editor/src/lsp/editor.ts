// The editor at the other end: what it can do, and how it is told that there is something new.
import { type ClientCapabilities, type Connection, MessageType, ShowMessageNotification } from "vscode-languageserver/node";
import { plain } from "../core/safe_text";
import { NOTIFICATIONS } from "./own_messages";

const TELL_MS = 500; // at most so often is it asked to draw anew

export class Editor {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #said = new Set<string>();
  capabilities: ClientCapabilities = {};

  constructor(
    private readonly connection: Connection,
    private readonly publish: () => void,
  ) {}

  get hasInlayHints(): boolean {
    return Boolean(this.capabilities.textDocument?.inlayHint);
  }

  /** It has views of its own, and wants to be told what they need. */
  get #listens(): boolean {
    return Boolean(Object(this.capabilities.experimental).isoscope);
  }

  get readsMarkdown(): boolean {
    return this.capabilities.textDocument?.hover?.contentFormat?.includes("markdown") ?? false;
  }

  /** Samples came, or others are shown: soon, and once for many changes. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#refresh();
    }, TELL_MS);
  }

  #refresh(): void {
    const { workspace } = this.capabilities;
    const { languages } = this.connection;
    const failed = () => {}; // it is closing
    if (workspace?.codeLens?.refreshSupport) this.connection.sendRequest("workspace/codeLens/refresh").catch(failed);
    if (workspace?.inlayHint?.refreshSupport) languages.inlayHint.refresh().catch(failed);
    this.tell("changed", {});
    this.publish();
  }

  tell(what: keyof typeof NOTIFICATIONS, params: object): void {
    if (this.#listens) this.connection.sendNotification(NOTIFICATIONS[what], params).catch(() => {}); // it is closing
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  log(text: string): void {
    this.connection.console.log(text);
  }

  /** Once, however often it is met. */
  warn(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    const message = `isoscope: ${text}`; // nothing is asked
    void this.connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Warning, message });
  }

  /** The place of one of texts; null: none was chosen. */
  async choose(question: string, texts: readonly string[]): Promise<number | null> {
    const actions = texts.map((title) => ({ title: plain(title) }));
    try {
      const chosen = await this.connection.window.showInformationMessage(question, ...actions);
      const at = actions.findIndex(({ title }) => title === chosen?.title);
      return at < 0 ? null : at;
    } catch {
      return null; // it cannot ask
    }
  }

  async withProgress(title: string, work: () => Promise<void>): Promise<void> {
    if (!this.capabilities.window?.workDoneProgress) return work();
    const progress = await this.connection.window.createWorkDoneProgress();
    progress.begin(title);
    try {
      await work();
    } finally {
      progress.done();
    }
  }

  async openPage(uri: string): Promise<void> {
    if (!this.capabilities.window?.showDocument?.support) return; // the command's answer is the URI
    await this.connection.window.showDocument({ uri, external: true });
  }
}
