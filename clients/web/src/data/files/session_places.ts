// What frames, functions, threads and tags of a session file are in one profile: each kind of samples has its own.
import type { Builder } from "./builder";
import { numberOf, textOf } from "./json";
import { type Spot, type Tables, within } from "./session_tables";

const GAP = 1; // the offset, in no module, of frames that were left out
const KINDS: Record<string, string> = { jit: "Jit", interpreted: "Interpreted" };

export class Places {
  #libraries = new Map<number, number>();
  #made = new Map<number | string, number>(); // functions of the profile
  #places = new Map<string, Int32Array>();

  constructor(
    private readonly tables: Tables,
    private readonly builder: Builder,
  ) {}

  /** The profile's places of a frame, outermost first. */
  of(module: number, offset: number): Int32Array {
    const key = `${module}/${offset}`;
    let places = this.#places.get(key);
    if (!places) {
      const chain = this.tables.chains.get(key) ?? [[0, 0, 0, 0] satisfies Spot];
      const pc = this.#isNamed(module) || key === `0/${GAP}` ? undefined : offset;
      const made = chain.map(([number, line, inlined, file]) => {
        const fn = number ? this.#function(number) : this.#unnamed(module, offset);
        const path = file ? within("file", this.tables.files, file) : this.builder.profile.functions[fn].file;
        return this.builder.profile.place(fn, path, line, inlined ? 1 : 0, pc);
      });
      this.#places.set(key, (places = Int32Array.from(made.reverse())));
    }
    return places;
  }

  #function(number: number): number {
    for (let steps = this.tables.same.size; steps > 0 && this.tables.same.has(number); steps--)
      number = this.tables.same.get(number)!;
    let fn = this.#made.get(number);
    if (fn === undefined) {
      const one = within("function", this.tables.functions, number);
      const name = textOf(one.name);
      const module = numberOf("module", one.module);
      const runtime = this.#runtime(module);
      fn = this.builder.fn({
        name,
        library: this.#library(module),
        runtime,
        file: one.file ? within("file", this.tables.files, numberOf("file", one.file)) : "",
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
      const named = textOf(within("module", this.tables.modules, module).names) !== "";
      const place = `${this.builder.profile.libraries[library].name}+0x${offset.toString(16)}`;
      const given = named ? within("name", this.tables.names, offset) : key === `0/${GAP}` ? "[frames left out]" : place;
      const kind = KINDS[textOf(within("module", this.tables.modules, module).names)] ?? "Unnamed";
      fn = this.builder.fn({ name: given, library, kind });
      this.#made.set(key, fn);
    }
    return fn;
  }

  /** Offsets in it are no addresses. */
  #isNamed(module: number): boolean {
    const { names, runtime } = within("module", this.tables.modules, module);
    return textOf(names) !== "" || runtime !== undefined;
  }

  /** What runs its functions; undefined: the processor. */
  #runtime(module: number): string | undefined {
    return textOf(within("module", this.tables.modules, module).runtime) || undefined;
  }

  #library(module: number): number {
    let library = this.#libraries.get(module);
    if (library === undefined) {
      const { path, runtime, system, runs } = within("module", this.tables.modules, module);
      // Whose code a runtime's file is depends on the runtime: it is said.
      const isSystem = runtime === undefined ? undefined : system === true;
      library = this.builder.library(textOf(path), undefined, isSystem, textOf(runs) || undefined);
      this.#libraries.set(module, library);
    }
    return library;
  }

  /** Of a thread with a tag: the profile's thread, and the tag that its program set. */
  source(thread: number, tag: number): { thread: number; tag: number } {
    const { profile } = this.builder;
    const { pid, tid, name } = this.tables.whoIs(thread);
    return {
      thread: profile.thread(pid, tid, name),
      tag: profile.tags.intern(tag ? within("name", this.tables.names, tag) : ""),
    };
  }
}
