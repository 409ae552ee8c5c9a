// The page of a service in a tab, one for each service.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { FromPage, ToPage } from "./messages";
import { PAGE_FILES, type PageFiles, pageHtml, partsOf, socketOf } from "./page_html";
import { Sockets } from "./sockets";

const PATIENCE_MS = 10_000;

export class PagePanels implements vscode.Disposable {
  #panels = new Map<string, vscode.WebviewPanel>(); // by address
  #isOutside = false;

  /** dist: the folder of the extension's scripts. */
  constructor(private readonly dist: string) {}

  /** uri: with the service's token. Throws an Error in words for the user. */
  async open(uri: string): Promise<void> {
    const { base, look } = partsOf(uri);
    if (this.#isOutside) {
      await vscode.env.openExternal(await vscode.env.asExternalUri(vscode.Uri.parse(uri)));
      return;
    }
    const panel = this.#panels.get(base);
    if (!panel) return this.#create(base, look);
    panel.reveal();
    if (look) void panel.webview.postMessage({ look } satisfies ToPage);
  }

  /** What is opened by the work is so in the browser. */
  async outside(work: () => Promise<unknown>): Promise<void> {
    this.#isOutside = true;
    try {
      await work();
    } finally {
      this.#isOutside = false;
    }
  }

  async #create(base: string, look: string): Promise<void> {
    const { host } = new URL(base);
    const files = await pageFiles(base);
    const panel = vscode.window.createWebviewPanel("isoscope.page", `isoscope: ${host}`, vscode.ViewColumn.Active, {
      enableScripts: true,
      retainContextWhenHidden: true, // it holds a profile
      localResourceRoots: [],
    });
    const sockets = new Sockets(socketOf(base), (message) => void panel.webview.postMessage(message));
    this.#panels.set(base, panel);
    panel.onDidDispose(() => {
      this.#panels.delete(base);
      sockets.close();
    });
    panel.webview.onDidReceiveMessage((message: FromPage) => sockets.take(message));
    const script = (name: string) => readFileSync(join(this.dist, `${name}.js`), "utf8");
    panel.webview.html = pageHtml({ files, start: script("start"), socket: script("socket"), look, host });
  }

  dispose(): void {
    for (const panel of this.#panels.values()) panel.dispose();
  }
}

async function pageFiles(base: string): Promise<PageFiles> {
  const read = async (name: string): Promise<[string, string]> => {
    const answer = await fetch(new URL(name, base), { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(`${new URL(base).host} does not send its page: ${answer.status} ${await answer.text()}`);
    return [name, await answer.text()];
  };
  try {
    return Object.fromEntries(await Promise.all(PAGE_FILES.map(read))) as PageFiles;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(
      `${new URL(base).host} does not answer: it has ended with its program. "options": ["--keep"] in the launch configuration keeps it`,
    );
  }
}
