// Replies of _getCpuSamples in the table form, into a profile.
//
// The reader keeps the service's numbers (functions, frames, nodes of the newest tree) beside the
// profile's own. Throws an Error that names what is missing or does not go on where it should.
import type { SamplesTable, WireFrame, WireTree } from "../wire/protocol";
import { IntColumn } from "./columns";
import { Profile } from "./profile";

const STACKS_FREE = 200_000;

export class TableReader {
  profile = new Profile();
  resets = 0; // how often all was forgotten
  lost: Record<string, number> = {};
  missed_ns = 0;
  #libraries = new Map<string, number>();
  #functions: number[] = []; // the profile's, by the service's number
  #frames: Int32Array[] = []; // the places of each, outermost first
  #tree = 0;
  #nodes = new IntColumn(); // stack node of each node of the tree
  #threads: { thread: number; tag: number }[] = [];
  #stacksLeft = 0; // when stacks were last forgotten

  add(wire: SamplesTable): void {
    if (wire.reset) this.forget();
    this.profile.period_us = wire.samplePeriod;
    this.#addTables(wire);
    for (const tree of wire.trees) this.#addTree(tree, wire.vmTags);
    this.lost = {};
    for (const [name, count] of Object.entries(wire._counters))
      if (name.startsWith("lost_") && count) this.lost[name.slice(5)] = count;
    this.missed_ns = wire._counters.not_sampled_ns;
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

  forget(): void {
    this.profile = new Profile();
    this.#stacksLeft = 0;
    this.resets++;
    this.#libraries.clear();
    this.#functions = [];
    this.#frames = [];
    this.#tree = 0;
  }

  #addTables(wire: SamplesTable): void {
    const { libraries, functions } = this.profile;
    goesOn("firstLibrary", wire.firstLibrary, libraries.length);
    goesOn("firstFunction", wire.firstFunction, this.#functions.length);
    goesOn("firstFrame", wire.firstFrame, this.#frames.length);
    for (const { id, name, path, system, runs } of wire.libraries)
      this.#libraries.set(id, this.profile.library({ name, path, system, runs }));
    for (const one of wire.functions) {
      const library = this.#libraries.get(one.owner.id);
      if (library === undefined) throw new Error(`${one.owner.id} was not among the libraries`);
      const { name, file = "", line = 0, kind, id, runtime } = one;
      this.#functions.push(functions.push({ name, library, file, line, kind, id, runtime }) - 1);
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
    let time_us = tree.timeOriginMicros;
    for (let i = 0; i < wire.frames.length; i++) {
      const { thread, tag } = within("thread", this.#threads, wire.threads[i]);
      const stack = this.#stack(wire.callers[i], wire.frames[i]);
      time_us += wire.timeDeltas[i];
      samples.stack.push(stack);
      samples.time_us.push(time_us);
      samples.cpu_ns.push(wire.cpuNanos[i]);
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
