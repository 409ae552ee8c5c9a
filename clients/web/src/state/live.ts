// What the worker tells, as signals; and the data that the page shows now.
import { batch, computed, signal } from "@preact/signals";
import { groupOf } from "../data/group";
import { KINDS } from "../data/kinds";
import { functionKey } from "../data/shape";
import type { FunctionInfo, LibraryInfo } from "../data/profile";
import type { Backend } from "../worker/client";
import type { DataState, Files, FileUse, FromWorker, Look, Unit } from "../worker/messages";
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
/** The time of the newest sample that is shown while held; 0: of none. A link has it. */
export const heldAt_us = signal(0);

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
      return state?.tags[group] || "(no tag)";
    case "state":
      return state?.states[group] ?? "?";
    case "library":
      return names.libraries[group]?.name ?? "?";
    case "thread": {
      const thread = state?.threads[group];
      return thread ? `${thread.name || "thread"} (${thread.tid})` : "?";
    }
    default:
      return processName(group);
  }
}

export function processName(pid: number): string {
  const told = data.value?.processNames.get(pid);
  const process = info.value?.processes.find((one) => one.pid === pid);
  return `${told ?? process?.name ?? "process"} (${pid})`;
}

/** The library of a function; of a group: nobody's. */
export function libraryOf(fn: number): LibraryInfo {
  return names.libraries[names.functions[fn]?.library] ?? { name: "", path: "", system: true };
}

/** Where a function is defined, as far as it is known. */
export function placeOfFunction(fn: number): string {
  const { file = "", line = 0 } = names.functions[fn] ?? {};
  return file && line ? `${file}:${line}` : file;
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
  if (changed === "shown") select({ filter, zoom: [], chart: {}, group: "", overview: null, stall: 0 });
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
        problem.value = ""; // of a file before
        // The first that is shown: the link is of it.
        if (data.value || message.changed === "compared") filesChanged(message.changed);
        break;
      case "problem":
        problem.value = message.problem;
        break;
      case "data": {
        addNames(message.data);
        newest.value = message.data;
        // A view that is held stays, unless what it shows is no more.
        const gone = data.value !== null && data.value.resets !== message.data.resets;
        if (gone) heldAt_us.value = 0;
        const isOnTheWay = (data.value?.extent_us?.[1] ?? 0) < heldAt_us.value; // to what a link holds
        // Of a moment the worker has only the newest, and stops at it by itself once it knows.
        const isWorkersNewest = KINDS[message.data.kind].isMoment;
        if (!held.value || gone || isOnTheWay || isWorkersNewest) data.value = message.data;
      }
    }
  });
}

export function hold(on: boolean): void {
  held.value = on;
  heldAt_us.value = (on && data.value?.extent_us?.[1]) || 0;
  if (!on) data.value = newest.value;
}

/** What the samples that are shown stand for. */
export const kindShown = computed(() => KINDS[data.value?.kind ?? "time"]);
export const isTime = computed(() => kindShown.value === KINDS.time);

/** What shares and numbers are of: of other kinds their weights, which may be objects. */
export const usedUnit = computed<Unit>(() => {
  const wanted = selection.value.unit;
  if (!isTime.value) return "time";
  return wanted === "auto" ? (data.value?.unit ?? "time") : wanted;
});

export const asObjects = computed(() => !isTime.value && selection.value.unit === "samples");

/** What columns of it are called. */
export const unitWord = computed(() => {
  const [weights, objects] = kindShown.value.units;
  return byUnit(objects, asObjects.value ? objects : weights);
});

export function switchUnit(): void {
  const isCounted = usedUnit.value === "samples" || asObjects.value;
  select({ unit: isCounted ? "time" : "samples" });
}

export function byUnit<T>(samples: T, time: T): T {
  return usedUnit.value === "samples" ? samples : time;
}

/** What all views ask with. */
export const look = computed<Look>(() => {
  const { filter: all, transforms, group } = selection.value;
  const { window_us, ...filter } = all;
  const until = held.value &&
    data.value && {
      until: data.value.samples,
      ...(heldAt_us.value > 0 && { until_us: heldAt_us.value }),
    };
  const window = window_us && !kindShown.value.isMoment && { window_us };
  return {
    filter: { ...window, ...filter, ...until },
    ...{ transforms, group, unit: usedUnit.value },
    ...(asObjects.value && { asObjects: true }),
  };
});

export const order = computed(() => {
  const wanted = selection.value.order;
  if (wanted !== "auto") return wanted;
  // Inverted, it has hundreds of boxes in its first row.
  return held.value || selection.value.inverted ? "weight" : "name";
});

let worker: Backend | null = null;

export function useBackend(backend: Backend): void {
  worker = backend;
}

export function backend(): Backend {
  if (!worker) throw new Error("the worker was not started");
  return worker;
}
