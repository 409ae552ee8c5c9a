// Starts the page in a webview. Its files stand in it, each as gzip in base64; modules become data addresses, for a
// worker here can be of no other. The worker's sockets go on to the extension.
import type { ToPage } from "../page/messages";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const extension = acquireVsCodeApi();

async function file(name: string): Promise<string> {
  const bytes = Uint8Array.from(atob(document.getElementById(name)!.textContent!), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** urls: of the files that it imports, by name. */
async function module(name: string, urls: Record<string, string>, before = ""): Promise<string> {
  let text = before + (await file(name));
  for (const [other, url] of Object.entries(urls)) text = text.replaceAll(`"./${other}"`, `"${url}"`);
  const reader = new FileReader();
  reader.readAsDataURL(new Blob([text], { type: "text/javascript;charset=utf-8" }));
  await new Promise((done) => (reader.onload = done));
  return reader.result as string;
}

/** The page's worker, which is given a way to the extension before anything else. */
class ConnectedWorker extends Worker {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, options);
    const { port1, port2 } = new MessageChannel();
    this.postMessage("port", [port2]);
    port1.onmessage = ({ data }) => extension.postMessage(data);
    addEventListener("message", ({ data }: { data: ToPage }) => {
      if (data && typeof data === "object" && "socket" in data) port1.postMessage(data);
    });
  }
}

async function start(): Promise<void> {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${await file("app.css")}\nbody { padding: 0; }`); // VS Code gives it some
  document.adoptedStyleSheets = [sheet];
  addEventListener("message", ({ data }: { data: ToPage }) => {
    if (data && typeof data === "object" && "look" in data) location.hash = data.look;
  });
  window.Worker = ConnectedWorker;
  const chunk = await module("chunk.js", {});
  const later = await module("later.js", { "chunk.js": chunk });
  await import(await module("app.js", { "chunk.js": chunk, "later.js": later }, `${await file("socket.js")};`));
}

start().catch((error: Error) => {
  document.getElementById("page")!.textContent = `The page does not start here: ${error.message}`;
});
