// The page as a webview shows it: all of it stands in one text, for a webview loads nothing of a service's. Its policy
// allows no connection at all; what it asks the service goes through the extension, and so the token stays there.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** Files of the page that the service sends, by name. The last is for "save as one page". */
export const PAGE_FILES = ["app.css", "app.js", "chunk.js", "later.js", "one_page.html"] as const;

export type PageFiles = Record<(typeof PAGE_FILES)[number], string>;

export interface PageParts {
  files: PageFiles;
  start: string; // the script that starts it
  socket: string; // what its worker has in place of a WebSocket
  look: string; // the fragment that it opens at; "": as ever
  host: string; // of the service, for people
}

const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]);
const packed = (text: string) => gzipSync(text).toString("base64");
const held = (name: string, text: string) => `<script type="application/octet-stream" id="${name}">${packed(text)}</script>`;

export function pageHtml({ files, start, socket, look, host }: PageParts): string {
  const script = start.trim();
  const hash = createHash("sha256").update(script).digest("base64");
  const policy =
    `default-src 'none'; script-src 'sha256-${hash}' data:; worker-src data:; img-src data: blob:; ` +
    "base-uri 'none'; form-action 'none'";
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="data:," />
    <title>${escaped(host)} · isoscope</title>
  </head>
  <body>
    <div id="page" data-look="${escaped(look)}"></div>
    ${PAGE_FILES.map((name) => held(name, files[name])).join("\n    ")}
    ${held("socket.js", socket)}
    <script>${script}</script>
  </body>
</html>
`;
}

/** What a URI of the page says: the service's address with its token, and the look. */
export function partsOf(uri: string): { base: string; look: string } {
  const { origin, pathname, hash } = new URL(uri);
  return { base: `${origin}${pathname.replace(/[^/]*$/, "")}`, look: hash };
}

export function socketOf(base: string): string {
  const url = new URL("ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
