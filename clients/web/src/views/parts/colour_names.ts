// What colours stand for, in words: the legend's entries, those without a colour of their own as one.
import { HEAT_STEPS } from "../../data/colour_keys";
import { OTHERS } from "../../data/colour_slots";
import type { Legend } from "../../data/colouring";
import { data } from "../../state/live";
import { percent } from "./format";

export interface ColourName {
  keys: string[]; // that it stands for; none: it can be no filter
  text: string;
  slot: number;
  share: string;
}

function textOf(by: Legend["by"], key: string): string {
  const thread = by === "thread" && data.value?.threads.find(({ tid }) => String(tid) === key);
  return thread ? `${thread.name || "thread"} (${key})` : key;
}

export function colourNames(told: Legend | null): ColourName[] {
  if (!told) return [];
  const { by, entries, whole, hottest } = told;
  if (by === "heat")
    return [...Array(HEAT_STEPS).keys()].map((slot) => ({
      ...{ keys: [], slot, text: "", share: "" },
      ...(slot === 0 && { text: "0 %" }),
      ...(slot === HEAT_STEPS - 1 && { text: `${percent(hottest, whole)} self` }),
    }));
  const named = entries.filter(({ slot }) => slot < OTHERS);
  const others = entries.filter(({ slot }) => slot >= OTHERS);
  const names = named.map(({ key, slot, self }) => ({
    ...{ keys: [key], text: textOf(by, key), slot, share: percent(self, whole) },
  }));
  if (!others.length) return names;
  const self = others.reduce((sum, one) => sum + one.self, 0);
  const text = others.length > 1 ? `${others.length} others` : textOf(by, others[0].key);
  const keys = others.map(({ key }) => key);
  return [...names, { keys, text, slot: OTHERS, share: percent(self, whole) }];
}
