// Makes a profile of what a file says. Samples that a file only counts are added one by one.
import type { SamplesKind } from "../../wire/protocol";
import { Profile } from "../profile";

/** The file is not what it should be; the message says what is wrong with it. */
export class BadFile extends Error {}

const SAMPLES_MOST = 20_000_000;

// As the service has it, and the Dart VM's own.
const SYSTEM = /^(\/usr)?\/lib(32|64|x32|exec)?\/|^\[(vdso|kernel)\]$|^dart:|^org-dartlang-sdk:/;

export interface SampleOf {
  stack: number;
  thread: number;
  time_us?: number;
  cpu_ns?: number;
  tag?: string;
  state?: string;
  whole?: boolean;
}

export interface FunctionOf {
  name: string;
  library?: number;
  file?: string;
  line?: number;
  kind?: string;
  runtime?: string;
}

/** For files that tell no times: the samples of each thread one after another, as long as they weigh. */
export function lineUp(profile: Profile): void {
  const { time_us, cpu_ns, thread, length } = profile.samples;
  profile.period_us ||= 1000; // of samples that have no weight, either
  const ends = new Float64Array(profile.threads.length);
  for (let i = 0; i < length; i++) {
    ends[thread.data[i]] += cpu_ns.data[i] / 1000 || profile.period_us;
    time_us.data[i] = ends[thread.data[i]];
  }
}

export class Builder {
  readonly profile: Profile;
  #libraries = new Map<string, number>();

  constructor(kind?: SamplesKind) {
    this.profile = new Profile(kind);
  }

  /** By path, or by name where a file tells no path. system undefined: by where it lies. */
  library(path: string, name = path.replace(/^.*\//, ""), system?: boolean, runs?: string): number {
    const key = `${path}\n${name}`;
    let number = this.#libraries.get(key);
    if (number === undefined) {
      number = this.profile.library({ name, path, system: system ?? SYSTEM.test(path), runs });
      this.#libraries.set(key, number);
    }
    return number;
  }

  /** A new one with each call. */
  fn({ name, library, file = "", line = 0, kind = "Native", runtime }: FunctionOf): number {
    const owner = library ?? this.library("");
    return this.profile.functions.push({ name, library: owner, file, line, kind, runtime }) - 1;
  }

  /** No file: that of the function. */
  place(fn: number, line = 0, inlined = false, file = ""): number {
    return this.profile.place(fn, file || this.profile.functions[fn].file, line, inlined ? 1 : 0);
  }

  add(one: SampleOf): void {
    const { samples, tags, states } = this.profile;
    samples.stack.push(one.stack);
    samples.time_us.push(one.time_us ?? 0);
    samples.cpu_ns.push(one.cpu_ns ?? 0);
    samples.thread.push(one.thread);
    samples.tag.push(tags.intern(one.tag ?? ""));
    samples.state.push(states.intern(one.state ?? ""));
    samples.whole.push(one.whole === false ? 0 : 1);
  }

  /** count samples that share the CPU time of all. */
  addMany(count: number, one: SampleOf): void {
    if (!Number.isInteger(count) || count < 0) throw new BadFile(`invalid number of samples: ${count}`);
    if (this.profile.samples.length + count > SAMPLES_MOST)
      throw new BadFile(`more than ${SAMPLES_MOST.toLocaleString("en-US")} samples`);
    const each = { ...one, cpu_ns: (one.cpu_ns ?? 0) / (count || 1) };
    for (let i = 0; i < count; i++) this.add(each);
  }

  /** As the period, for files that do not tell it: the middle of the samples' CPU times. */
  middlePeriod(): void {
    const times = this.profile.samples.cpu_ns
      .view()
      .filter((time) => time > 0)
      .sort();
    this.profile.period_us = times.length ? Math.round(times[times.length >> 1] / 1000) : 0;
  }
}
