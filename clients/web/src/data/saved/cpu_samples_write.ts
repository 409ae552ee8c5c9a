// The wire's own CpuSamples: as a reply of `_getCpuSamples` in the list form.
//
// `_processes` and `_threads` name what no reply does, because other methods tell it.
// Lost: build ids, why names are missing.
import type { SamplesList, ListFrame, ListFunction, WireLibrary } from "../../wire/protocol";
import { FOLDED, type Profile } from "../profile";
import { type Chosen, functionSums, placesOf, spanOf } from "../files/chosen";

interface Names {
  _processes: { isolateId: string; name: string; pid: number }[];
  _threads: { isolateId: string; tid: number; name: string }[];
}

const KINDS = ["Native", "Stub", "Jit", "Interpreted", "Unnamed"];

export function writeCpuSamples(chosen: Chosen): string {
  const { profile, places } = chosen;
  const { samples, threads, states, tags } = profile;
  const { first_us, last_us } = spanOf(chosen);
  const stacks = new Map<number, ListFrame[]>();
  const stackOf = (node: number) => {
    let stack = stacks.get(node);
    if (!stack)
      stacks.set(node, (stack = placesOf(profile, node).map((one) => frame(profile, one))));
    return stack;
  };
  const pids = [...new Set(threads.map(({ pid }) => pid))];
  const isolateId = (pid: number) => `isolates/${pid}`;
  const reply: SamplesList & Names = {
    type: "CpuSamples",
    samplePeriod: profile.period_us,
    maxStackDepth: 0,
    sampleCount: places.length,
    timeOriginMicros: first_us,
    timeExtentMicros: last_us - first_us,
    pid: threads[0]?.pid ?? 0,
    _counters: {},
    _processes: pids.map((pid) => ({
      isolateId: isolateId(pid),
      name: profile.processNames.get(pid) ?? "process",
      pid,
    })),
    _threads: threads
      .filter(({ name }) => name)
      .map(({ pid, tid, name }) => ({ isolateId: isolateId(pid), tid, name })),
    samples: Array.from(places, (i) => {
      const { pid, tid } = threads[samples.thread.data[i]];
      return {
        timestamp: samples.time_us.data[i],
        tid,
        ...(pids.length > 1 ? { isolateId: isolateId(pid) } : {}),
        stack: stackOf(samples.stack.data[i]),
        vmTag: states.texts[samples.state.data[i]],
        userTag: tags.texts[samples.tag.data[i]] || threads[samples.thread.data[i]].name || "Default",
        cpuNanos: samples.cpu_ns.data[i],
        ...(samples.whole.data[i] ? {} : { truncated: true as const }),
      };
    }),
    functions: functionsOf(chosen),
    libraries: profile.libraries.map(({ runs, ...library }, i): WireLibrary => ({
      id: `libraries/${i}`,
      uri: library.path ? `file://${library.path}` : "",
      buildId: "",
      loadBias: 0,
      ...library,
      ...(runs ? { runs: runs as WireLibrary["runs"] } : {}),
    })),
  };
  for (const stack of stacks.values())
    reply.maxStackDepth = Math.max(reply.maxStackDepth, stack.length);
  return JSON.stringify(reply);
}

function frame(profile: Profile, place: number): ListFrame {
  const fn = profile.functionAt(place);
  const { line, file: fileNumber } = profile.linePlace(place);
  const file = profile.files.texts[fileNumber];
  return {
    function: { type: "@Function", id: `functions/${fn}` },
    kind: "Native",
    ...(line ? { line } : {}),
    ...(file && file !== profile.functions[fn].file ? { file } : {}),
    ...(profile.isInlined(place) ? { inlined: true as const } : {}),
  };
}

/** All of the profile's, by their numbers there; their ticks are of the chosen. */
function functionsOf({ profile, places }: Chosen): ListFunction[] {
  const { own, total } = functionSums({ profile, places }, () => 1);
  const entries = profile.functions.map(({ name, library, file, line, kind, runtime }, fn) => ({
    id: `functions/${fn}`,
    name,
    owner: { type: "@Library" as const, id: `libraries/${library}` },
    inclusiveTicks: total[fn],
    exclusiveTicks: own[fn],
    kind: (KINDS.includes(kind) ? kind : "Native") as ListFunction["kind"],
    ...(runtime ? { runtime: runtime as ListFunction["runtime"] } : {}),
    ...(file ? { file } : {}),
    ...(line ? { line } : {}),
  }));
  return entries.filter((_, fn) => profile.functions[fn].kind !== FOLDED);
}
