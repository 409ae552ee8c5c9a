// Which samples count, and how much they weigh at each node of the call tree.
import { kindOf, packageOf } from "./colour_keys";
import { KINDS } from "./kinds";
import type { Profile } from "./profile";

/** Nothing given: all of that kind. Texts, so that it reads the same in another profile and a URL. */
export interface Filter {
  window_us?: [number, number]; // [from, to)
  processes?: number[]; // pids
  threads?: number[]; // tids
  tags?: string[];
  states?: string[];
  libraries?: string[]; // of the leaf, as the next two
  packages?: string[];
  kinds?: string[];
  until_us?: number; // only samples until then: a view that a link holds
  until?: number; // only the first so many samples that ever came: a view that is held
}

/** Self weights by call node, of the samples that passed. */
export interface Weights {
  count: number; // samples
  cpu_ns: number;
  objects: number;
  variance: number; // of the sum of weights: what was sampled for sure adds none
  cut: number; // samples whose outer end is missing
  samples: Float64Array; // by call node
  time_ns: Float64Array; // by call node
}

function allowed<T>(wanted: T[] | undefined, all: readonly T[]): Uint8Array | null {
  if (!wanted) return null;
  return Uint8Array.from(all, (one) => (wanted.includes(one) ? 1 : 0));
}

function allowedThreads(profile: Profile, filter: Filter): Uint8Array | null {
  const { processes, threads } = filter;
  if (!processes && !threads) return null;
  const tids = new Set(threads);
  return Uint8Array.from(profile.threads, ({ pid, tid }) =>
    (!processes || processes.includes(pid)) && (!threads || tids.has(tid)) ? 1 : 0,
  );
}

function allowedLeaves(profile: Profile, filter: Filter): Uint8Array | null {
  const libraries = allowed(
    filter.libraries,
    profile.libraries.map(({ name }) => name),
  );
  const { packages, kinds } = filter;
  if (!libraries && !packages && !kinds) return null;
  const byFunction = Uint8Array.from(profile.functions, (one) => {
    const library = profile.libraries[one.library];
    const isOut = packages && !packages.includes(packageOf(one, library));
    return isOut || (libraries && !libraries[one.library]) ? 0 : 1;
  });
  const passes = new Uint8Array(profile.calls.length);
  const { functions, inlined } = profile.calls;
  for (let node = 1; node < passes.length; node++) {
    const one = profile.functions[functions[node]];
    const kind = () => kindOf(one, profile.libraries[one.library], inlined[node]);
    passes[node] = byFunction[functions[node]] && (!kinds || kinds.includes(kind())) ? 1 : 0;
  }
  return passes;
}

/** Calls each with the number of every sample that passes, in the order they came. */
export function passing(profile: Profile, filter: Filter, each: (sample: number) => void): void {
  const { samples, callOf } = profile;
  const [from, to] = filter.window_us ?? [-Infinity, Infinity];
  const threads = allowedThreads(profile, filter);
  const tags = allowed(filter.tags, profile.tags.texts);
  const states = allowed(filter.states, profile.states.texts);
  const leaves = allowedLeaves(profile, filter);
  const { time_us, thread, tag, state, stack } = samples;
  const last = filter.until_us ?? Infinity;
  const count = Math.min(samples.length, (filter.until ?? Infinity) - profile.evicted);
  for (let i = 0; i < count; i++) {
    const time = time_us.data[i];
    if (time < from || time >= to || time > last) continue;
    if (threads && !threads[thread.data[i]]) continue;
    if (tags && !tags[tag.data[i]]) continue;
    if (states && !states[state.data[i]]) continue;
    if (leaves && !leaves[callOf[stack.data[i]]]) continue;
    each(i);
  }
}

/** 1 for each sample that passes. */
export function passes(profile: Profile, filter: Filter): Uint8Array {
  const those = new Uint8Array(profile.samples.length);
  passing(profile, filter, (i) => void (those[i] = 1));
  return those;
}

/** asObjects: these are the weights, of kinds that have any. */
export function weigh(profile: Profile, filter: Filter, asObjects = false): Weights {
  const { calls, callOf } = profile;
  const { stack, cpu_ns, whole, objects } = profile.samples;
  const weight = profile.weights(asObjects);
  const counted = KINDS[profile.kind].unit === "count";
  const weights: Weights = {
    count: 0,
    cpu_ns: 0,
    objects: 0,
    variance: 0,
    cut: 0,
    samples: new Float64Array(calls.length),
    time_ns: new Float64Array(calls.length),
  };
  passing(profile, filter, (i) => {
    const node = callOf[stack.data[i]];
    weights.count++;
    weights.cpu_ns += cpu_ns.data[i];
    if (objects.length) {
      const many = counted ? cpu_ns.data[i] : objects.data[i];
      weights.objects += objects.data[i];
      weights.variance += cpu_ns.data[i] ** 2 * (1 - 1 / Math.max(many, 1));
    }
    weights.cut += 1 - whole.data[i];
    weights.samples[node]++;
    weights.time_ns[node] += weight[i];
  });
  return weights;
}
