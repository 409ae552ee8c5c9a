// Samples of a session file (docs/session_format.md), into a profile: PIEC and SMPL, of other kinds than time KPIE and KSMP.
//
//   frames -> places (session_places.ts); nodes -> stack nodes; columns -> samples
//
// Errors  RangeError; what the file's names do not know is theirs.
import type { SamplesKind } from "../../wire/protocol";
import { IntColumn } from "../columns";
import type { Profile, Samples } from "../profile";
import { type Json, list, numberOf } from "./json";
import { type Block, Unpacker } from "./session_blocks";
import { columnsOf, Numbers } from "./session_columns";
import type { Places } from "./session_places";

const STATES = ["Running", "Runnable", "Lock", "IO", "Sleep", "GilHeld", "GilWait"];
const COLUMNS = 13;
const OBJECT_PARTS = 256;
/** Hundredths: a service of the file tells no more, and a page of that has the same sums. */
const asTold = (objects: number) => Math.round(100 * objects) / 100;
/** What is told of a sample besides: how many columns. */
const MORE: Record<SamplesKind, number> = { time: 0, alloc: 1, live: 1, lock: 3, wait: 3, fault: 1 };
/** Of a kind's weights, in what the profile has: nanoseconds, bytes, faults. */
const unitOf = (kind: SamplesKind) => (kind === "time" || MORE[kind] === 3 ? 100 : 1);

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
export class SampleReader {
  #unpacker = new Unpacker();
  #nodes = new IntColumn(); // stack nodes of the profile
  #frames: Int32Array[] = []; // their places, outermost first
  #frameOf: number[] = []; // of each node
  #sources: { thread: number; tag: number }[] = [];
  #stacks = new Stacks();
  #callees = new Callees();

  constructor(
    readonly profile: Profile,
    private readonly places: Places,
  ) {}

  add(piece: Json, block: Block): void {
    if (piece.begins === true) this.#begin();
    // Of kinds other than time each block is a frame of its own.
    if (this.profile.kind !== "time") this.#unpacker = new Unpacker();
    const count = COLUMNS + MORE[this.profile.kind];
    const [modules, offsets, parents, callees, ...samples] = columnsOf(this.#unpacker.read(block), count);
    const newFrames = new Numbers(samples[7]);
    for (const source of list("sources", piece.sources)) {
      const [thread, tag] = list("a source", source);
      this.#sources.push(this.places.source(numberOf("a thread", thread), numberOf("a tag", tag)));
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
      this.#frames.push(this.places.of(modules.next(), offset));
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
    const { kind, samples, states } = this.profile;
    const isTime = kind === "time";
    const [minUs, unit, base] = ["minUs", "cpuUnit", "cpuBase"].map((name) => numberOf(name, piece[name]));
    const ends = columns[8];
    const numbers = columns.slice(0, 7).map((column) => new Numbers(column));
    const [sources, cpus, times, callers, newCallers, leaves, newLeaves] = numbers;
    const newLeaf = (caller: number) => this.#callees.next(this.#frameOf[caller] ?? 0, newLeaves, newFrames);
    const more = moreOf(samples, kind, columns.slice(9));
    const last_us = new Map<number, number>(); // by source
    for (const end of ends) {
      const source = sources.next();
      const from = this.#sources[source];
      if (!from) throw new RangeError("a sample's thread is not there");
      const weight = (cpus.signed() + base) * unit; // of time and waits in 100 ns
      // Of time it is due when its CPU time has passed since its thread's one before.
      const passed = isTime ? Math.floor((weight + 5) / 10) : 0;
      const time_us = (last_us.get(source) ?? minUs) + passed + times.signed();
      last_us.set(source, time_us);
      const [caller, leaf] = this.#stacks.next(callers, newCallers, leaves, newLeaf);
      samples.stack.push(this.#stack(caller, leaf));
      samples.time_us.push(time_us);
      samples.cpu_ns.push(unitOf(kind) * weight);
      more.next();
      samples.thread.push(from.thread);
      samples.tag.push(from.tag);
      samples.state.push(states.intern(STATES[end & 15] ?? "Blocked"));
      samples.whole.push(end >> 4 ? 0 : 1);
    }
    for (const column of numbers) column.end();
    more.end();
  }
}

/** What is told of samples of other kinds than time, besides. */
function moreOf(samples: Samples, kind: SamplesKind, columns: Uint8Array[]) {
  const numbers = columns.map((column) => new Numbers(column));
  const [objects, holders, whats] = numbers;
  const next = () => {
    // A sample of page faults is one, as the service tells it.
    if (objects) samples.objects.push(kind === "fault" ? (objects.next(), 1) : asTold(objects.next() / OBJECT_PARTS));
    if (!holders) return;
    samples.holder.push(holders.next());
    samples.what.push(whats.next()); // below 128: one byte
  };
  return { next, end: () => numbers.forEach((one) => one.end()) };
}
