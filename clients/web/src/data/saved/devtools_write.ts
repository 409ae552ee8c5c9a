// Dart DevTools' snapshot: what its CPU profiler saves, and opens without a connection.
//
// DevTools counts samples, so each is there as often as the periods it stands for, and no two at one time.
// Lost: names of threads, lines, which frames were inlined, cut stacks.
import { type Chosen, libraryPath, spanOf } from "../files/chosen";

const SCREEN = "cpu-profiler";
const VERSION = "2.61.0"; // whose form this is

const idOf = (node: number) => `isolates/1-${node}`; // before the dash stands the isolate's, without one

export function writeDevtools(chosen: Chosen): string {
  const { profile } = chosen;
  const { callOf, samples, threads, tags, states } = profile;
  const { parents, functions } = profile.calls;
  const used = new Set<number>();
  const traceEvents = told(chosen).map(({ time_us, sample }) => {
    const node = callOf[samples.stack.data[sample]];
    for (let at = node; at > 0 && !used.has(at); at = parents[at]) used.add(at);
    const { pid, tid } = threads[samples.thread.data[sample]];
    return {
      ...{ ph: "P", name: "", pid, tid, ts: time_us, cat: "Dart", sf: idOf(node) },
      args: {
        userTag: tags.texts[samples.tag.data[sample]] || "Default",
        vmTag: states.texts[samples.state.data[sample]] || "Native",
      },
    };
  });
  const nodes = [...used].sort((a, b) => a - b);
  const depths = new Map([[0, 0]]);
  const stackFrames: Record<string, object> = {};
  for (const node of nodes) {
    const caller = parents[node];
    depths.set(node, depths.get(caller)! + 1);
    const { name, file, line } = profile.functions[functions[node]];
    const library = libraryPath(profile, functions[node]);
    stackFrames[idOf(node)] = {
      name,
      category: "Dart", // what it knows: others are hidden as native code
      resolvedUrl: file || library,
      packageUri: library,
      sourceLine: line || null,
      ...(caller > 0 ? { parent: idOf(caller) } : {}),
    };
  }
  const { first_us, last_us } = spanOf(chosen);
  return JSON.stringify({
    devToolsSnapshot: true,
    devToolsVersion: VERSION,
    connectedApp: {
      ...{ isFlutterApp: false, isProfileBuild: true, isDartWebApp: false },
      ...{ isRunningOnDartVM: true, operatingSystem: "linux" },
    },
    activeScreenId: SCREEN,
    [SCREEN]: {
      type: "_CpuProfileTimeline",
      samplePeriod: profile.period_us,
      sampleCount: traceEvents.length,
      stackDepth: [...depths.values()].reduce((most, one) => Math.max(most, one), 0),
      timeOriginMicros: first_us,
      timeExtentMicros: last_us - first_us,
      stackFrames,
      traceEvents,
    },
  });
}

interface Told {
  time_us: number;
  sample: number;
}

/** What is left of a period is its thread's next sample's. */
function told({ profile, places }: Chosen): Told[] {
  const { samples, period_us, threads } = profile;
  const time = (sample: number) => Math.round(samples.time_us.data[sample]);
  if (profile.unit() === "samples" || !period_us)
    return apart(Array.from(places, (sample) => ({ time_us: time(sample), sample })), period_us);
  const left_us = new Float64Array(threads.length).fill(period_us / 2);
  const list: Told[] = [];
  for (const sample of places) {
    const thread = samples.thread.data[sample];
    left_us[thread] += samples.cpu_ns.data[sample] / 1000;
    const count = Math.floor(left_us[thread] / period_us);
    left_us[thread] -= count * period_us;
    for (let back = 0; back < count; back++)
      list.push({ time_us: time(sample) - back * period_us, sample });
  }
  return apart(list.sort((a, b) => a.time_us - b.time_us || a.sample - b.sample), period_us);
}

/** Those of one time are spread over the gap before it. */
function apart(list: Told[], gap_us: number): Told[] {
  const spread: Told[] = [];
  for (let from = 0, to; from < list.length; from = to) {
    const { time_us } = list[from];
    for (to = from; to < list.length && list[to].time_us === time_us; ) to++;
    const before = spread.length ? spread[spread.length - 1].time_us : time_us - gap_us;
    const step = (time_us - before) / (to - from);
    for (let i = from; i < to; i++)
      spread.push({ time_us: Math.floor(before + step * (i - from + 1)), sample: list[i].sample });
  }
  return spread;
}
