// Small profiles in words: "main parse lex" is one sample's stack, outermost first.
import { Profile } from "../../clients/web/src/data/profile";

export interface Told {
  stack: string; // names with blanks between; "libc.so!malloc" is in another library, "f@a.c:3" at that line,
  // "a.py!f" run by python, of which "python!eval" is native code
  time_us?: number;
  tid?: number;
  pid?: number;
  name?: string; // of the thread
  cpu_ns?: number;
  tag?: string;
  state?: string;
  cut?: boolean;
  times?: number;
}

const PROGRAM = "app";

/** Libraries whose name begins with "lib" are the system's. Times are 1 ms apart from begin_us on, where not told. */
export function profileOf(told: (string | Told)[], begin_us = 0): Profile {
  const profile = new Profile();
  profile.period_us = 1000;
  let time_us = begin_us;
  for (const entry of told) {
    const one = typeof entry === "string" ? { stack: entry } : entry;
    for (let i = 0; i < (one.times ?? 1); i++, time_us += 1000)
      add(profile, { ...one, time_us: one.time_us ?? time_us });
  }
  return profile;
}

function add(profile: Profile, one: Told): void {
  let stack = 0;
  for (const word of one.stack.split(" ").filter(Boolean)) {
    const [fn, file = "", line = "0"] = word.split(/[@:]/);
    stack = profile.stack(stack, profile.place(functionOf(profile, fn), file, Number(line)));
  }
  const { samples } = profile;
  samples.stack.push(stack);
  samples.time_us.push(one.time_us ?? 0);
  samples.cpu_ns.push(one.cpu_ns ?? 1e6);
  const { pid = 1, tid = 1, name = `thread ${tid}` } = one;
  samples.thread.push(profile.thread(pid, tid, name));
  samples.tag.push(profile.tags.intern(one.tag ?? "Default"));
  samples.state.push(profile.states.intern(one.state ?? "Running"));
  samples.whole.push(one.cut ? 0 : 1);
}

export function functionOf(profile: Profile, word: string): number {
  const [library, name] = word.includes("!") ? word.split("!") : [PROGRAM, word];
  let owner = profile.libraries.findIndex((known) => known.name === library);
  if (owner < 0) {
    const system = library.startsWith("lib");
    const runs = library === "python" ? library : undefined;
    owner = profile.library({ name: library, path: `/${library}`, system, runs });
  }
  const { functions } = profile;
  const known = functions.findIndex((fn) => fn.name === name && fn.library === owner);
  if (known >= 0) return known;
  const run = library.endsWith(".py") ? { kind: "Interpreted", runtime: "python" } : { kind: "Native" };
  return functions.push({ name, library: owner, file: "", line: 0, ...run }) - 1;
}
