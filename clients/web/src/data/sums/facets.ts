// What samples can be filtered by, and how many there are of each.
import { type Filter, passing } from "../filter";
import type { Profile } from "../profile";

export interface Facet<T> {
  value: T;
  text: string;
  samples: number;
}

export interface Facets {
  processes: Facet<number>[];
  threads: Facet<number>[];
  tags: Facet<string>[];
  states: Facet<string>[];
  libraries: Facet<string>[]; // of the leaf
}

function counted<T>(
  counts: Float64Array,
  of: (number: number) => { value: T; text: string },
): Facet<T>[] {
  const known = new Map<T, Facet<T>>();
  counts.forEach((samples, number) => {
    if (!samples) return;
    const { value, text } = of(number);
    const facet = known.get(value);
    if (facet) facet.samples += samples;
    else known.set(value, { value, text, samples });
  });
  return [...known.values()].sort((a, b) => b.samples - a.samples);
}

/** Most samples first; those without any are not listed. */
export function facets(profile: Profile, filter: Filter): Facets {
  const { samples, callOf, calls, functions } = profile;
  const threads = new Float64Array(profile.threads.length);
  const tags = new Float64Array(profile.tags.texts.length);
  const states = new Float64Array(profile.states.texts.length);
  const libraries = new Float64Array(profile.libraries.length);
  passing(profile, filter, (i) => {
    threads[samples.thread.data[i]]++;
    tags[samples.tag.data[i]]++;
    states[samples.state.data[i]]++;
    const leaf = calls.functions[callOf[samples.stack.data[i]]];
    if (leaf >= 0) libraries[functions[leaf].library]++;
  });
  const text = (texts: readonly string[]) => (number: number) => ({
    value: texts[number],
    text: texts[number],
  });
  return {
    processes: counted(threads, (number) => {
      const { pid } = profile.threads[number];
      return { value: pid, text: String(pid) };
    }),
    threads: counted(threads, (number) => {
      const { tid, name } = profile.threads[number];
      return { value: tid, text: `${name} (${tid})` };
    }),
    tags: counted(tags, text(profile.tags.texts)),
    states: counted(states, text(profile.states.texts)),
    libraries: counted(libraries, text(profile.libraries.map(({ name }) => name))),
  };
}
