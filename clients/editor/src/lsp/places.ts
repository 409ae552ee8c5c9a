// Where functions are here, whichever files they are in: as the document that is open has them, or else as they were built.
import type { FunctionFact } from "../core/reading";
import type { Documents } from "./documents";
import type { Views } from "./file_view";
import type { Shown } from "./shown";

export interface FilePlace {
  path: string;
  line: number; // from 1 on; 0: it has none any more, and the file is shown from its start
  isStale: boolean;
}

type LineOf = (fact: FunctionFact) => Omit<FilePlace, "path">;

/** Asked for many functions of one moment. */
export class Places {
  #files = new Map<string, LineOf>(); // by path

  constructor(
    private readonly shown: Shown,
    private readonly documents: Documents,
    private readonly views: Views,
  ) {}

  /** null: its file or its line is not known, or the file is not here. */
  of(fact: FunctionFact): FilePlace | null {
    const path = fact.line > 0 ? this.shown.sources.local(fact.file) : null;
    if (!path) return null;
    const lineOf = this.#files.get(path) ?? this.#inFile(path);
    this.#files.set(path, lineOf);
    return { path, ...lineOf(fact) };
  }

  #inFile(path: string): LineOf {
    const { profile, freshnesses } = this.shown;
    const uri = this.documents.uriOf(path);
    const view = uri ? this.views.of(uri) : null;
    if (!view)
      return ({ line, modulePath }) => {
        const isStale = !profile || freshnesses.of(profile, path, modulePath).isStale;
        return { line: isStale ? 0 : line, isStale };
      };
    const lines = new Map(view.functions.map(({ fact, line }) => [fact.fn, line]));
    return ({ fn }) => {
      const line = lines.get(fn) ?? 0;
      return { line, isStale: !line || view.isByName };
    };
  }
}
