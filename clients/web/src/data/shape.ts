// What the user made of the call tree: functions hidden, libraries hidden, one focused, recursion
// joined. Each node of the profile's tree has its node here, or none.
//
//   hidden     its samples are its caller's
//   folded     one frame stands for it and what is folded around it
//   focused    the stack begins with it; samples without it are left out
//   dropped    samples with it are left out
//   joined     where it recurs, by whatever way, what it calls is its outermost frame's
import { type Calls, CallTree, ROOT } from "./call_tree";
import { FOLDED, type Profile } from "./profile";

export type Transform =
  | { kind: "hide-function"; fn: string } // "library!name", as functionKey
  | { kind: "hide-library"; library: string }
  | { kind: "hide-system" }
  | { kind: "only-mine" } // hides what is neither the user's; stacks without any are left out
  | { kind: "fold-runtime" } // native code of interpreters
  | { kind: "focus-function"; fn: string }
  | { kind: "drop-function"; fn: string }
  | { kind: "join-function"; fn: string }
  | { kind: "focus-library"; library: string }
  | { kind: "join-recursion" };

/** How a function is called in links and between profiles. */
export function functionKey(profile: Pick<Profile, "functions" | "libraries">, fn: number): string {
  const { name, library } = profile.functions[fn];
  return `${profile.libraries[library].name}!${name}`;
}

export interface Shape {
  readonly calls: Calls;
  readonly nodeOf: Int32Array; // by call node of the profile; negative: left out
}

const LEFT_OUT = -1; // so far: below it may be what is focused
const DROPPED = -2; // with all that is below

// libc's way from a program's first instruction to its main: between frames of one runtime it is folded with them.
const START = /^__libc_start_/;

interface Rules {
  hidden(fn: number): boolean;
  folded(fn: number): number; // into which function; -1: it is not
  focused: ((fn: number) => boolean) | null;
  dropped(fn: number): boolean;
  joined(fn: number): boolean;
  join: boolean;
}

function rules(profile: Profile, transforms: Transform[]): Rules {
  const keys = new Set<string>();
  const dropped = new Set<string>();
  const joined = new Set<string>();
  const libraries = new Set<string>();
  let system = false;
  let mine = false;
  let fold = false;
  let join = false;
  let focused: Rules["focused"] = null;
  const library = (fn: number) => profile.libraries[profile.functions[fn].library].name;
  for (const one of transforms) {
    if (one.kind === "hide-function") keys.add(one.fn);
    else if (one.kind === "drop-function") dropped.add(one.fn);
    else if (one.kind === "join-function") joined.add(one.fn);
    else if (one.kind === "hide-library") libraries.add(one.library);
    else if (one.kind === "hide-system") system = true;
    else if (one.kind === "only-mine") mine = true;
    else if (one.kind === "fold-runtime") fold = true;
    else if (one.kind === "join-recursion") join = true;
    else if (one.kind === "focus-function") focused = (fn) => functionKey(profile, fn) === one.fn;
    else focused = (fn) => library(fn) === one.library;
  }
  const has = (set: Set<string>, fn: number) => set.size > 0 && set.has(functionKey(profile, fn));
  const hidden = (fn: number) =>
    (system && profile.isSystem(fn)) ||
    (mine && !profile.isMine(fn)) ||
    (libraries.size > 0 && libraries.has(library(fn))) ||
    has(keys, fn);
  if (mine) focused ??= profile.isMine.bind(profile);
  const folded = (fn: number) => (fold ? profile.foldedOf(fn) : -1);
  return { hidden, folded, focused, dropped: (fn) => has(dropped, fn), joined: (fn) => has(joined, fn), join };
}

/** By function: 1 where its samples are its caller's. */
export function hiddenOf(profile: Profile, transforms: Transform[]): Uint8Array {
  const { hidden } = rules(profile, transforms);
  return Uint8Array.from(profile.functions, (_, fn) => (hidden(fn) ? 1 : 0));
}

/** Follows a profile that grows: each call looks at what is new only. */
export class Shaper {
  #tree = new CallTree();
  #nodeOf = new Int32Array([ROOT]);
  #done = 1;
  #hidden: boolean[] = [];
  #folded: number[] = [];
  #start: boolean[] = []; // what starts programs, of the system
  #focus: boolean[] = [];
  #dropped: boolean[] = [];
  #joined: boolean[] = [];
  #rules: Rules;

  constructor(
    private readonly profile: Profile,
    transforms: Transform[],
  ) {
    this.#rules = rules(profile, transforms);
    if (this.#rules.focused) this.#nodeOf[ROOT] = LEFT_OUT;
  }

  shape(): Shape {
    const { length, parents, functions, inlined } = this.profile.calls;
    this.#judge();
    const nodeOf = new Int32Array(length);
    nodeOf.set(this.#nodeOf);
    for (let node = this.#done; node < length; node++)
      nodeOf[node] = this.#place(nodeOf[parents[node]], functions[node], inlined[node]);
    this.#nodeOf = nodeOf;
    this.#done = length;
    return { calls: this.#tree, nodeOf };
  }

  // Once per function, not per node.
  #judge(): void {
    for (let fn = this.#hidden.length; fn < this.profile.functions.length; fn++) {
      this.#hidden.push(this.#rules.hidden(fn));
      this.#folded.push(this.#rules.folded(fn));
      this.#start.push(START.test(this.profile.functions[fn].name) && this.profile.isSystem(fn));
      this.#focus.push(this.#rules.focused?.(fn) ?? false);
      this.#dropped.push(this.#rules.dropped(fn));
      this.#joined.push(this.#rules.joined(fn));
    }
  }

  #place(parent: number, of: number, inlined: number): number {
    const fn = this.#folded[of] < 0 ? of : this.#folded[of];
    const is = (those: boolean[]) => those[of] || those[fn];
    if (parent === DROPPED || is(this.#dropped)) return DROPPED;
    if (parent === LEFT_OUT && !is(this.#focus)) return LEFT_OUT;
    // Into nothing that is seen, or into another one of the same runtime.
    if (parent === LEFT_OUT || fn !== of) inlined = 0;
    const caller = parent === LEFT_OUT ? ROOT : parent;
    if (is(this.#hidden)) return caller;
    const { functions, parents } = this.#tree;
    if (fn !== of && functions[caller] === fn) return caller;
    if (this.#start[of] && this.profile.functions[functions[caller]]?.kind === FOLDED) return caller;
    if (this.#joined[fn])
      for (let at = caller; at > ROOT; at = parents[at]) if (functions[at] === fn) return at;
    if (this.#rules.join && caller !== ROOT && functions[caller] === fn) return caller;
    return this.#tree.child(caller, fn, inlined);
  }
}
