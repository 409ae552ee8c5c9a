// Which functions a text or an expression finds, and the share of the samples that have one of them.
import { type Calls, ROOT } from "../call_tree";
import type { FunctionInfo, LibraryInfo } from "../profile";
import type { Totals } from "../totals";

export interface Search {
  text: string;
  regex: boolean;
}

/** Looks at names and libraries; throws a SyntaxError that says what is wrong with an expression. */
export function matcher(search: Search): (name: string, library: string) => boolean {
  if (search.regex) {
    const expression = new RegExp(search.text, "i");
    return (name, library) => expression.test(name) || expression.test(library);
  }
  const text = search.text.toLowerCase();
  return (name, library) =>
    name.toLowerCase().includes(text) || library.toLowerCase().includes(text);
}

/** By function: 1 where it was found. */
export function found(
  search: Search,
  functions: readonly FunctionInfo[],
  libraries: readonly LibraryInfo[],
): Uint8Array {
  const matches = matcher(search);
  return Uint8Array.from(functions, ({ name, library }) =>
    matches(name, libraries[library].name) ? 1 : 0,
  );
}

/** The same; null: it is no expression. */
export function foundIfAny(...all: Parameters<typeof found>): Uint8Array | null {
  try {
    return found(...all);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The weight of the stacks that hold one that was found, once each; and how many nodes hit. */
export function shareOf(
  calls: Calls,
  { total }: Totals,
  hits: Uint8Array,
): { nodes: number; weight: number } {
  const { parents, functions } = calls;
  const inside = new Uint8Array(calls.length);
  const share = { nodes: 0, weight: 0 };
  for (let node = ROOT + 1; node < calls.length; node++) {
    const hit = hits[functions[node]];
    if (hit && total[node] > 0) share.nodes++;
    if (hit && !inside[parents[node]]) share.weight += total[node];
    inside[node] = hit || inside[parents[node]];
  }
  return share;
}
