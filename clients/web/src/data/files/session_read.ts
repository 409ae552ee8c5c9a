// Reads session files (docs/session_format.md).
//
//   file -> blocks -> tables -> what frames, threads and names are
//                  -> pieces of samples -> Profile
//
//                  -> blocks of events -> Events
//                  -> blocks of stalls -> Stalls
//
// A recording that was cut off is read up to its last complete block. Left out: memory and mappings.
// Errors  BadFile, with where in the file it is.
import type { Exit, SavedFile, VM } from "../../wire/protocol";
import { IntColumn } from "../columns";
import type { Profile } from "../profile";
import type { Stalls } from "../stalls/stalls";
import type { Events } from "../timeline/events";
import { Builder } from "./builder";
import { type Json, list, numberOf, record, textOf } from "./json";
import { BadFileAt, type Block, blocksOf, Unpacker, wrong } from "./session_blocks";
import { columnsOf, Numbers } from "./session_columns";
import { SessionEvents } from "./session_events";
import { SessionLoops } from "./session_loops";
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
  missed_ns: number; // CPU time that no sample stands for
  cpuTime: VM["_cpuTime"];
  unsampled: NonNullable<VM["_unsampled"]>; // programs that were not sampled
}

const JSONS = new Set(["HEAD", "SETT", "PROC", "MODS", "THRD", "NAME", "FUNC", "PIEC", "FACT", "STAT", "ENDS"]);
const STATES = ["Running", "Runnable", "Lock", "IO", "Sleep", "GilHeld", "GilWait"];

export interface Session {
  profile: Profile;
  session: SessionFacts;
  texts: ReadonlyMap<string, string>; // of source files, by their paths
  events: Events;
  stalls: Stalls;
}

