// All samples that came, in columns.
//
//   sample -> stack node (caller, place) -> call node (caller, function)
//
// Places (function, line, file, pc) keep lines and instructions apart for the source view; most views want functions, so
// each stack node knows its call node. Times are CLOCK_MONOTONIC microseconds; samples are not quite
// sorted by time.
import type { SamplesKind } from "../wire/protocol";
import { CallTree, ROOT } from "./call_tree";
import { FloatColumn, IntColumn, NumberIndex, PairIndex, TextIndex } from "./columns";

export const NO_PC = -1;
const DROPPED_PART = 32;
/** The kind of functions that stand for a runtime's native code: no sample has them. */
export const FOLDED = "Folded";

// What wall mode's samples say of a thread that uses no CPU time.
const WAITING = /^(Runnable|Lock|IO|Sleep|GilWait|Blocked)$/;
export const isWaiting = (state: string) => WAITING.test(state);

export interface LibraryInfo {
  name: string;
  path: string;
  system: boolean;
  runs?: string; // it is a runtime itself: its native code runs functions of that word
}

export interface FunctionInfo {
  name: string;
  library: number;
  file: string;
  line: number; // 0: not known
  kind: string;
  id?: string; // the service's; of a file's it is not known
  runtime?: string; // what runs it, where that is no processor: "python", ...
}

export interface ThreadInfo {
  pid: number;
  tid: number;
  name: string;
}

/** Samples, oldest first. */
export class Samples {
  readonly time_us = new FloatColumn();
  readonly cpu_ns = new FloatColumn(); // of kinds other than time: their weights
  readonly objects = new FloatColumn(); // that each stands for; of time none
  readonly stack = new IntColumn();
  readonly thread = new IntColumn();
  readonly tag = new IntColumn();
  readonly state = new IntColumn();
  readonly whole = new IntColumn(); // 0: the outer end is missing
  // Of waits; of other kinds none.
  readonly holder = new IntColumn(); // tid of the thread that had it; 0: not known
  readonly what = new IntColumn(); // as _TableSamples' waitedFor

  get length(): number {
    return this.stack.length;
  }

  drop(count: number): void {
    for (const column of Object.values(this)) if (column.length) column.drop(count);
  }
}

export class Profile {
  readonly libraries: LibraryInfo[] = [];
  readonly functions: FunctionInfo[] = [];
  readonly threads: ThreadInfo[] = [];
  readonly processNames = new Map<number, string>(); // by pid; those that are known
  readonly tags = new TextIndex();
  readonly states = new TextIndex(); // those that some sample has, or had
  readonly files = new TextIndex();
  #places = new PairIndex(); // function and whether it is inlined; spot
  /** Another one after forgetStacks: then numbers of nodes are others. */
  calls = new CallTree();
  readonly samples = new Samples();
  period_us = 0;
  evicted = 0; // samples that were dropped here, to bound memory
  #lines = new PairIndex(); // file, line
  #spots = new PairIndex(); // line, number of a pc
  #pcs = new NumberIndex();
  #stacks = new PairIndex(); // caller, place
  #callOf = new IntColumn();
  #threadOf = new Map<string, number>();
  #folded = new Map<number, number>(); // by library: the function that stands for its native code

  constructor(readonly kind: SamplesKind = "time") {
    this.#beginStacks();
  }

