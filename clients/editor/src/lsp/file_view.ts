// What is shown in one open document: functions and hot lines, at the lines where they are in it now.
//
//   the file is what was built             lines are the profile's
//   it was, and was edited since           lines that are still the same text, to the letter; others are left out
//   it changed before anybody saw it       functions by their names, marked as stale; no line at all
import type { FunctionFact, LineFact } from "../core/reading";
import type { Documents } from "./documents";
import type { Shown } from "./shown";

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

/** null: no sample fell into it. */
export function viewOf(shown: Shown, documents: Documents, uri: string, path: string): FileView | null {
  const { reading, profile } = shown;
  const inFile = shown.inFile(path);
  if (!reading || !profile || !inFile) return null;
  const { names, functions } = inFile;
  const module = heaviest(functions)?.modulePath ?? "";
  const fresh = shown.freshnesses.of(profile, path, module);
  if (!fresh.isStale) documents.isBuilt(uri, path, fresh.mtime_ms);
  const isByName = !documents.knowsBuilt(uri);
  const edited = documents.isEdited(uri) ? "edited after the program was built" : "";
  const place = ({ name, line }: FunctionFact) =>
    isByName ? documents.lineNamed(uri, lastName(name), line) : documents.lineOf(uri, line);
  const placed = functions.map((fact) => ({ fact, line: place(fact) }));
  const found = placed.filter(({ line }) => line > 0);
  const lines = (least: number) =>
    names
      .flatMap((name) => reading.lines(name).filter(({ total }) => total > 0 && total >= least))
      .map((fact) => ({ fact, line: documents.lineOf(uri, fact.line) }))
      .filter(({ line }) => line > 0);
  return {
    stale: isByName ? fresh.why : edited,
    isByName,
    functions: found,
    leftOut: placed.length - found.length,
    lines: isByName ? () => NOTHING : lines,
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
