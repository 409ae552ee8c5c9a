// What search found, and keys that went through its hits before these were there: the worker tells them later.
import { batch } from "@preact/signals";
import type { Search } from "../data/sums/search";
import type { SearchResult } from "../worker/messages";
import { selection } from "./selection";

/** order: functions, heaviest first; at least one. */
type Act = (order: Int32Array) => void;

interface Waiting {
  search: Search;
  picked: string;
  acts: Act[];
}

let found: SearchResult | null = null; // the newest; what it is of may have been typed over
let waiting: Waiting | null = null;

const isOf = ({ of }: SearchResult, search: Search) =>
  of.text === search.text && of.regex === search.regex;

/** Another text was typed, or something else was picked. */
function isOver({ search, picked }: Waiting): boolean {
  return search !== selection.value.search || picked !== selection.value.picked;
}

/** At once, or when the hits of what is searched for come; never if there are none, or it is over by then. */
export function withHits(act: Act): void {
  const { search, picked } = selection.value;
  if (!search.text) return;
  if (found && isOf(found, search)) {
    if (found.order.length) act(found.order);
    return;
  }
  if (!waiting || isOver(waiting)) waiting = { search, picked, acts: [] };
  waiting.acts.push(act);
}

/** null: none are known any more. */
export function hitsCame(result: SearchResult | null): void {
  found = result;
  if (waiting && isOver(waiting)) waiting = null;
  if (!waiting || !result || !isOf(result, waiting.search)) return;
  const { acts } = waiting;
  waiting = null;
  if (result.order.length) batch(() => acts.forEach((act) => act(result.order)));
}
