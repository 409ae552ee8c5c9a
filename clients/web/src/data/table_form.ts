// Replies of _getCpuSamples in the table form, into a profile.
//
// The reader keeps the service's numbers (functions, frames, nodes of the newest tree) beside the
// profile's own. Throws an Error that names what is missing or does not go on where it should.
import type { SamplesKind, SamplesTable, WireFrame, WireTree } from "../wire/protocol";
import { IntColumn } from "./columns";
import { KINDS, KIND_NAMES } from "./kinds";
import { Profile } from "./profile";

const STACKS_FREE = 200_000;

export class TableReader {
  profile: Profile;
  resets = 0; // how often all was forgotten
  lost: Record<string, number> = {};
  met = 0; // of another kind than time: samples that the service ever took, be they freed
  missed_ns = 0;
  sampled: SamplesKind[] = []; // other kinds of which the service has samples
  #libraries = new Map<string, number>();
  #libraryCount = 0; // that were told since the cursor began
  #known = new Map<string, number>(); // functions by the service's id, where they outlive its numbers
  #functions: number[] = []; // the profile's, by the service's number
  #frames: Int32Array[] = []; // the places of each, outermost first
  #tree = 0;
  #nodes = new IntColumn(); // stack node of each node of the tree
  #threads: { thread: number; tag: number }[] = [];
  #stacksLeft = 0; // when stacks were last forgotten

  constructor(private readonly kind: SamplesKind = "time") {
    this.profile = new Profile(kind);
  }

  add(wire: SamplesTable): void {
    if (wire.reset) this.#reset();
    this.profile.period_us = wire.samplePeriod;
    this.#addTables(wire);
    for (const tree of wire.trees) this.#addTree(tree, wire.vmTags);
    this.#count(wire._counters);
  }