  #beginStacks(): void {
    this.calls = new CallTree();
    this.#stacks = new PairIndex();
    this.#callOf = new IntColumn();
    this.#stacks.intern(-1, -1);
    this.#callOf.push(ROOT);
  }

  /** inlined: 1 where it is, into the next function outwards. pc: in the function's module. */
  place(fn: number, file: string, line: number, inlined = 0, pc = NO_PC): number {
    const at = this.#lines.intern(this.files.intern(file), line);
    return this.#places.intern(2 * fn + inlined, this.#spots.intern(at, this.#pcs.intern(pc)));
  }

  functionAt(place: number): number {
    return this.#places.a.data[place] >> 1;
  }

  isInlined(place: number): boolean {
    return (this.#places.a.data[place] & 1) === 1;
  }

  /** Where a place lies: a number of files; line 0: not known. */
  linePlace(place: number): { file: number; line: number } {
    const at = this.#spots.a.data[this.#places.b.data[place]];
    return { file: this.#lines.a.data[at], line: this.#lines.b.data[at] };
  }

  /** The leaf's own, of a caller the last byte of its call; NO_PC: not known. */
  pcAt(place: number): number {
    return this.#pcs.numbers[this.#spots.b.data[this.#places.b.data[place]]];
  }

  stack(caller: number, place: number): number {
    const before = this.#stacks.length;
    const node = this.#stacks.intern(caller, place);
    if (node < before) return node;
    const inlined = this.#places.a.data[place] & 1;
    this.#callOf.push(this.calls.child(this.#callOf.data[caller], this.functionAt(place), inlined));
    return node;
  }

  get stackCount(): number {
    return this.#stacks.length;
  }
  get stackParents(): Int32Array {
    return this.#stacks.a.view();
  }
  get stackPlaces(): Int32Array {
    return this.#stacks.b.view();
  }
  /** The call node of each stack node. */
  get callOf(): Int32Array {
    return this.#callOf.view();
  }

  /** A thread that has another name now has had it all along. isNews: the name is not older than the one that is known. */
  thread(pid: number, tid: number, name: string, isNews = true): number {
    const key = `${pid}/${tid}`;
    let number = this.#threadOf.get(key);
    if (number === undefined) {
      number = this.threads.push({ pid, tid, name }) - 1;
      this.#threadOf.set(key, number);
    } else if (isNews || !this.threads[number].name) this.threads[number].name = name;
    return number;
  }

  /**
   * What its shares are of. CPU time, since samples stand for different times: a thread that ticks cost
   * too much gets fewer. In wall mode each is a look at a thread, whether it uses CPU time or not, so
   * these are counted; so are samples that tell of no CPU time. Other kinds have weights.
   */
  unit(): "time" | "samples" {
    if (this.kind !== "time") return "time";
    const waits = this.states.texts.some(isWaiting);
    return !waits && this.samples.cpu_ns.view().some(Boolean) ? "time" : "samples";
  }

  /** What each sample stands for. */
  weights(objects = false): Float64Array {
    return (objects ? this.samples.objects : this.samples.cpu_ns).data;
  }

  /** Did a program set any? A thread without one goes by its name in files. */
  hasTags(): boolean {
    const names = new Set(["", "Default", ...this.threads.map(({ name }) => name)]);
    return this.tags.texts.some((tag) => !names.has(tag));
  }

  /** Drops the oldest samples, so that hardly more than count stay: many at once, for it moves all others. */
  keep(count: number): void {
    const extra = this.samples.length - count;
    if (extra <= count / DROPPED_PART) return;
    this.samples.drop(extra);
    this.evicted += extra;
  }

  /**
   * Forgets the stacks that no sample has any more, and gives the others new numbers.
   *
   * kept: stack nodes that somebody goes on with.
   * Returns the new number of each stack node; -1: it was forgotten.
   */
  forgetStacks(kept: Int32Array): Int32Array {
    const parents = this.stackParents;
    const places = this.stackPlaces;
    const isUsed = new Uint8Array(parents.length);
    for (const node of this.samples.stack.view()) isUsed[node] = 1;
    for (const node of kept) isUsed[node] = 1;
    for (let node = parents.length - 1; node > ROOT; node--)
      if (isUsed[node]) isUsed[parents[node]] = 1;
    const numbers = new Int32Array(parents.length).fill(-1);
    numbers[ROOT] = ROOT;
    this.#beginStacks();
    for (let node = ROOT + 1; node < numbers.length; node++)
      if (isUsed[node]) numbers[node] = this.stack(numbers[parents[node]], places[node]);
    this.samples.stack.renumber(numbers);
    return numbers;
  }

  /** Of a runtime, one function more, that stands for all its native code where that is folded. */
  library(one: LibraryInfo): number {
    const number = this.libraries.push(one) - 1;
    if (one.runs) {
      const folded = { name: `[${one.name}]`, library: number, file: "", line: 0, kind: FOLDED };
      this.#folded.set(number, this.functions.push(folded) - 1);
    }
    return number;
  }

  isSystem(fn: number): boolean {
    return this.libraries[this.functions[fn].library]?.system ?? false;
  }

  /** Native code of a runtime. */
  isOfRuntime(fn: number): boolean {
    return Boolean(this.libraries[this.functions[fn].library]?.runs);
  }

  isMine(fn: number): boolean {
    return !this.isSystem(fn) && !this.isOfRuntime(fn);
  }

  /** What stands for it where runtimes are folded; -1: it is not folded. */
  foldedOf(fn: number): number {
    return this.isOfRuntime(fn) ? this.#folded.get(this.functions[fn].library)! : -1;
  }
}
