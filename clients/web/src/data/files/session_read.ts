// Reads session files (docs/session_format.md).
//
//   file -> blocks -> tables -> what frames, threads and names are
//                  -> pieces of samples -> Profile, one for each kind
//
//                  -> blocks of events -> Events
//                  -> blocks of stalls -> Stalls
//
// A recording that was cut off is read up to its last complete block. Left out: memory and mappings.
// Errors  BadFile, with where in the file it is.
import type { Exit, SamplesKind, SavedFile, VM } from "../../wire/protocol";
import { KIND_NAMES } from "../kinds";
import type { Profile } from "../profile";
import type { Stalls } from "../stalls/stalls";
import type { Events } from "../timeline/events";
import { Builder } from "./builder";
import { type Json, list, numberOf, record, textOf } from "./json";
import { BadFileAt, type Block, blocksOf, Unpacker, wrong } from "./session_blocks";
import { SessionEvents } from "./session_events";
import { SessionLoops } from "./session_loops";
import { Places } from "./session_places";
import { SampleReader } from "./session_samples";
import { SessionStalls } from "./session_stalls";
import { pidOf, Tables } from "./session_tables";

/** A process of a session, which is over. */
export interface SavedProcess {
  pid: number;
  name: string;
  live: boolean;
  startMs: number;
  endMs: number; // 0: not known
  exit?: Exit;
}

/** What a session tells besides its samples. */
export interface SessionFacts {
  file: SavedFile;
  processes: SavedProcess[];
  lost: Record<string, number>; // ticks without a sample, by cause
  counted: Record<string, number>; // of other kinds than time, as the service's counters of that name
  missed_ns: number; // CPU time that no sample stands for
  cpuTime: VM["_cpuTime"];
  unsampled: NonNullable<VM["_unsampled"]>; // programs that were not sampled
}

const JSONS = new Set(["HEAD", "SETT", "PROC", "MODS", "THRD", "NAME", "FUNC", "PIEC", "FACT", "STAT", "ENDS"]);

/** Members of a process' status, and the counters that the service has of them. */
const COUNTERS = {
  ...{ allocations: "alloc_sampled", allocationsLost: "alloc_lost", allocationsLoose: "alloc_loose" },
  ...{ lockWaits: "lock_waits", waits: "wait_sampled", waitsLost: "wait_lost", faults: "fault_sampled", faultsLost: "fault_lost" },
};

export interface Session {
  profile: Profile;
  kinds: ReadonlyMap<SamplesKind, Profile>; // others than time that have samples
  session: SessionFacts;
  texts: ReadonlyMap<string, string>; // of source files, by their paths
  events: Events;
  stalls: Stalls;
}

export function readSession(file: Uint8Array): Session {
  const tables = new Tables();
  const late = new SessionStalls();
  const loops = new SessionLoops();
  const pieces = readTables(file, tables, late, loops);
  const session = factsOf(tables);
  const readers = new Map<SamplesKind, SampleReader>();
  const readerOf = (kind: SamplesKind) => {
    let reader = readers.get(kind);
    if (!reader) {
      const builder = new Builder(kind);
      const { profile } = builder;
      profile.period_us = Number(tables.settings.periodUs) || 0;
      for (const { pid, name } of session.processes) profile.processNames.set(pid, name);
      readers.set(kind, (reader = new SampleReader(profile, new Places(tables, builder))));
    }
    return reader;
  };
  const { profile } = readerOf("time");
  const told = new SessionEvents((thread) => tables.whoIs(thread));
  for (const { piece, block } of pieces) {
    if (block.type === "SMPL") inBlock(block, () => readerOf("time").add(piece, block));
    else if (block.type === "KSMP") inBlock(block, () => readerOf(piece.kind as SamplesKind).add(piece, block));
    else inBlock(block, () => told.add(piece, new Unpacker().read(block)));
  }
  told.events.timeline.settle();
  session.missed_ns = missedBy(tables, [...readers.values()]);
  readers.delete("time");
  const kinds = new Map([...readers].map(([kind, reader]) => [kind, reader.profile]));
  const stalls = late.with(loops.stats(told.events.timeline));
  return { profile, kinds, session, texts: tables.texts, events: told.events, stalls };
}

interface Told {
  piece: Json;
  block: Block;
}

