// The worker: follows the service, keeps the profile, answers the page.
import { KINDS, kindsSampled } from "../data/kinds";
import type { Profile } from "../data/profile";
import type { Stalls } from "../data/stalls/stalls";
import type { Events } from "../data/timeline/events";
import { type Code, readCode } from "../wire/code";
import { Connection } from "../wire/connection";
import { EVENTS, Follower, STALLS } from "../wire/follow";
import type { SamplesKind } from "../wire/protocol";
import { isLinkGone, type Rpc } from "../wire/rpc";
import { type Command, command, listen, readInfo, type ServiceInfo } from "../wire/service";
import { readSession } from "../wire/session";
import { readSource } from "../wire/source";
import { fromBase64 } from "../data/files/base64";
import type { openFile } from "../data/files/open";
import type { SessionFacts } from "../data/files/session_read";
import type { written } from "../data/saved/save";
import type { FileUse, FromWorker, Kind, Questions, ServiceCall, ToWorker, WholeFile } from "./messages";
import { Sources } from "./sources";
import { Store } from "./store";
import { buffersOf } from "./transfer";

const EVENTS_KEPT = 12_000_000; // of 28 bytes each
const SAMPLE_EVENTS = new Set(["_SamplesAvailable", "_SamplesCleared"]);
const NOTHING = { profile: null, functions: 0, libraries: 0 };

export interface Port {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  onmessage: ((event: { data: ToWorker }) => void) | null;
}

/** What the page's second file has for the worker. */
export interface Later {
  openFile: typeof openFile;
  written: typeof written;
  Events: typeof Events;
  Stalls: typeof Stalls;
}

/** later: loads it; each call does, until it is there. */
export function serve(port: Port, later: () => Promise<Later>): void {
  new Server(port, later);
}

