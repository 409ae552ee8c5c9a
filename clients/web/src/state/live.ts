// What the worker tells, as signals; and the data that the page shows now.
import { batch, computed, signal } from "@preact/signals";
import { groupOf } from "../data/group";
import { functionKey } from "../data/shape";
import type { FunctionInfo, LibraryInfo } from "../data/profile";
import type { Backend } from "../worker/client";
import type { DataState, Files, FileUse, FromWorker, Look } from "../worker/messages";
import type { LinkState } from "../wire/connection";
import type { ServiceInfo } from "../wire/service";
import { select, selection } from "./selection";

export const link = signal<LinkState>({ state: "connecting" });
export const info = signal<ServiceInfo | null>(null);
export const problem = signal("");
export const files = signal<Files>({ shown: null, compared: null });
/** The newest that came. */
export const newest = signal<DataState | null>(null);
/** What is shown: the newest, or that of when it was held. */
export const data = signal<DataState | null>(null);
export const held = signal(false);

/** Names by number; they grow, and begin anew after a reset. Read them beside data. */
export const names = {
  functions: [] as FunctionInfo[],
  libraries: [] as LibraryInfo[],
  byKey: new Map<string, number>(),
};

/** Of a group, too: in a path it stands where a function does. */
export function keyOfFunction(fn: number): string {
  const group = groupOf(fn);
  if (group !== null) return `!${group}`;
  return names.functions[fn] ? functionKey(names, fn) : ""; // "": names are newer than what has fn
}

/** A function or a group, as it is written. */
export function nameOf(fn: number): string {
  const group = groupOf(fn);
  if (group === null) return names.functions[fn]?.name ?? "?";
  const state = data.value;
  switch (selection.value.group) {
    case "tag":
      return state?.tags[group] ?? "?";
    case "state":
      return state?.states[group] ?? "?";
    case "library":
      return names.libraries[group]?.name ?? "?";
    case "thread": {
      const thread = state?.threads[group];
      return thread ? `${thread.name} (${thread.tid})` : "?";
    }
    default:
      return processName(group);
  }
}

export function processName(pid: number): string {
  const process = info.value?.processes.find((one) => one.pid === pid);
  return `${process?.name ?? "process"} (${pid})`;
}

/** The library of a function; of a group: nobody's. */
export function libraryOf(fn: number): LibraryInfo {
  return names.libraries[names.functions[fn]?.library] ?? { name: "", path: "", system: true };
}

/** -1: there is no such function. */
export function functionOfKey(key: string): number {
  return names.byKey.get(key) ?? -1;
}

function addNames(state: DataState): void {
  if (state.firstFunction === 0) names.byKey = new Map();
  names.libraries = names.libraries.slice(0, state.firstLibrary).concat(state.libraries);
  names.functions = names.functions.slice(0, state.firstFunction).concat(state.functions);
  for (let fn = state.firstFunction; fn < names.functions.length; fn++) {
    const key = keyOfFunction(fn);
    if (!names.byKey.has(key)) names.byKey.set(key, fn);
  }
}

/** What was selected by time and thread is of other samples. */
function filesChanged(changed: FileUse): void {
  const { window_us: _, threads: __, processes: ___, ...filter } = selection.value.filter;
  if (changed === "shown") select({ filter, zoom: [], chart: {}, group: "" });
  else if (files.value.compared) select({ view: "compare", before: { kind: "file" } });
}

export function told(message: Exclude<FromWorker, { say: "answer" | "failed" }>): void {
  batch(() => {
    switch (message.say) {
      case "link":
        link.value = message.link;
        break;
      case "info":
        info.value = message.info;
        break;
      case "files":
        files.value = message.files;
        filesChanged(message.changed);
        break;
      case "problem":
        problem.value = message.problem;
        break;
      case "data": {
        addNames(message.data);
        newest.value = message.data;
        // A view that is held stays, unless what it shows is no more.
        const gone = data.value !== null && data.value.resets !== message.data.resets;
        if (!held.value || gone) data.value = message.data;
      }
    }
  });
}

export function hold(on: boolean): void {
  held.value = on;
  if (!on) data.value = newest.value;
}

/** What all views ask with. */
export const look = computed<Look>(() => {
  const { filter, transforms, group } = selection.value;
  const until = held.value && data.value ? { until: data.value.samples } : {};
  return { filter: { ...filter, ...until }, transforms, group };
});

export const order = computed(() => {
  const wanted = selection.value.order;
  return wanted === "auto" ? (held.value ? "weight" : "name") : wanted;
});

let worker: Backend | null = null;

export function useBackend(backend: Backend): void {
  worker = backend;
}

export function backend(): Backend {
  if (!worker) throw new Error("the worker was not started");
  return worker;
}
