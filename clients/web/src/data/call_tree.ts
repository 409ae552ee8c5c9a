// A tree of calls that only grows: node 0 is the root, and a caller has a smaller number than what
// it calls. So totals are one pass backwards, and nothing here recurses.
import { IntColumn, PairIndex } from "./columns";

export const ROOT = 0;

/** What all calculations and layouts read. */
export interface Calls {
  readonly length: number;
  readonly parents: Int32Array; // of the root: -1
  readonly functions: Int32Array; // of the root: -1
  readonly outermost: Int32Array; // 1: no caller is the same function
}

export class CallTree implements Calls {
  #index = new PairIndex();
  #outermost = new IntColumn();

  constructor() {
    this.#index.intern(-1, -1);
    this.#outermost.push(1);
  }

  get length(): number {
    return this.#index.length;
  }
  get parents(): Int32Array {
    return this.#index.a.view();
  }
  get functions(): Int32Array {
    return this.#index.b.view();
  }
  get outermost(): Int32Array {
    return this.#outermost.view();
  }

  child(parent: number, fn: number): number {
    const before = this.#index.length;
    const node = this.#index.intern(parent, fn);
    if (node === before) this.#outermost.push(this.#isInside(parent, fn) ? 0 : 1);
    return node;
  }

  #isInside(node: number, fn: number): boolean {
    const parents = this.#index.a.data;
    const functions = this.#index.b.data;
    for (; node > ROOT; node = parents[node]) if (functions[node] === fn) return true;
    return false;
  }
}
