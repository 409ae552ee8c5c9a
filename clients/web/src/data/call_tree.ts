// A tree of calls that only grows: node 0 is the root, and a caller has a smaller number than what
// it calls. So totals are one pass backwards, and nothing here recurses.
import { IntColumn, PairIndex } from "./columns";

export const ROOT = 0;
export const NOBODY = -1; // the function of the root

/** What all calculations and layouts read. */
export interface Calls {
  readonly length: number;
  readonly parents: Int32Array; // of the root: -1
  readonly functions: Int32Array; // below NOBODY: a group, see group.ts
  readonly inlined: Int32Array; // 1: into its parent; a node apart from the one that is called
  readonly outermost: Int32Array; // 1: no caller is the same function
}

export class CallTree implements Calls {
  #index = new PairIndex(); // caller; function and whether it is inlined
  #functions = new IntColumn();
  #outermost = new IntColumn();
  #inlined = new IntColumn();

  constructor() {
    this.#index.intern(-1, NOBODY);
    this.#functions.push(NOBODY);
    this.#inlined.push(0);
    this.#outermost.push(1);
  }

  get length(): number {
    return this.#index.length;
  }
  get parents(): Int32Array {
    return this.#index.a.view();
  }
  get functions(): Int32Array {
    return this.#functions.view();
  }
  get inlined(): Int32Array {
    return this.#inlined.view();
  }
  get outermost(): Int32Array {
    return this.#outermost.view();
  }

  child(parent: number, fn: number, inlined = 0): number {
    const before = this.#index.length;
    const node = this.#index.intern(parent, 2 * fn + inlined);
    if (node < before) return node;
    this.#functions.push(fn);
    this.#inlined.push(inlined);
    this.#outermost.push(this.#isInside(parent, fn) ? 0 : 1);
    return node;
  }

  #isInside(node: number, fn: number): boolean {
    const parents = this.#index.a.data;
    const functions = this.#functions.data;
    for (; node > ROOT; node = parents[node]) if (functions[node] === fn) return true;
    return false;
  }
}
