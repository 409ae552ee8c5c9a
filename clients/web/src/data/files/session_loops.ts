// Blocks of loops of a session file (docs/session_format.md), as _getLoopStats tells of them.
//
//   LOOP -> LoopStats; a later block's loops, settings and unwatched threads take the place of earlier ones
import type { Loop, LoopStats, LoopTimes, MicrosRange } from "../../wire/protocol";
import { levelOf } from "../timeline/frames";
import type { Timeline } from "../timeline/timeline";
import { type Json, list, numberOf, record, textOf } from "./json";
import { pidOf } from "./session_tables";

const REFRESH_RATE = 60;
const LEVELS = ["jank", "stall", "hang", "dead"] as const;
const WORDS = ["best", "normal", "middle", "high", "frozen"] as const;

const whole = (value: unknown) => (typeof value === "number" ? value : 0);
const rangeOf = (least_ns: number, most_ns: number): MicrosRange => [Math.floor(least_ns / 1000), Math.ceil(most_ns / 1000)];
const byLevel = (value: (place: number) => number) =>
  Object.fromEntries(LEVELS.map((level, i) => [level, value(i)])) as Record<(typeof LEVELS)[number], number>;

export class SessionLoops {
  #loops = new Map<number, Loop>();
  #told = false;
  #settings: Json = {};
  #unwatched: LoopStats["unwatched"] = [];

  add(told: Json): void {
    this.#told = true;
    if (told.settings) this.#settings = record("settings", told.settings);
    for (const one of list("loops", told.loops ?? [])) {
      const loop = loopOf(record("a loop", one));
      this.#loops.set(loop.number, loop);
    }
    if (told.unwatched)
      this.#unwatched = list("unwatched", told.unwatched).map((one) => {
        const { process, tid, name, systemCall } = record("a thread", one);
        const pid = pidOf(process);
        return { isolateId: `isolates/${pid}`, pid, tid: whole(tid), thread: textOf(name), systemCall: textOf(systemCall) };
      });
  }

  /** null: the file says nothing of loops. */
  stats(timeline: Timeline): LoopStats | null {
    if (!this.#told) return null;
    const { watch, names, limitsMs } = this.#settings;
    return {
      ...{ type: "_LoopStats", limits: limitsOf(limitsMs), watch: textOf(names) || textOf(watch) || "auto" },
      ...{ loops: [...this.#loops.values()], unwatched: this.#unwatched, frames: framesOf(timeline), cpuHigh: [] },
    };
  }
}

const limitsOf = (value: unknown) => {
  const limits = list("limitsMs", value ?? []);
  return byLevel((i) => whole(limits[i]));
};

function loopOf(told: Json): Loop {
  const pid = pidOf(told.process);
  const levels = record("levels", told.levels ?? {});
  return {
    ...{ number: numberOf("number", told.number), isolateId: `isolates/${pid}`, pid, tid: whole(told.tid) },
    ...{ thread: textOf(told.thread), name: textOf(told.name), kind: textOf(told.kind) as Loop["kind"] },
    ...{ ended: told.ended === true, watched: told.watched === true, busy: told.busy === true },
    ...{ dispatches: whole(told.dispatches), dispatch: timesOf("dispatch", told), delay: timesOf("delay", told) },
    ...{ blockingMicros: Math.floor(whole(told.blockingNs) / 1000), dismissed: whole(told.dismissed) },
    ...{ levels: byLevel((i) => whole(levels[LEVELS[i]])), causes: record("causes", told.causes ?? {}) as Loop["causes"] },
    limits: limitsOf(told.limitsMs),
  };
}

/** A part of them took at most what its bucket ends with, and no more than the longest. */
function timesOf(name: string, told: Json): LoopTimes {
  const times = record(name, told[name] ?? {});
  const buckets = list("buckets", times.buckets ?? []).map(whole);
  const [least, most] = list("maxNs", times.maxNs ?? []).map(whole);
  const count = whole(times.count);
  const at = (part: number): MicrosRange => {
    let sum = 0;
    const bucket = buckets.findIndex((one) => (sum += one) >= part * count && one > 0);
    if (bucket < 0) return [0, 0];
    const to = Math.min(2000 * 2 ** bucket, most);
    return rangeOf(Math.min(bucket ? 1000 * 2 ** bucket : 0, to), to);
  };
  return {
    ...{ count, sum: Math.floor(whole(times.sumNs) / 1000), buckets },
    ...{ p50: at(0.5), p95: at(0.95), p99: at(0.99), max: rangeOf(least ?? 0, most ?? 0) },
  };
}

function framesOf(timeline: Timeline): LoopStats["frames"] {
  const levels = { best: 0, normal: 0, middle: 0, high: 0, frozen: 0 };
  let [count, dropped] = [0, 0];
  for (const { rows } of timeline.threads)
    for (const { key, track } of rows.values()) {
      if (key[0] !== "f") continue;
      for (let i = 0; i < track.length; i++, count++) {
        const late = Math.floor((track.duration.data[i] * REFRESH_RATE) / 1e9);
        dropped += late;
        levels[WORDS[levelOf(late)]]++;
      }
    }
  return { refreshRate: REFRESH_RATE, count, dropped, levels };
}
