// What is written: samples that were chosen of a profile, in the order of time, whole stacks.
import { ROOT } from "../call_tree";
import { type Filter, passing } from "../filter";
import type { Profile } from "../profile";

export interface Chosen {
  profile: Profile;
  places: Int32Array; // numbers of samples, oldest first
}

export function choose(profile: Profile, filter: Filter): Chosen {
  const list: number[] = [];
  passing(profile, filter, (i) => list.push(i));
  const time = profile.samples.time_us.data;
  return { profile, places: Int32Array.from(list).sort((a, b) => time[a] - time[b] || a - b) };
}

/** Functions of a call node, outermost first. */
export function framesOf({ calls }: Profile, node: number): number[] {
  const { parents, functions } = calls;
  const frames = [];
  for (; node > ROOT; node = parents[node]) frames.push(functions[node]);
  return frames.reverse();
}

/** Places (function and line) of a stack node, innermost first. */
export function placesOf({ stackParents, stackPlaces }: Profile, node: number): number[] {
  const places = [];
  for (; node > 0; node = stackParents[node]) places.push(stackPlaces[node]);
  return places;
}

/** First and last time of the chosen; 0 where there are none. */
export function spanOf({ profile, places }: Chosen): { first_us: number; last_us: number } {
  const time = profile.samples.time_us.data;
  if (!places.length) return { first_us: 0, last_us: 0 };
  return { first_us: time[places[0]], last_us: time[places[places.length - 1]] };
}

/** Where a library lies, or what it is called. */
export function libraryPath({ libraries, functions }: Profile, fn: number): string {
  const { path, name } = libraries[functions[fn].library];
  return path || name;
}
