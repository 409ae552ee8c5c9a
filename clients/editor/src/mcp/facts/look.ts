// What part of a profile a question is about: its kind, window, process and thread.
import { z } from "zod";
import type { Filter } from "../../../../web/src/data/filter";
import { KIND_NAMES, KINDS, kindsSampled } from "../../../../web/src/data/kinds";
import type { Profile } from "../../../../web/src/data/profile";
import type { SamplesKind } from "../../../../web/src/wire/protocol";
import { Problem } from "../../core/problem";
import { Reading } from "../../core/reading";
import { ms, type Value } from "./answer";
import { effective } from "./chance";
import type { Current } from "./opened";

export const PART = {
  from_s: z.number().optional().describe("seconds after the first sample"),
  to_s: z.number().optional().describe("seconds after the first sample"),
  last_s: z.number().optional().describe("the last so many seconds, in place of from_s and to_s"),
  process: z.number().int().optional().describe("only the process with this pid"),
  thread: z.union([z.string(), z.number().int()]).optional().describe("only threads with this name or tid"),
};
const kindWords = KIND_NAMES.map((kind) => `${kind} (${KINDS[kind].about})`);
export const KIND = {
  kind: z
    .enum(KIND_NAMES)
    .optional()
    .describe(`what samples stand for: ${kindWords.join(", ")}. Default: time; the others need options of \`isoscope run\``),
};
const partSchema = z.object(PART);
export type Part = z.infer<typeof partSchema>;

export interface Look {
  reading: Reading;
  profile: Profile;
  kind: SamplesKind;
  samples: number; // that say as much, if they were equal
  unsure: string[];
}

const FEW = 100;
const CUT_LEAST = 0.2;
const UNNAMED_LEAST = 0.2;

/** Throws a Problem where nothing is left. */
export async function lookAt(current: Current, part: Part, kind: SamplesKind = "time"): Promise<Look> {
  const answers = kind === "time" ? current.profile.answers : await ofKind(current, kind);
  const { profile } = answers;
  if (!profile.samples.length) throw new Problem(kind === "time" ? noSamples(current) : KINDS[kind].none);
  const filter = filterOf(profile, part);
  const reading = new Reading(answers, filter);
  if (!reading.whole.samples) throw new Problem("no sample lies in this window, process and thread; ask without them");
  const samples = effective(profile, filter);
  return { reading, profile, kind, samples, unsure: [...current.unsure, ...unsureOf(reading, profile)] };
}

async function ofKind({ profile }: Current, kind: SamplesKind) {
  if (kindsSampled(profile.info?.flags ?? {}).includes(kind)) return profile.ofKind(kind);
  throw new Problem(`kind: ${KINDS[kind].missing}`);
}

function noSamples({ profile }: Current): string {
  if (profile.info && !profile.info.profiler) return "there are no samples: sampling is switched off";
  return "there are no samples: the program used too little CPU time for one; with `isoscope run --mode wall` threads that sleep are sampled, too";
}

function filterOf(profile: Profile, part: Part): Filter {
  const window_us = windowOf(profile, part);
  const threads = part.thread === undefined ? undefined : threadsOf(profile, part.thread);
  if (part.process !== undefined && !profile.threads.some(({ pid }) => pid === part.process))
    throw new Problem(`process: there is none with pid ${part.process}; there are: ${pids(profile)}`);
  return {
    ...(window_us && { window_us }),
    ...(part.process !== undefined && { processes: [part.process] }),
    ...(threads && { threads }),
  };
}

const pids = ({ threads }: Profile) => [...new Set(threads.map(({ pid }) => pid))].slice(0, 20).join(", ");

function windowOf(profile: Profile, { from_s, to_s, last_s }: Part): [number, number] | null {
  if (last_s !== undefined && (from_s !== undefined || to_s !== undefined))
    throw new Problem("last_s excludes from_s and to_s");
  const [first, last] = timesOf(profile);
  if (last_s !== undefined) return [last - last_s * 1e6, Infinity];
  if (from_s === undefined && to_s === undefined) return null;
  const from = from_s ?? 0;
  if (to_s !== undefined && to_s <= from) throw new Problem(`to_s: ${to_s} is not after from_s, ${from}`);
  return [first + from * 1e6, to_s === undefined ? Infinity : first + to_s * 1e6];
}

/** Of the first and the last sample. */
export function timesOf({ samples }: Profile): [number, number] {
  let [first, last] = [Infinity, -Infinity];
  for (const time of samples.time_us.view()) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return [first, last];
}

function threadsOf(profile: Profile, wanted: string | number): number[] {
  const found = profile.threads.filter(({ tid, name }) => name === wanted || String(tid) === String(wanted));
  if (found.length) return found.map(({ tid }) => tid);
  const names = [...new Set(profile.threads.map(({ name, tid }) => name || String(tid)))].slice(0, 20);
  throw new Problem(
    `thread: there is none called ${JSON.stringify(wanted)}; there are: ${names.map((one) => JSON.stringify(one)).join(", ")}`,
  );
}

function unsureOf({ whole, functions }: Reading, { samples }: Profile): string[] {
  const told: string[] = [];
  if (whole.samples < FEW) told.push(`there are only ${whole.samples} samples: run it for longer`);
  const cut = samples.whole.view().reduce((sum, isWhole) => sum + 1 - isWhole, 0) / samples.length;
  if (cut >= CUT_LEAST) told.push(`${Math.round(100 * cut)} % of the stacks are truncated: callers may be missing`);
  const unnamed = functions.reduce((sum, { name, library, self }) => sum + (name.startsWith(`${library}+0x`) ? self : 0), 0);
  if (unnamed >= UNNAMED_LEAST)
    told.push(`${Math.round(100 * unnamed)} % is in functions without a name: the program or a library has no symbols`);
  return told;
}

/** What the figures are of. */
export function wholeOf({ reading, kind, samples }: Look): Record<string, Value> {
  const { unit, whole } = reading;
  return {
    kind,
    percent_of: unit === "samples" ? "samples" : amountName(kind),
    samples: whole.samples,
    samples_of_equal_worth: Math.round(samples),
    [amountName(kind)]: amount(kind, whole.time_ns),
    error: "half of the 95 % range, in percent points",
  };
}

const UNIT_WORDS = { ns: "waited_ms", bytes: "bytes", count: "count" } as const;

export const amountName = (kind: SamplesKind) => (kind === "time" ? "cpu_ms" : UNIT_WORDS[KINDS[kind].unit]);
export const amount = (kind: SamplesKind, weight: number) => (KINDS[kind].unit === "ns" ? ms(weight) : Math.round(weight));
