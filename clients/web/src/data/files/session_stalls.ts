// Blocks of stalls of a session file (docs/session_format.md), as the service tells of them.
//
//   STLS -> Stall
import type { LoopStats, Stall } from "../../wire/protocol";
import { Stalls } from "../stalls/stalls";
import { type Json, list, numberOf, record, textOf } from "./json";
import { pidOf } from "./session_tables";

const STATES = ["Running", "Runnable", "Lock", "IO", "Sleep", "GilHeld", "GilWait"];

/** What it was late for, in words; protocol/stalls says the same of a service's. */
const CAUSES: Record<Stall["cause"], string> = {
  unknown: "why is not known",
  busy: "it computed",
  lock: "it waited for another thread",
  io: "it waited for a descriptor or a disk",
  "page-fault": "it waited for pages",
  sleep: "it slept by its own wish",
  child: "it waited for another process",
  starved: "it wanted a processor and got none",
  host: "the whole machine was late: so was isoscope",
  stopped: "it was stopped by a signal or a debugger",
};

export class SessionStalls {
  #told: Stall[] = [];

  add(told: Json): void {
    this.#told.push(stallOf(told));
  }

  with(stats: LoopStats | null): Stalls {
    const stalls = new Stalls(stats);
    stalls.add({ stalls: this.#told });
    return stalls;
  }
}

const whole = (value: unknown) => (typeof value === "number" ? value : 0);
const micros = (ns: unknown) => Math.floor(whole(ns) / 1000);
const rangeOf = (name: string, value: unknown): [number, number] => {
  const [least, most] = list(name, value).map((one) => numberOf(name, one));
  return [Math.floor(least / 1000), Math.ceil(most / 1000)];
};

function stallOf(told: Json): Stall {
  const texts = list("texts", told.texts ?? []).map(textOf);
  const text = (number: unknown) => texts[whole(number) - 1] ?? "";
  const rows = (name: string) => list(name, told[name] ?? []).map((row) => list(name, row));
  const pid = pidOf(told.process);
  const evidence = record("evidence", told.evidence ?? {});
  const cause = (textOf(told.cause) in CAUSES ? textOf(told.cause) : "unknown") as Stall["cause"];
  const start = rangeOf("startNs", told.startNs);
  const length = rangeOf("durationNs", told.durationNs);
  const looks = whole(told.looks);
  const culprit = placeOf(told.culprit, text);
  const own = whole(told.culpritLooks);
  return {
    ...{ number: numberOf("number", told.number), isolateId: `isolates/${pid}`, pid, tid: whole(told.tid) },
    ...{ thread: textOf(told.thread), loop: whole(told.loop), name: textOf(told.name) },
    ...{ level: levelOf(textOf(told.level)), ongoing: told.ongoing === true, told: told.told === true },
    ...{ equals: whole(told.equals), updates: whole(told.updates), limitMicros: micros(told.limitNs) },
    ...{ startMicros: start, durationMicros: length, timeOriginMicros: start[0], timeExtentMicros: length[1] },
    ...{ cause, causeText: sentence(cause, evidence), ...evidenceOf(evidence), looks },
    ...(culprit && { culprit: { ...culprit, micros: micros(told.culpritNs), looks: own, share: looks ? Math.min(1, own / looks) : 0 } }),
    caller: placeOf(told.caller, text),
    ...{ tag: text(told.tag) || undefined, slice: text(told.slice) || undefined },
    prefix: list("prefix", told.prefix ?? []).map(text),
    story: rows("runs").map(([fn, from, to, count]) => {
      return { function: text(fn), fromMicros: micros(from), toMicros: micros(to), looks: whole(count) };
    }),
    stacks: rows("stacks").map(([at, state, functions]) => {
      return { micros: micros(at), state: STATES[whole(state)] ?? "", functions: list("a stack", functions).map(text) };
    }),
  };
}

function levelOf(word: string): Stall["level"] {
  return word === "hang" || word === "dead" ? word : "stall";
}

/** undefined: it is not known. */
function placeOf(value: unknown, text: (number: unknown) => string): Stall["caller"] {
  const [fn, library, file, line] = list("a place", value ?? []);
  if (!text(fn)) return undefined;
  return { function: text(fn), library: text(library), file: text(file) || undefined, line: whole(line) || undefined };
}

function evidenceOf(told: Json) {
  const { descriptor, holderTid: tid } = told;
  return {
    ...{ runningMicros: micros(told.runningNs), runnableMicros: micros(told.runnableNs) },
    ...{ sleepingMicros: micros(told.sleepingNs), faults: whole(told.faults), hostLateMicros: micros(told.hostLateNs) },
    ...{ systemCall: textOf(told.systemCall) || undefined, path: textOf(told.path) || undefined },
    descriptor: typeof descriptor === "number" && descriptor >= 0 ? descriptor : undefined,
    holder: whole(tid) ? { tid: whole(tid), thread: textOf(told.holder), function: textOf(told.holderFunction) } : undefined,
  };
}

function sentence(cause: Stall["cause"], told: Json): string {
  const { systemCall, path, holder, descriptor, faults, runningMicros, runnableMicros, hostLateMicros } = evidenceOf(told);
  const call = systemCall ? ` in ${systemCall}` : "";
  if (cause === "lock" || cause === "child") {
    const what = cause === "lock" ? "thread" : "process";
    if (!holder) return `it waited${call} for another ${what}`;
    const name = holder.thread && ` '${holder.thread}'`;
    return `it waited${call} for ${what} ${holder.tid}${name}${holder.function && `, which stood in ${holder.function}`}`;
  }
  if (cause === "io" && (call || path || descriptor !== undefined)) {
    const on = descriptor === undefined ? "" : ` on descriptor ${descriptor}`;
    return `it waited${call}${on}${path ? (on ? ` (${path})` : ` on ${path}`) : ""}`;
  }
  const ms = (of: number) => Math.round(of / 1000);
  const figures: Partial<Record<Stall["cause"], string | 0>> = {
    sleep: call,
    busy: runningMicros && ` for ${ms(runningMicros)} ms`,
    starved: runnableMicros && ` for ${ms(runnableMicros)} ms`,
    host: hostLateMicros && `, by ${ms(hostLateMicros)} ms`,
    "page-fault": faults && `: ${faults} major faults`,
  };
  return CAUSES[cause] + (figures[cause] || "");
}