  #count(counters: SamplesTable["_counters"]): void {
    const isTime = this.kind === "time";
    this.lost = {};
    for (const [name, count] of Object.entries(counters)) {
      const isLost = isTime ? name.startsWith("lost_") : name in KINDS[this.kind].losses;
      if (isLost && count) this.lost[name.replace(/^lost_/, "")] = count;
    }
    this.met = counters[KINDS[this.kind].counter] ?? 0;
    this.missed_ns = isTime ? counters.not_sampled_ns : 0;
    this.sampled = KIND_NAMES.filter((kind) => counters[KINDS[kind].counter] > 0);
  }

  /**
   * Bounds what is held: hardly more than samples stay, and of the stacks at most about twice those
   * that they have, and some.
   */
  keep(samples: number): void {
    this.profile.keep(samples);
    if (this.profile.stackCount < 2 * this.#stacksLeft + STACKS_FREE) return;
    this.#nodes.renumber(this.profile.forgetStacks(this.#nodes.view()));
    this.#stacksLeft = this.profile.stackCount;
  }

  /** What is of the moment begins anew each second: functions, stacks and threads keep their numbers, so that views stay. */
  #reset(): void {
    if (!KINDS[this.kind].isMoment) return this.forget();
    this.profile.samples.drop(this.profile.samples.length);
    this.#libraryCount = 0;
    this.#functions = [];
    this.#frames = [];
    this.#tree = 0;
  }

  forget(): void {
    this.profile = new Profile(this.kind);
    this.#libraryCount = 0;
    this.#known.clear();
    this.#stacksLeft = 0;
    this.resets++;
    this.#libraries.clear();
    this.#functions = [];
    this.#frames = [];
    this.#tree = 0;
  }

  #addTables(wire: SamplesTable): void {
    const { functions } = this.profile;
    goesOn("firstLibrary", wire.firstLibrary, this.#libraryCount);
    goesOn("firstFunction", wire.firstFunction, this.#functions.length);
    goesOn("firstFrame", wire.firstFrame, this.#frames.length);
    this.#libraryCount += wire.libraries.length;
    for (const { id, name, path, system, runs } of wire.libraries)
      if (!this.#libraries.has(id)) this.#libraries.set(id, this.profile.library({ name, path, system, runs }));
    for (const one of wire.functions) {
      const library = this.#libraries.get(one.owner.id);
      if (library === undefined) throw new Error(`${one.owner.id} was not among the libraries`);
      const { name, file = "", line = 0, kind, id, runtime } = one;
      const number = this.#known.get(id) ?? functions.push({ name, library, file, line, kind, id, runtime }) - 1;
      this.#functions.push(number);
      if (KINDS[this.kind].isMoment) this.#known.set(id, number);
    }
    for (const frame of wire.frames) this.#frames.push(this.#places(frame));
  }

  #places({ functions, lines, files, offset }: WireFrame): Int32Array {
    const places = functions.map((number, i) => {
      const fn = within("function", this.#functions, number);
      const info = this.profile.functions[fn];
      const inlined = i + 1 < functions.length ? 1 : 0;
      return this.profile.place(fn, files?.[i] || info.file, lines[i] ?? 0, inlined, offset);
    });
    return Int32Array.from(places.reverse());
  }

  #addTree(tree: WireTree, vmTags: string[]): void {
    if (tree.tree !== this.#tree) {
      this.#tree = tree.tree;
      this.#nodes = new IntColumn();
      this.#nodes.push(0);
      this.#threads = [];
    }
    goesOn("firstNode", tree.firstNode, this.#nodes.length);
    const { callers, frames } = tree.nodes;
    for (let i = 0; i < callers.length; i++) this.#nodes.push(this.#stack(callers[i], frames[i]));
    this.#threads.length = tree.firstThread;
    for (const { isolateId, tid, name, userTag } of tree.threads) {
      const pid = Number(/\d+/.exec(isolateId)?.[0] ?? 0);
      const thread = this.profile.thread(pid, tid, name);
      // Where no tag was set, the service tells the thread's name: that may be another one by now.
      const tag = userTag === (name || "Default") ? "" : userTag;
      this.#threads.push({ thread, tag: this.profile.tags.intern(tag) });
    }
    this.#addSamples(tree, vmTags);
  }

  #stack(caller: number, frame: number): number {
    if (!(caller < this.#nodes.length)) throw new Error(`nodes: there is no caller ${caller}`);
    let node = this.#nodes.data[caller];
    for (const place of within("frame", this.#frames, frame))
      node = this.profile.stack(node, place);
    return node;
  }

  #addSamples(tree: WireTree, vmTags: string[]): void {
    const wire = tree.samples;
    const { samples, states } = this.profile;
    const cut = new Set(wire.incomplete);
    const weights = wire.bytes ?? wire.waitNanos ?? wire.faults ?? wire.cpuNanos;
    const many = wire.objects ?? wire.waits ?? wire.faults?.map(() => 1);
    let time_us = tree.timeOriginMicros;
    for (let i = 0; i < wire.frames.length; i++) {
      const { thread, tag } = within("thread", this.#threads, wire.threads[i]);
      const stack = this.#stack(wire.callers[i], wire.frames[i]);
      time_us += wire.timeDeltas[i];
      samples.stack.push(stack);
      samples.time_us.push(time_us);
      samples.cpu_ns.push(weights[i]);
      if (many) samples.objects.push(many[i]);
      if (wire.holders) samples.holder.push(wire.holders[i]);
      if (wire.waitedFor) samples.what.push(wire.waitedFor[i]);
      samples.thread.push(thread);
      samples.tag.push(tag);
      samples.state.push(states.intern(within("vmTag", vmTags, wire.vmTags[i])));
      samples.whole.push(cut.has(i) ? 0 : 1);
    }
  }
}

function goesOn(member: string, first: number, soFar: number): void {
  if (first !== soFar) throw new Error(`${member}: ${first}, where ${soFar} has to follow`);
}

function within<T>(what: string, list: T[], number: number): T {
  const found = list[number];
  if (found === undefined) throw new Error(`there is no ${what} ${number}`);
  return found;
}