class Server {
  #time = this.#newStore("time");
  #stores = new Map([["time", this.#time]]); // of the kinds that were asked for
  #shown = this.#time;
  #events: Events | null = null;
  #stalls: Stalls | null = null;
  #sources = new Sources(this.#time.reader.profile);
  #connection: Connection | null = null;
  #rpc: Rpc | null = null;
  #listened: Rpc | null = null; // by which it tells
  #version = 0;
  #told: { profile: Profile | null; functions: number; libraries: number } = NOTHING;
  #resets = 0;
  #infoWanted = false;
  #hasEnded = false; // all that was recorded
  #info: ServiceInfo | null = null;
  #eventFollower = new Follower((table, more) => {
    const { timeline } = this.#events!.add(table, EVENTS_KEPT);
    const isNew = table.reset ? timeline.length : table.eventCount + table.openCount;
    if (isNew && this.#shown === this.#time) this.#liveChanged(more);
  }, EVENTS);
  #stallFollower = new Follower((list, more) => {
    if (this.#stalls!.add(list) && this.#shown === this.#time) this.#liveChanged(more);
  }, STALLS);

  #newStore(kind: SamplesKind): Store {
    const store: Store = new Store(kind, (more) => {
      this.#nameProcesses();
      if (store === this.#shown) this.#liveChanged(more);
    });
    return store;
  }

  /** Of another kind than time it is asked each second while it is shown: the service tells of samples of time. */
  #show(kind: SamplesKind, held: boolean): void {
    const isOther = kind !== this.#sources.kind;
    this.#sources.kind = kind;
    // What a file has is no matter of the service: it is told when the file is closed.
    if (!this.#sources.isLive) return isOther ? this.#tellData() : undefined;
    const isNew = this.#changeTo(kind);
    this.#shown.hold(held);
    if (isNew) this.#liveChanged(false);
  }

  /** Of the service. True: another kind is shown than before, and it has come. */
  #changeTo(kind: SamplesKind): boolean {
    const before = this.#shown;
    if (!this.#stores.has(kind)) this.#stores.set(kind, this.#newStore(kind));
    this.#shown = this.#stores.get(kind)!;
    if (this.#shown === before) return false;
    if (before !== this.#time) before.follower.stop();
    this.#followShown();
    return this.#shown.hasCome;
  }

  #close(as: FileUse): void {
    this.#sources.close(as);
    // Of the kind that the file was shown by: the page asks for it behind this, and would see another one till then.
    const { isLive, kind } = this.#sources;
    if (isLive && this.#stores.get(kind)?.hasCome && this.#changeTo(kind)) this.#liveChanged(true);
    this.#tellFiles(as);
  }

  #followShown(): void {
    if (this.#rpc && this.#shown !== this.#time) void this.#shown.follower.follow(this.#rpc, this.#failed);
  }

  #keep(name: string): void {
    this.#sources.keep(this.#shown.release(), name);
    this.#followShown();
    this.#say({ say: "files", files: this.#sources.files, changed: "compared" });
  }

  /** Does the service of that link tell when there is something? */
  #nowTells(rpc: Rpc): void {
    if (rpc === this.#listened) for (const one of this.#followers) one.tells();
  }

  get #followers() {
    return [this.#time.follower, this.#eventFollower, this.#stallFollower];
  }

  constructor(
    private readonly port: Port,
    private readonly later: () => Promise<Later>,
  ) {
    port.onmessage = ({ data }) => this.#receive(data);
  }

  /** What they are read with is in the second file. rpc null: only that is loaded. */
  async #followEvents(rpc: Rpc | null): Promise<void> {
    try {
      const { Events, Stalls } = await this.later();
      this.#events ??= new Events();
      this.#stalls ??= new Stalls();
      if (!rpc || rpc !== this.#rpc) return;
      const both = [this.#eventFollower.follow(rpc, this.#failed), this.#stallFollower.follow(rpc, this.#failed)];
      this.#nowTells(rpc); // it may have said so before they began
      await Promise.all(both);
    } catch {
      // The service is gone; the next link tries again.
    }
  }

  #liveChanged(more: boolean): void {
    // What programs told stands beside samples of time.
    const told = this.#shown === this.#time ? ([this.#events, this.#stalls] as const) : ([null, null] as const);
    this.#sources.liveChanged(this.#shown.reader.profile, ...told);
    if (!more && this.#sources.isLive) this.#tellData();
  }

  #say(message: FromWorker, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }

  #receive(message: ToWorker): void {
    switch (message.say) {
      case "connect":
        return this.#connect(message.base);
      case "retry":
        return this.#connection?.retry();
      case "readInfo":
        return void this.#readInfo();
      case "command":
        return void this.#command(message.command);
      case "ask":
        return void this.#answer(message);
      case "open":
        return void this.#open(message);
      case "show":
        return this.#show(message.kind, message.held);
      case "keep":
        return this.#keep(message.name);
      case "close":
        return this.#close(message.as);
    }
  }

  async #answer({ id, kind, args }: Extract<ToWorker, { say: "ask" }>): Promise<void> {
    try {
      const answer = await this.#answerTo(kind, args);
      this.#say({ say: "answer", id, answer }, buffersOf(answer));
    } catch (error) {
      this.#say({ say: "failed", id, reason: textOf(error) });
    }
  }

  async #answerTo(kind: Kind, args: Questions[Kind]["args"]): Promise<Questions[Kind]["answer"]> {
    if (kind === "code") return this.#code((args as Questions["code"]["args"]).fn);
    if (kind === "source") return this.#source((args as Questions["source"]["args"]).file);
    if (kind === "whole") return this.#whole();
    if (kind === "call") return this.#call(args as ServiceCall);
    if (kind === "loops") return this.#loops((args as Questions["loops"]["args"]).sort);
    if (kind !== "save") return this.#sources.shown.answer(kind, args as never);
    const { filter, form, name } = args as Questions["save"]["args"];
    const { written } = await this.later();
    const { profile, events } = this.#sources.shown;
    return written(profile, filter, form, name, events?.timeline);
  }

  /** Of a file what was opened; of a service its session. */
  async #whole(): Promise<WholeFile> {
    const file = this.#sources.whole();
    if (file) return file;
    if (!this.#rpc) throw new Error("not connected");
    const data = await readSession(this.#rpc);
    return { name: "", isSession: true, bytes: fromBase64(data) };
  }

  async #call({ method, params }: ServiceCall): Promise<unknown> {
    if (!this.#rpc) throw new Error("not connected");
    return this.#rpc.call(method, params as never);
  }

  /** Of a file as they were in the end. */
  async #loops(sort: Questions["loops"]["args"]["sort"]): Promise<Questions["loops"]["answer"]> {
    const { stalls } = this.#sources.shown;
    if (!stalls || !this.#sources.isLive || !this.#rpc) return stalls && stalls.loops(stalls.stats, sort);
    const stats = await this.#rpc.call("_getLoopStats", {});
    return stalls.loops("loops" in stats ? stats : null, sort);
  }

  async #source(file: string): Promise<string | null> {
    const own = this.#sources.text(file);
    if (own !== null || (!this.#sources.isLive && !this.#rpc)) return own;
    if (!this.#rpc) throw new Error("not connected");
    return readSource(this.#rpc, file);
  }

  async #code(fn: number): Promise<Code> {
    const id = this.#sources.shown.profile.functions[fn]?.id;
    const none = { instructions: [], bias: 0 };
    if (!id) return { ...none, reason: "a profile file does not contain machine code" };
    if (!this.#rpc) throw new Error("not connected");
    return readCode(this.#rpc, id);
  }

  async #open({ as, name, content }: Extract<ToWorker, { say: "open" }>): Promise<void> {
    try {
      const { openFile } = await this.later();
      const bytes = new Uint8Array(content);
      this.#sources.open(as, name, bytes, await openFile(bytes));
      this.#tellFiles(as);
    } catch (error) {
      this.#say({ say: "problem", problem: `cannot open ${name}: ${textOf(error)}` });
    }
  }

  #tellFiles(changed: FileUse): void {
    this.#say({ say: "files", files: this.#sources.files, changed });
    this.#tellData();
  }

  #connect(base: string): void {
    this.#connection = new Connection(base, {
      state: (link) => {
        if (link.state !== "open") this.#rpc = null;
        this.#say({ say: "link", link });
      },
      open: (rpc) => {
        this.#rpc = rpc;
        const listens = listen(rpc); // before it asks: what comes behind the answer is told
        void this.#time.follower.follow(rpc, this.#failed);
        this.#followShown();
        if (this.#version) void this.#followEvents(rpc);
        listens
          .then(() => this.#nowTells((this.#listened = rpc)), this.#failed)
          .then(() => this.#readInfo());
      },
      event: (_stream, event) => {
        if (SAMPLE_EVENTS.has(event.kind)) this.#time.follower.told();
        else if (event.kind === "_TimelineAvailable") this.#eventFollower.told();
        else if (event.kind === "_StallsAvailable") this.#stallFollower.told();
        else void this.#readInfo(); // whatever it is that changed: all of it is asked again
      },
    });
    this.#connection.start();
  }

  #failed = (error: unknown): void => {
    if (isLinkGone(error)) return; // it says so itself
    this.#say({ say: "problem", problem: textOf(error) });
  };

  /** Once more behind the one that runs, however many events come. */
  async #readInfo(): Promise<void> {
    if (this.#infoWanted || !this.#rpc) return;
    this.#infoWanted = true;
    await new Promise((resolve) => setTimeout(resolve, 50));
    this.#infoWanted = false;
    const rpc = this.#rpc;
    if (!rpc) return;
    try {
      const info = await readInfo(rpc);
      const hasEnded = !info.processes.some(({ live }) => live);
      if (hasEnded && !this.#hasEnded) await Promise.all([this.#now(), this.#last(rpc, kindsSampled(info.flags))]); // the last samples first
      if (rpc !== this.#rpc) return; // the next link has asked
      this.#hasEnded = hasEnded;
      this.#info = info;
      this.#nameProcesses();
      this.#say({ say: "info", info });
    } catch (error) {
      this.#failed(error);
    }
  }

  #now(): Promise<unknown> {
    return Promise.all([...new Set([...this.#followers, this.#shown.follower])].map((one) => one.now()));
  }

  /** Of other kinds, too: the service may go with the program, and nobody could ask for them later. */
  #last(rpc: Rpc, kinds: readonly SamplesKind[]): Promise<unknown> {
    const wanted = new Set([...kinds, ...this.#time.reader.sampled]);
    return Promise.all(
      [...wanted].map(async (kind) => {
        if (!this.#stores.has(kind)) this.#stores.set(kind, this.#newStore(kind));
        const store = this.#stores.get(kind)!;
        const { follower, reader } = store;
        store.isWhole = false;
        void follower.follow(rpc, this.#failed);
        for (let had = -1; !store.isWhole && had < reader.profile.samples.length; ) {
          had = reader.profile.samples.length; // a reply without any was refused
          await follower.now();
        }
        if (this.#shown !== store) follower.stop();
      }),
    );
  }

  /** A file that is written of the profile has their names. */
  #nameProcesses(): void {
    for (const { pid, name } of this.#info?.processes ?? [])
      this.#shown.reader.profile.processNames.set(pid, name);
  }

  async #command(wanted: Command): Promise<void> {
    const rpc = this.#rpc;
    if (!rpc) return this.#say({ say: "problem", problem: "not connected" });
    await command(rpc, wanted).catch(this.#failed);
    await this.#readInfo();
    void this.#now();
  }

  #tellData(): void {
    const { profile, events, stalls } = this.#sources.shown;
    if (profile !== this.#told.profile) {
      if (this.#told.profile) this.#resets++;
      this.#told = { ...NOTHING, profile };
    }
    const { functions: firstFunction, libraries: firstLibrary } = this.#told;
    this.#told.functions = profile.functions.length;
    this.#told.libraries = profile.libraries.length;
    const { reader } = this.#shown;
    const session = this.#sources.files.shown?.session;
    const { losses, counter } = KINDS[profile.kind];
    const lostOf = ({ lost, counted }: SessionFacts) =>
      profile.kind === "time" ? lost : Object.fromEntries(Object.entries(counted).filter(([name, count]) => name in losses && count));
    const data = {
      version: ++this.#version,
      resets: this.#resets,
      samples: profile.samples.length + profile.evicted,
      evicted: profile.evicted,
      extent_us: this.#sources.shown.extent_us(),
      period_us: profile.period_us,
      unit: profile.unit(),
      kind: profile.kind,
      ...(this.#sources.isLive
        ? { kinds: this.#time.reader.sampled, met: reader.met, lost: reader.lost, missed_ns: reader.missed_ns }
        : {
            ...{ kinds: this.#sources.kinds, met: session?.counted[counter] ?? 0, lost: session ? lostOf(session) : {} },
            missed_ns: profile.kind === "time" ? (session?.missed_ns ?? 0) : 0,
          }),
      threads: profile.threads,
      events: events?.timeline.extent_us() ? events.timeline.length : 0,
      lostEvents: events?.timeline.lost ?? 0,
      evictedEvents: events?.timeline.evicted ?? 0,
      eventsOf: events?.counts() ?? [],
      stalls: stalls?.length ?? 0,
      ongoingStalls: stalls?.ongoing ?? 0,
      processNames: profile.processNames,
      tags: profile.tags.texts,
      hasTags: profile.hasTags(),
      states: profile.states.texts,
      firstFunction,
      functions: profile.functions.slice(firstFunction),
      firstLibrary,
      libraries: profile.libraries.slice(firstLibrary),
    };
    this.#say({ say: "data", data });
    // A service that is gone by then would not send them.
    if (this.#version === 1) void this.#followEvents(this.#rpc);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