export function readSession(file: Uint8Array): Session {
  const builder = new Builder();
  const tables = new Tables(builder);
  const late = new SessionStalls();
  const loops = new SessionLoops();
  const pieces = readTables(file, tables, late, loops);
  builder.profile.period_us = Number(tables.settings.periodUs) || 0;
  const session = factsOf(tables);
  for (const { pid, name } of session.processes) builder.profile.processNames.set(pid, name);
  const samples = new SampleReader(builder.profile, tables);
  const told = new SessionEvents((thread) => tables.whoIs(thread));
  for (const { piece, block } of pieces) {
    if (block.type === "SMPL") inBlock(block, () => samples.add(piece, block));
    else inBlock(block, () => told.add(piece, new Unpacker().read(block)));
  }
  told.events.timeline.settle();
  return { profile: builder.profile, session, texts: tables.texts, events: told.events, stalls: late.with(loops.stats(told.events.timeline)) };
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
      else if (block.type === "EVTS") piece = jsonOf(new Unpacker().read(block));
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

/** What goes on from the largest that there was. */
class Above {
  #largest = 0;

  next(column: Numbers): number {
    const value = this.#largest + column.signed();
    this.#largest = Math.max(value, this.#largest);
    return value;
  }
}

/** Frames below a frame of a chunk, in the order in which they came first. */
class Callees {
  #known = new Map<number, number[]>();
  #frames = new Above();

  /** The next one below that frame: a number from 1, or 0 where a new one comes. */
  next(caller: number, callees: Numbers, newFrames: Numbers): number {
    let known = this.#known.get(caller);
    if (!known) this.#known.set(caller, (known = []));
    let at = callees.next();
    if (!at) at = known.push(this.#frames.next(newFrames));
    if (at > known.length) throw new RangeError("a callee is not there");
    return known[at - 1];
  }
}

/** Callers of a chunk's samples, each with its leaves, in the order in which they came first. */
class Stacks {
  #known: { caller: number; leaves: number[] }[] = [];
  #callers = new Above();

  /** Of the next sample: numbers from 1, or 0 where a new one comes. newLeaf: a new one of that caller. */
  next(
    callers: Numbers,
    newCallers: Numbers,
    leaves: Numbers,
    newLeaf: (caller: number) => number,
  ): [caller: number, leaf: number] {
    let at = callers.next();
    if (!at) at = this.#known.push({ caller: this.#callers.next(newCallers), leaves: [] });
    const known = this.#known[at - 1];
    if (!known) throw new RangeError("a sample's caller is not there");
    let leaf = leaves.next();
    if (!leaf) leaf = known.leaves.push(newLeaf(known.caller));
    if (leaf > known.leaves.length) throw new RangeError("a sample's leaf is not there");
    return [known.caller, known.leaves[leaf - 1]];
  }
}

/** Numbers of nodes, frames, sources and stacks go on through the pieces of a chunk. Node 0 and frame 0 are none. */
class SampleReader {
  #unpacker = new Unpacker();
  #nodes = new IntColumn(); // stack nodes of the profile
  #frames: Int32Array[] = []; // their places, outermost first
  #frameOf: number[] = []; // of each node
  #sources: { thread: number; tag: number }[] = [];
  #stacks = new Stacks();
  #callees = new Callees();

  constructor(
    private readonly profile: Profile,
    private readonly tables: Tables,
  ) {}

  add(piece: Json, block: Block): void {
    if (piece.begins === true) this.#begin();
    const [modules, offsets, parents, callees, ...samples] = columnsOf(this.#unpacker.read(block), 13);
    const newFrames = new Numbers(samples[7]);
    for (const source of list("sources", piece.sources)) {
      const [thread, tag] = list("a source", source);
      this.#sources.push(this.tables.source(numberOf("a thread", thread), numberOf("a tag", tag)));
    }
    this.#addFrames(new Numbers(modules), new Numbers(offsets));
    this.#addNodes(new Numbers(parents), new Numbers(callees), newFrames);
    this.#addSamples(piece, samples, newFrames);
    newFrames.end();
  }

  #begin(): void {
    this.#unpacker = new Unpacker();
    this.#nodes = new IntColumn();
    this.#nodes.push(0);
    this.#frames = [new Int32Array(0)];
    this.#frameOf = [0];
    this.#sources = [];
    this.#stacks = new Stacks();
    this.#callees = new Callees();
  }

  #addFrames(modules: Numbers, offsets: Numbers): void {
    for (let offset = 0; !modules.done; ) {
      offset += offsets.signed();
      this.#frames.push(this.tables.places(modules.next(), offset));
    }
    offsets.end();
  }

  #addNodes(parents: Numbers, callees: Numbers, newFrames: Numbers): void {
    while (!parents.done) {
      const back = parents.next();
      if (back >= this.#nodes.length) throw new RangeError("a node's parent is not before it");
      const parent = back ? this.#nodes.length - back : 0;
      const frame = this.#callees.next(this.#frameOf[parent], callees, newFrames);
      this.#nodes.push(this.#stack(parent, frame));
      this.#frameOf.push(frame);
    }
    callees.end();
  }

  #stack(caller: number, frame: number): number {
    if (!(caller < this.#nodes.length)) throw new RangeError(`there is no node ${caller}`);
    if (!(frame > 0 && frame < this.#frames.length)) throw new RangeError(`there is no frame ${frame}`);
    let node = this.#nodes.data[caller];
    for (const place of this.#frames[frame]) node = this.profile.stack(node, place);
    return node;
  }

  #addSamples(piece: Json, columns: Uint8Array[], newFrames: Numbers): void {
    const [minUs, unit, base] = ["minUs", "cpuUnit", "cpuBase"].map((name) => numberOf(name, piece[name]));
    const ends = columns[8];
    const numbers = columns.slice(0, 7).map((column) => new Numbers(column));
    const [sources, cpus, times, callers, newCallers, leaves, newLeaves] = numbers;
    const newLeaf = (caller: number) => this.#callees.next(this.#frameOf[caller] ?? 0, newLeaves, newFrames);
    const { samples, states } = this.profile;
    const last_us = new Map<number, number>(); // by source
    for (const end of ends) {
      const source = sources.next();
      const from = this.#sources[source];
      if (!from) throw new RangeError("a sample's thread is not there");
      const cpu = (cpus.signed() + base) * unit; // in 100 ns
      // It is due when its CPU time has passed since its thread's one before.
      const time_us = (last_us.get(source) ?? minUs) + Math.floor((cpu + 5) / 10) + times.signed();
      last_us.set(source, time_us);
      const [caller, leaf] = this.#stacks.next(callers, newCallers, leaves, newLeaf);
      samples.stack.push(this.#stack(caller, leaf));
      samples.time_us.push(time_us);
      samples.cpu_ns.push(100 * cpu);
      samples.thread.push(from.thread);
      samples.tag.push(from.tag);
      samples.state.push(states.intern(STATES[end & 15] ?? "Blocked"));
      samples.whole.push(end >> 4 ? 0 : 1);
    }
    for (const column of numbers) column.end();
  }
}

function factsOf({ head, settings, state, end, processes }: Tables): SessionFacts {
  const startUs = Number(head.startUs) || 0;
  const wallStartUs = Number(head.wallStartUs) || 0;
  const ms = (us: unknown) => (Number(us) ? (Number(us) - startUs + wallStartUs) / 1000 : 0);
  const lost: Record<string, number> = {};
  const command = list("command", head.command ?? []).map(textOf);
  const saved = [...processes].map(([id, one]): SavedProcess => {
    const status = record("status", one.status ?? {});
    for (const [cause, count] of Object.entries(record("lost", status.lost ?? {})))
      lost[cause] = (lost[cause] ?? 0) + numberOf("lost", count);
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
  const missed_ns = 1000 * cpuTime.notSampledMicros;
  return { file, processes: saved, lost, missed_ns, cpuTime, unsampled };
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
