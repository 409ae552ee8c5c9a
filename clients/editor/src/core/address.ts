// Where a service is: its URI, or the file that `isoscope run --write-service-info` wrote.
import { readFileSync, statSync } from "node:fs";
import { Problem } from "./problem";

const INFO_BYTES_MAX = 4096; // one line; profiles are longer
const IS_URI = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/|unix:)/;
const SCHEMES = new Map([["http:", "http:"], ["https:", "https:"], ["ws:", "http:"], ["wss:", "https:"]]);

export const isUri = (text: string) => IS_URI.test(text);

/** The address that ends in "/TOKEN=/", as the page has it. */
export function baseOf(uri: string): string {
  if (uri.startsWith("unix:")) throw new Problem(`${uri}: editors need a port; start the program without --socket`);
  let parsed: URL;
  try {
    parsed = new URL(uri.trim());
  } catch {
    throw new Problem(`'${uri}' is not the URI of a service; it looks like http://127.0.0.1:8181/TOKEN=/`);
  }
  const scheme = SCHEMES.get(parsed.protocol);
  if (!scheme || !parsed.hostname)
    throw new Problem(`'${uri}' is not the URI of a service; it looks like http://127.0.0.1:8181/TOKEN=/`);
  const path = parsed.pathname.replace(/\/+$/, "").replace(/\/ws$/, "");
  return `${scheme}//${parsed.host}${path}/`;
}

/** Without its token, which is as good as a password. */
export const nameOf = (base: string) => new URL(base).host;

/** The URI in a service info file; null: it is another file, or none. */
export function uriInFile(path: string): string | null {
  try {
    const { size } = statSync(path);
    if (size > INFO_BYTES_MAX) return null;
    const { uri } = JSON.parse(readFileSync(path, "utf8")) as { uri?: unknown };
    return typeof uri === "string" && isUri(uri) ? uri : null;
  } catch {
    return null;
  }
}
