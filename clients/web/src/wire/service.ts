// What the page asks of the service besides samples, in the page's words.
import type { Exit, Isolate, SavedFile, VM } from "./protocol";
import type { Rpc } from "./rpc";

export interface ProcessInfo {
  pid: number;
  name: string;
  live: boolean;
  startMs: number;
  endMs: number; // 0: it lives
  exit?: Exit; // how it ended, where isoscope is its parent
}

export interface ServiceInfo {
  version: string;
  timer: string;
  period_us: number;
  truePeriod_us: number; // 0: not known yet
  mode: string; // "cpu", "wall"
  profiler: boolean;
  flags: Record<string, string>;
  symbols: { done: number; asked: number };
  cpuTime: VM["_cpuTime"];
  unsampled: NonNullable<VM["_unsampled"]>;
  processes: ProcessInfo[];
  saved: SavedFile[]; // that it answers out of; none: its programs run, or have run
}

async function processOf(rpc: Rpc, isolateId: string): Promise<Isolate | null> {
  const isolate = await rpc.call("getIsolate", { isolateId });
  return isolate.type === "Isolate" ? isolate : null;
}

function described(isolate: Isolate): ProcessInfo {
  const process = isolate._process;
  return {
    pid: process.pid,
    name: process.exe.replace(/^.*\//, "") || isolate.name,
    live: process.live,
    startMs: isolate.startTime,
    endMs: process.endTime ?? 0,
    exit: process.exit,
  };
}

// Threads are isolates as well. Processes that ended with few samples stand apart.
export function processIsolates(vm: VM): string[] {
  const processes = vm.isolates.filter((isolate) => isolate._tid === undefined);
  return [...processes, ...vm._endedIsolates].map(({ id }) => id);
}

export async function readInfo(rpc: Rpc): Promise<ServiceInfo> {
  const [vm, { flags }] = await Promise.all([rpc.call("getVM", {}), rpc.call("getFlagList", {})]);
  const values = Object.fromEntries(flags.map(({ name, valueAsString }) => [name, valueAsString]));
  const flag = (name: string) => values[name] ?? "";
  const isolates = await Promise.all(processIsolates(vm).map((id) => processOf(rpc, id)));
  return {
    version: vm.version.split(" ")[0] ?? "",
    timer: vm._profilerTimer,
    period_us: Number(flag("profile_period")) || vm._profilerPeriodMicros,
    truePeriod_us: vm._profilerTruePeriodMicros,
    mode: flag("profile_mode"),
    profiler: flag("profiler") === "true",
    flags: values,
    symbols: { done: vm._symbols.done, asked: vm._symbols.asked },
    cpuTime: vm._cpuTime,
    unsampled: vm._unsampled ?? [],
    saved: vm._saved ?? [],
    processes: isolates.filter((isolate) => isolate !== null).map(described),
  };
}

async function setFlag(rpc: Rpc, name: string, value: string): Promise<void> {
  const result = await rpc.call("setFlag", { name, value });
  if (result.type === "Error") throw new Error(`${name}: ${result.message}`);
}

export type Command =
  | { set: "period"; period_us: number }
  | { set: "mode"; mode: "cpu" | "wall" }
  | { set: "profiler"; on: boolean }
  | { set: "clear" }
  | { set: "watch"; loops: string };

export async function command(rpc: Rpc, wanted: Command): Promise<void> {
  switch (wanted.set) {
    case "period":
      return setFlag(rpc, "profile_period", String(wanted.period_us));
    case "mode":
      return setFlag(rpc, "profile_mode", wanted.mode);
    case "profiler":
      await rpc.call("_enableProfiler", { enable: wanted.on });
      return;
    case "watch":
      return setFlag(rpc, "stall_watch", wanted.loops);
    case "clear": {
      const vm = await rpc.call("getVM", {});
      const ids = processIsolates(vm);
      await Promise.all(ids.map((isolateId) => rpc.call("clearCpuSamples", { isolateId })));
      await rpc.call("clearVMTimeline", {});
      await rpc.call("_clearStalls", {});
    }
  }
}

/** What changes in between is told by events. */
export async function listen(rpc: Rpc): Promise<void> {
  const streams = ["VM", "Isolate", "Profiler"] as const;
  await Promise.all(streams.map((streamId) => rpc.call("streamListen", { streamId })));
}
