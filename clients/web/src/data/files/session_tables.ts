// What a session file says of modules, functions, threads and processes, and what a frame is in the source.
//
// A later entry takes the place of an earlier one of its number, and names come behind the samples that they are of:
// all tables are read before the first sample.
import { type Json, list, numberOf, record, textOf } from "./json";
import { columnsOf, Numbers } from "./session_columns";

/** A place of a chain: a number of function (0: not named), a line, whether it is inlined into the next, a file. */
export type Spot = [fn: number, line: number, inlined: number, file: number];

export class Tables {
  head: Json = {};
  settings: Json = {};
  state: Json = {};
  end: Json | null = null;
  readonly processes = new Map<number, Json>();
  readonly texts = new Map<string, string>(); // of source files, by path
  readonly threads = new Map<number, unknown[]>();
  readonly names = new Map<number, string>();
  readonly files = new Map<number, string>();
  readonly modules = new Map<number, Json>([[0, { path: "[unknown]" }]]);
  readonly functions = new Map<number, Record<string, unknown>>();
  readonly same = new Map<number, number>();
  readonly chains = new Map<string, Spot[]>();
  #lastSpots = new Map<number, Spot>(); // of each function

  add(type: string, told: Json): void {
    switch (type) {
      case "HEAD":
        this.head = told;
        break;
      case "SETT":
        this.settings = told;
        break;
      case "STAT":
        this.state = told;
        break;
      case "ENDS":
        this.end = told;
        break;
      case "PROC":
        for (const one of records("processes", told)) this.processes.set(numberOf("id", one.id), one);
        break;
      case "MODS":
        for (const one of records("modules", told)) this.modules.set(numberOf("number", one.number), one);
        break;
      case "THRD":
        for (const row of rows("threads", told)) this.threads.set(numberOf("a thread", row[0]), row);
        break;
      case "NAME":
        for (const [number, text] of rows("names", told)) this.names.set(numberOf("a name", number), textOf(text));
        break;
      case "FUNC":
        this.#addFunctions(told);
    }
  }

  #addFunctions(told: Json): void {
    for (const [number, path] of rows("files", told)) this.files.set(numberOf("a file", number), textOf(path));
    for (const [number, root] of rows("same", told))
      this.same.set(numberOf("a function", number), numberOf("a function", root));
    const columns = record("functions", told.functions);
    list("number", columns.number).forEach((number, i) => {
      const one: Record<string, unknown> = {};
      for (const [name, column] of Object.entries(columns)) one[name] = list(name, column)[i];
      this.functions.set(numberOf("a function", number), one);
    });
  }

  /** A path, a 0, and the text. */
  addSource(content: Uint8Array): void {
    const end = content.indexOf(0);
    if (end < 0) throw new RangeError("it has no path");
    const text = (from: number, to?: number) => new TextDecoder().decode(content.subarray(from, to));
    this.texts.set(text(0, end), text(end + 1));
  }

  addChains(content: Uint8Array): void {
    const [counts, modules, offsets, lengths, functions, lines, inlined, files] = columnsOf(content, 8).map(
      (column) => new Numbers(column),
    );
    let offset = 0;
    for (let left = counts.next(); left > 0; left--) {
      const module = modules.next();
      offset += offsets.signed();
      const chain: Spot[] = [];
      for (let places = lengths.next(); places > 0; places--) {
        const fn = functions.next();
        const [, lineBefore, , fileBefore] = this.#lastSpots.get(fn) ?? [0, 0, 0, 0];
        const file = files.next();
        const spot: Spot = [fn, lineBefore + lines.signed(), inlined.next(), file ? file - 1 : fileBefore];
        this.#lastSpots.set(fn, spot);
        chain.push(spot);
      }
      this.chains.set(`${module}/${offset}`, chain);
    }
    for (const column of [counts, modules, offsets, lengths, functions, lines, inlined, files]) column.end();
  }

  whoIs(thread: number): { pid: number; tid: number; name: string } {
    const [, process, tid, name] = within("thread", this.threads, thread);
    return { pid: pidOf(process), tid: numberOf("tid", tid), name: textOf(name) };
  }
}

/** Of a process' id, which is its pid, or tells it from others that had the same: as isolate ids in the page. */
export function pidOf(id: unknown): number {
  return numberOf("process", id);
}

export function within<T>(what: string, table: ReadonlyMap<number, T>, number: number): T {
  const found = table.get(number);
  if (found === undefined) throw new RangeError(`there is no ${what} ${number}`);
  return found;
}

function records(name: string, told: Json): Json[] {
  return list(name, told[name]).map((one) => record(`one of '${name}'`, one));
}

function rows(name: string, told: Json): unknown[][] {
  return list(name, told[name]).map((row) => list(`one of '${name}'`, row));
}
