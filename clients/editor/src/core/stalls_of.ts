// Stalls by the functions that they are because of: the one that was on top, or who called it where that is a library's.
import type { StallBrief } from "../../../web/src/data/stalls/brief";
import type { LiveProfile } from "./live_profile";

export interface CausedStalls {
  name: string; // of the function
  library: string;
  stalls: StallBrief[]; // the longest first
}

/** By library!name, as functionKey has it. */
export function stallsByFunction({ stalls }: LiveProfile): Map<string, CausedStalls> {
  const found = new Map<string, CausedStalls>();
  for (const brief of stalls.rows({ by: "length", ascending: false }, null)) {
    const { culprit, caller } = stalls.one(brief.number) ?? {};
    const keys = new Set<string>(); // it may be both
    for (const place of [culprit, caller]) {
      if (!place?.function) continue;
      const { function: name, library } = place;
      const key = `${library}!${name}`;
      if (keys.has(key)) continue;
      keys.add(key);
      if (!found.has(key)) found.set(key, { name, library, stalls: [] });
      found.get(key)!.stalls.push(brief);
    }
  }
  return found;
}
