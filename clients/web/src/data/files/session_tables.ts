// What a session file says of modules, functions, threads and processes, and what a frame is in the source.
//
// A later entry takes the place of an earlier one of its number, and names come behind the samples that they are of:
// all tables are read before the first sample.
import type { Builder } from "./builder";
import { type Json, list, numberOf, record, textOf } from "./json";
import { columnsOf, Numbers } from "./session_columns";

/** A place of a chain: a number of function (0: not named), a line, whether it is inlined into the next, a file. */
type Spot = [fn: number, line: number, inlined: number, file: number];

const GAP = 1; // the offset, in no module, of frames that were left out
const KINDS: Record<string, string> = { jit: "Jit", interpreted: "Interpreted" };

export class Tables {
  head: Json = {};
  settings: Json = {};
  state: Json = {};
  end: Json | null = null;
  readonly processes = new Map<number, Json>();
  readonly texts = new Map<string, string>(); // of source files, by path
  #threads = new Map<number, unknown[]>();
  #names = new Map<number, string>();
  #files = new Map<number, string>();
  #modules = new Map<number, Json>([[0, { path: "[unknown]" }]]);
  #functions = new Map<number, Record<string, unknown>>();
  #same = new Map<number, number>();
  #chains = new Map<string, Spot[]>();
  #lastSpots = new Map<number, Spot>(); // of each function

  #libraries = new Map<number, number>();
  #made = new Map<number | string, number>(); // functions of the profile
  #places = new Map<string, Int32Array>();

  constructor(private readonly builder: Builder) {}

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
        for (const one of records("modules", told)) this.#modules.set(numberOf("number", one.number), one);
        break;
      case "THRD":
        for (const row of rows("threads", told)) this.#threads.set(numberOf("a thread", row[0]), row);
        break;
      case "NAME":
        for (const [number, text] of rows("names", told)) this.#names.set(numberOf("a name", number), textOf(text));
        break;
      case "FUNC":
        this.#addFunctions(told);
    }
  }

  #addFunctions(told: Json): void {
    for (const [number, path] of rows("files", told)) this.#files.set(numberOf("a file", number), textOf(path));
    for (const [number, root] of rows("same", told))
      this.#same.set(numberOf("a function", number), numberOf("a function", root));
    const columns = record("functions", told.functions);
    list("number", columns.number).forEach((number, i) => {
      const one: Record<string, unknown> = {};
      for (const [name, column] of Object.entries(columns)) one[name] = list(name, column)[i];
      this.#functions.set(numberOf("a function", number), one);
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
      this.#chains.set(`${module}/${offset}`, chain);
    }
    for (const column of [counts, modules, offsets, lengths, functions, lines, inlined, files]) column.end();
  }

  /** The profile's places of a frame, outermost first. */
  places(module: number, offset: number): Int32Array {
    const key = `${module}/${offset}`;
    let places = this.#places.get(key);
    if (!places) {
      const chain = this.#chains.get(key) ?? [[0, 0, 0, 0] satisfies Spot];
      const pc = this.#isNamed(module) || key === `0/${GAP}` ? undefined : offset;
      const made = chain.map(([number, line, inlined, file]) => {
        const fn = number ? this.#function(number) : this.#unnamed(module, offset);
        const path = file ? within("file", this.#files, file) : this.builder.profile.functions[fn].file;
        return this.builder.profile.place(fn, path, line, inlined ? 1 : 0, pc);
      });
      this.#places.set(key, (places = Int32Array.from(made.reverse())));
    }
    return places;
  }

  #function(number: number): number {
    for (let steps = this.#same.size; steps > 0 && this.#same.has(number); steps--)
      number = this.#same.get(number)!;
    let fn = this.#made.get(number);
    if (fn === undefined) {
      const one = within("function", this.#functions, number);
      const name = textOf(one.name);
      const module = numberOf("module", one.module);
      const runtime = this.#runtime(module);
      fn = this.builder.fn({
        name,
        library: this.#library(module),
        runtime,
        file: one.file ? within("file", this.#files, numberOf("file", one.file)) : "",
        line: numberOf("line", one.line),
        kind: runtime ? "Interpreted" : name.endsWith("@plt") ? "Stub" : "Native",
      });
      this.#made.set(number, fn);
    }
    return fn;
  }

  /** Of what nothing names: one function for each pc, or for each name that its program gave. */
  #unnamed(module: number, offset: number): number {
    const key = `${module}/${offset}`;
    let fn = this.#made.get(key);
    if (fn === undefined) {
      const library = this.#library(module);
      const named = textOf(within("module", this.#modules, module).names) !== "";
      const place = `${this.builder.profile.libraries[library].name}+0x${offset.toString(16)}`;
      const given = named ? within("name", this.#names, offset) : key === `0/${GAP}` ? "[frames left out]" : place;
      const kind = KINDS[textOf(within("module", this.#modules, module).names)] ?? "Unnamed";
      fn = this.builder.fn({ name: given, library, kind });
      this.#made.set(key, fn);
    }
    return fn;
  }

  /** Offsets in it are no addresses. */
  #isNamed(module: number): boolean {
    const { names, runtime } = within("module", this.#modules, module);
    return textOf(names) !== "" || runtime !== undefined;
  }

  /** What runs its functions; undefined: the processor. */
  #runtime(module: number): string | undefined {
    return textOf(within("module", this.#modules, module).runtime) || undefined;
  }

  #library(module: number): number {
    let library = this.#libraries.get(module);
    if (library === undefined) {
      const { path, runtime, system, runs } = within("module", this.#modules, module);
      // Whose code a runtime's file is depends on the runtime: it is said.
      const isSystem = runtime === undefined ? undefined : system === true;
      library = this.builder.library(textOf(path), undefined, isSystem, textOf(runs) || undefined);
      this.#libraries.set(module, library);
    }
    return library;
  }

  /** Of a thread with a tag: the profile's thread, and the tag that its program set. */
  whoIs(thread: number): { pid: number; tid: number; name: string } {
    const [, process, tid, name] = within("thread", this.#threads, thread);
    return { pid: pidOf(process), tid: numberOf("tid", tid), name: textOf(name) };
  }

  source(thread: number, tag: number): { thread: number; tag: number } {
    const { profile } = this.builder;
    const { pid, tid, name } = this.whoIs(thread);
    return {
      thread: profile.thread(pid, tid, name),
      tag: profile.tags.intern(tag ? within("name", this.#names, tag) : ""),
    };
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
