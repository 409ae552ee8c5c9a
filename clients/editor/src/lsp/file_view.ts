// What is shown in one open document: functions and hot lines, at the lines where they are in it now.
//
//   the file is what was built             lines are the profile's
//   it was, and was edited since           lines that are still the same text, to the letter; others are left out
//   it changed before anybody saw it       functions by their names, marked as stale; no line at all
import type { Freshness } from "../core/freshness";
import type { FunctionFact, LineFact, Reading } from "../core/reading";
import { type Documents, pathOf } from "./documents";
import type { InFile, Shown } from "./shown";

export interface PlacedFunction {
  fact: FunctionFact;
  line: number; // from 1 on, in the document
}

export interface PlacedLine {
  fact: LineFact;
  line: number;
}

export interface FileView {
  /** Why what is shown is not of this text; "": it is. */
  stale: string;
  /** By name only: the line may be another overload's. */
  isByName: boolean;
  functions: PlacedFunction[];
  leftOut: number; // functions with samples that have no line here any more
  lines(least: number): PlacedLine[]; // with so much of the total
}

const NOTHING: PlacedLine[] = [];

interface Kept {
  reading: Reading;
  version: number; // of the text
  mtime_ms: number;
  isStale: boolean;
  view: FileView;
}

export class Views {
  #kept = new Map<string, Kept>(); // of open documents: what is asked for again until something changes

  constructor(
    private readonly shown: Shown,
    private readonly documents: Documents,
  ) {}

  /** null: no sample fell into it, or it is no file. */
  of(uri: string): FileView | null {
    const path = pathOf(uri);
    const { reading, profile } = this.shown;
    const inFile = path && this.shown.inFile(path);
    if (!path || !reading || !profile || !inFile) return null;
    const fresh = this.shown.freshnesses.of(profile, path, heaviest(inFile.functions)?.modulePath ?? "");
    const version = this.documents.versionOf(uri);
    const last = this.#kept.get(uri);
    if (last && last.reading === reading && last.version === version && isLike(last, fresh)) return last.view;
    if (!fresh.isStale) this.documents.isBuilt(uri, path, fresh.mtime_ms);
    const view = viewOf(inFile, reading, this.documents, uri, fresh.why);
    this.#kept.set(uri, { reading, version, mtime_ms: fresh.mtime_ms, isStale: fresh.isStale, view });
    return view;
  }

  closed(uri: string): void {
    this.#kept.delete(uri);
  }
}

const isLike = (kept: Kept, { mtime_ms, isStale }: Freshness) => kept.mtime_ms === mtime_ms && kept.isStale === isStale;

function viewOf({ names, functions }: InFile, reading: Reading, documents: Documents, uri: string, why: string): FileView {
  const isByName = !documents.knowsBuilt(uri);
  const edited = documents.isEdited(uri) ? "edited after the program was built" : "";
  const place = ({ name, line }: FunctionFact) =>
    isByName ? documents.lineNamed(uri, lastName(name), line) : documents.lineOf(uri, line);
  const placed = functions.map((fact) => ({ fact, line: place(fact) }));
  const found = placed.filter(({ line }) => line > 0);
  let hot: PlacedLine[] | null = null;
  const all = () =>
    names
      .flatMap((name) => reading.lines(name).filter(({ total }) => total > 0))
      .map((fact) => ({ fact, line: documents.lineOf(uri, fact.line) }))
      .filter(({ line }) => line > 0);
  return {
    stale: isByName ? why : edited,
    isByName,
    functions: found,
    leftOut: placed.length - found.length,
    lines: (least) => (isByName ? NOTHING : (hot ??= all()).filter(({ fact }) => fact.total >= least)),
  };
}

function heaviest(functions: readonly FunctionFact[]): FunctionFact | undefined {
  return functions.reduce<FunctionFact | undefined>((best, one) => (best && best.total >= one.total ? best : one), undefined);
}

/** "insert" of "std::vector<int>::insert(int)": what stands in a text where it is defined. */
export function lastName(name: string): string {
  let text = name.replace(/^operator\b.*/, "");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(/<[^<>]*>/g, "").replace(/\([^()]*\)/g, "");
  }
  return /[\w$~]+(?=\W*$)/.exec(text.trim())?.[0] ?? name;
}
