// Texts that are open, and where the lines that were built are in them now.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { GONE, mapLines } from "../core/line_map";
import { isDefinedAt } from "./defined_at";

const EDITED_MOST = 400; // lines around where a function was, in which it is looked for by its name

interface Open {
  document: TextDocument;
  version: number; // that lines are of
  lines: string[];
  built: string[] | null; // what was built; null: not known
  builtTime_ms: number; // of the file that it was read from
  map: Int32Array | null; // from lines of built; null: not made yet
}

/** The path of a document; null: it is no file. */
export function pathOf(uri: string): string | null {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : null;
  } catch {
    return null;
  }
}

export class Documents {
  #open = new Map<string, Open>();

  opened(document: TextDocument): void {
    this.#open.set(document.uri, { document, version: -1, lines: [], built: null, builtTime_ms: 0, map: null });
  }

  closed({ uri }: TextDocument): void {
    this.#open.delete(uri);
  }

  get uris(): string[] {
    return [...this.#open.keys()];
  }

  /** Of its text; -1: it is not open. */
  versionOf(uri: string): number {
    return this.#open.get(uri)?.document.version ?? -1;
  }

  /** Of the document that is open of a file; undefined: none is. */
  uriOf(path: string): string | undefined {
    return this.uris.find((uri) => pathOf(uri) === path);
  }

  /** The file, as of mtime_ms, is what was built; what the document says may be something else by now. */
  isBuilt(uri: string, path: string, mtime_ms: number): void {
    const one = this.#open.get(uri);
    if (!one || one.builtTime_ms === mtime_ms) return;
    one.built = linesOf(readFileSync(path, "utf8"));
    one.builtTime_ms = mtime_ms;
    one.map = null;
  }

  /** Is it known what was built? */
  knowsBuilt(uri: string): boolean {
    return Boolean(this.#open.get(uri)?.built);
  }

  /** Where a line that was built is now, both from 1 on; 0: it is not there, or nobody knows. */
  lineOf(uri: string, line: number): number {
    const now = this.#map(uri)?.[line - 1];
    return now === undefined || now === GONE ? 0 : now + 1;
  }

  /** Near a line, from 1 on: the nearest one at which a function of that name is defined; 0: none is. */
  lineNamed(uri: string, name: string, line: number): number {
    const lines = this.#current(uri)?.lines ?? [];
    for (let away = 0; away <= EDITED_MOST; away++)
      for (const at of [line - away, line + away])
        if (isDefinedAt(lines, at - 1, name)) return at;
    return 0;
  }

  text(uri: string, line: number): string {
    return this.#current(uri)?.lines[line - 1] ?? "";
  }

  /** Is it another text than what was built? */
  isEdited(uri: string): boolean {
    const one = this.#current(uri);
    const map = this.#map(uri);
    return Boolean(one && map && (map.length !== one.lines.length || map.some((now, line) => now !== line)));
  }

  #map(uri: string): Int32Array | null {
    const one = this.#current(uri);
    if (!one?.built) return null;
    return (one.map ??= mapLines(one.built, one.lines));
  }

  #current(uri: string): Open | undefined {
    const one = this.#open.get(uri);
    if (one && one.version !== one.document.version) {
      one.version = one.document.version;
      one.lines = linesOf(one.document.getText());
      one.map = null;
    }
    return one;
  }
}

const linesOf = (text: string) => text.split(/\r?\n/);