/** All of them; the blocks of samples and events are left for later, each with what is said of it. */
function readTables(file: Uint8Array, tables: Tables, late: SessionStalls, loops: SessionLoops): Told[] {
  const unpacker = new Unpacker(); // one frame for all
  const pieces: Told[] = [];
  let piece: Json = {};
  for (const block of blocksOf(file))
    inBlock(block, () => {
      if (block.type === "SMPL" || block.type === "EVNT") pieces.push({ piece, block });
      else if (block.type === "KSMP") {
        // A kind of a later isoscope is passed over.
        if (KIND_NAMES.includes(piece.kind as SamplesKind)) pieces.push({ piece, block });
      } else if (block.type === "EVTS" || block.type === "KPIE") piece = jsonOf(new Unpacker().read(block));
      else if (block.type === "LOOP") loops.add(jsonOf(new Unpacker().read(block)));
      else if (block.type === "STLS") late.add(jsonOf(new Unpacker().read(block)));
      else if (block.type === "CHNS") tables.addChains(unpacker.read(block));
      else if (block.type === "SRCE") tables.addSource(new Unpacker().read(block));
      else if (JSONS.has(block.type)) {
        const told = jsonOf(unpacker.read(block));
        if (block.type === "PIEC") piece = told;
        else tables.add(block.type, told);
      }
    });
  return pieces;
}

function jsonOf(content: Uint8Array): Json {
  return record("it", JSON.parse(new TextDecoder().decode(content)));
}

/** What goes wrong there is told with its place. */
function inBlock(block: Block, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw error instanceof BadFileAt ? error : wrong(block.at, `block ${block.type}: ${(error as Error).message}`);
  }
}

function factsOf({ head, settings, state, end, processes }: Tables): SessionFacts {
  const startUs = Number(head.startUs) || 0;
  const wallStartUs = Number(head.wallStartUs) || 0;
  const ms = (us: unknown) => (Number(us) ? (Number(us) - startUs + wallStartUs) / 1000 : 0);
  const [lost, counted]: Record<string, number>[] = [{}, {}];
  const command = list("command", head.command ?? []).map(textOf);
  const saved = [...processes].map(([id, one]): SavedProcess => {
    const status = record("status", one.status ?? {});
    for (const [cause, count] of Object.entries(record("lost", status.lost ?? {})))
      lost[cause] = (lost[cause] ?? 0) + numberOf("lost", count);
    for (const [member, counter] of Object.entries(COUNTERS))
      counted[counter] = (counted[counter] ?? 0) + (Number(status[member]) || 0);
    const name = textOf(one.exe).replace(/^.*\//, "");
    const exit = "waitStatus" in one ? exitOf(Number(one.waitStatus)) : undefined;
    return { pid: pidOf(id), name, live: false, startMs: ms(one.startUs), endMs: ms(one.endUs), exit };
  });
  const file: SavedFile = {
    name: "",
    ...(command.length > 0 && { command: command.join(" ") }),
    host: textOf(head.host),
    producer: textOf(head.producer),
    startTime: wallStartUs / 1000,
    startMicros: startUs,
    endMicros: Number(end?.endUs) || 0,
    closed: end !== null,
    missed: Number(settings.missed) || 0,
  };
  const cpuTime = cpuTimeOf(record("cpu", settings.cpu ?? {}));
  const unsampled = list("unsampled", state.unsampled ?? []).map((one) => {
    const { exe, pid, count, reason } = record("unsampled", one);
    return { exe: textOf(exe), pid: Number(pid), count: Number(count), reason: textOf(reason) };
  });
  return { file, processes: saved, lost, counted, missed_ns: 0, cpuTime, unsampled };
}

/** Of the processes that the service knows: those with samples of any kind, and the program that was started. */
function missedBy({ processes }: Tables, readers: SampleReader[]): number {
  const sampled = new Set(readers.flatMap(({ profile }) => profile.threads.map(({ pid }) => pid)));
  const all = [...processes].map(([id, { started, status }]) => ({ isIn: sampled.has(id), started, ...record("status", status ?? {}) }));
  const own = all.filter(({ started }) => started);
  if (own.length && !own.some(({ isIn }) => isIn)) own[0].isIn = true;
  const missed = ({ cpuNs, sampledNs }: Json) => Math.max(0, (Number(cpuNs) || 0) - (Number(sampledNs) || 0));
  return all.reduce((sum, one) => sum + (one.isIn ? missed(one as Json) : 0), 0);
}

/** As getVM tells it. */
function cpuTimeOf(told: Json): VM["_cpuTime"] {
  const us = (name: string) => (Number(told[name]) || 0) / 1000;
  const [sampledMicros, notSampledMicros, tree_us] = ["sampledNs", "notSampledNs", "treeNs"].map(us);
  const known_us = sampledMicros + notSampledMicros;
  const rest = tree_us ? { withoutSamplerMicros: Math.max(0, tree_us - known_us) } : {};
  return { processes: Number(told.processes) || 0, sampledMicros, notSampledMicros, ...rest };
}

const SIGNALS: Record<number, string> = {
  1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
  9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 31: "SIGSYS",
};

/** As waitpid says it. */
function exitOf(status: number): Exit {
  const signal = status & 0x7f;
  if (!signal) return { status: (status >> 8) & 0xff };
  return { signal: SIGNALS[signal] ?? `signal ${signal}`, core: (status & 0x80) !== 0 };
}
