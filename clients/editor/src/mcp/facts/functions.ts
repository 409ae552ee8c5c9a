// Functions by the words of who asks.
import { Problem } from "../../core/problem";
import type { FunctionFact, Reading } from "../../core/reading";
import { named } from "./answer";

const SHOWN = 8;

/** name: as answers have it, or a part of it that one function has only; library: where several have that name. */
export function functionOf({ functions }: Reading, name: string, library?: string): FunctionFact {
  const of = library === undefined ? functions : functions.filter((one) => one.library === library);
  const exact = of.filter((one) => one.name === name || named(one.name) === name);
  const small = name.toLowerCase();
  const found = exact.length ? exact : of.filter((one) => name && one.name.toLowerCase().includes(small));
  if (found.length === 1) return found[0];
  const told = found.slice(0, SHOWN).map((one) => `${JSON.stringify(named(one.name))} in ${JSON.stringify(one.library)}`);
  if (!found.length)
    throw new Problem(`function: no sample has one called ${JSON.stringify(named(name))}; hot_functions lists them`);
  throw new Problem(`function: ${found.length} have this name; say name and library of one: ${told.join(", ")}`);
}
