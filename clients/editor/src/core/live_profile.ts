// One service, followed: its samples, stalls and facts, as they come. When it is lost, what came stays.
//
// It is read by the page's own modules: `answers` gives tables, trees, lines and neighbours.
import { Stalls } from "../../../web/src/data/stalls/stalls";
import { TableReader } from "../../../web/src/data/table_form";
import { Answers } from "../../../web/src/worker/answers";
import { Connection, type LinkState } from "../../../web/src/wire/connection";
import { Follower, samplesOf, STALLS } from "../../../web/src/wire/follow";
import type { SamplesKind, SamplesTable } from "../../../web/src/wire/protocol";
import { isLinkGone, type Rpc, type StreamEvent } from "../../../web/src/wire/rpc";
import { type Command, command, listen, readInfo, type ServiceInfo } from "../../../web/src/wire/service";
import { baseOf, nameOf } from "./address";
import { Problem, textOf } from "./problem";
import { provideSocket } from "./socket";

const SAMPLES_KEPT = 4_000_000; // of 36 bytes each
const PATIENCE_MS = 30_000;
const SAMPLE_EVENTS = new Set(["_SamplesAvailable", "_SamplesCleared"]);

export interface LiveEvents {
  /** Samples, stalls or facts are others. */
  changed?(): void;
  link?(state: LinkState): void;
  problem?(text: string): void;
}

export class LiveProfile {
  readonly base: string;
  readonly stalls = new Stalls();
  link: LinkState = { state: "connecting" };
  info: ServiceInfo | null = null;
  version = 0; // grows with each change
  #answers: Answers;
  #reader = new TableReader();
  #follower = new Follower((table, more) => this.#samplesCame(table, more));
  #stallFollower = new Follower((list) => void (this.stalls.add(list) && this.#changed()), STALLS);
  #buildIds = new Map<string, string>();
  #connection: Connection;
  #rpc: Rpc | null = null;
  #isWhole = false; // all that there was at first has come
  #waiting = new Set<() => void>();

  /** uri: any form of a service's address. Throws a Problem where it is none. */
  constructor(
    uri: string,
    private readonly events: LiveEvents = {},
  ) {
    provideSocket();
    this.base = baseOf(uri);
    this.#answers = new Answers(this.#reader.profile, null, this.stalls);
    this.#connection = new Connection(this.base, {
      state: (link) => this.#linkIs(link),
      open: (rpc) => void this.#follow(rpc).catch(this.#failed),
      event: (_stream, event) => this.#told(event),
    });
    this.#connection.start();
  }

  /** Of samples of time. Another one after samples were cleared; what it answered before is void with each change. */
  get answers(): Answers {
    return this.#answers;
  }

  /** By the path of a module: the build id that was sampled. */
  get buildIds(): ReadonlyMap<string, string> {
    return this.#buildIds;
  }

  /** Throws a Problem while there is no connection. */
  get rpc(): Rpc {
    if (!this.#rpc) throw new Problem(this.trouble() || `${nameOf(this.base)}: the service has ended`);
    return this.#rpc;
  }

  /** All that the service has by now is there. Throws a Problem that says why not. */
  async ready(patience_ms = PATIENCE_MS): Promise<void> {
    const deadline = Date.now() + patience_ms;
    while (!this.#isWhole || !this.info) {
      const { state } = this.link;
      const left_ms = deadline - Date.now();
      if (state === "lost" || state === "refused")
        throw new Problem(this.trouble() || `${nameOf(this.base)} ended before its samples were read`);
      if (left_ms <= 0) throw new Problem(`${nameOf(this.base)} did not send its samples in ${patience_ms / 1000} s`);
      await this.#change(left_ms);
    }
  }

  /** Asks now for what came since. */
  async refresh(): Promise<void> {
    if (!this.#rpc) return;
    await Promise.all([this.#follower.now(), this.#stallFollower.now(), this.#readInfo(this.#rpc)]);
  }

  /** Samples of another kind, all that there are by now. */
  async ofKind(kind: SamplesKind): Promise<Answers> {
    if (kind === "time") return this.answers;
    const reader = new TableReader(kind);
    for (let cursor: string | undefined, more = true; more; ) {
      const place = { count: 50_000, ...(cursor && { cursor }) };
      const reply = await samplesOf(kind).ask(this.rpc, place);
      if (!("next" in reply)) break;
      if (!cursor) reply.reset = true;
      reader.add(reply);
      cursor = reply.next;
      more = Boolean(reply.more);
    }
    return new Answers(reader.profile);
  }

  /** Clears, switches mode and period: what the page's buttons do. */
  async command(wanted: Command): Promise<void> {
    await command(this.rpc, wanted);
    await this.refresh();
  }

  /** All programs that were sampled have. */
  get hasEnded(): boolean {
    return Boolean(this.info?.processes.length) && !this.info?.processes.some(({ live }) => live);
  }

  /** Why there is no connection, in words; "": there is one, or may be soon, or none is needed any more. */
  trouble(): string {
    const where = nameOf(this.base);
    if (this.link.state === "lost") return this.hasEnded ? "" : `${where}: ${this.link.reason}; is the program still running?`;
    if (this.link.state !== "refused") return "";
    return `${where} refused the connection: ${this.link.reason.trim()}. A token holds for one run: take the URI of this one`;
  }

  close(): void {
    this.#follower.stop();
    this.#stallFollower.stop();
    this.#connection.stop();
    this.#rpc = null;
  }

  #linkIs(link: LinkState): void {
    this.link = link;
    if (link.state !== "open") this.#rpc = null;
    this.#wake();
    this.events.link?.(link);
  }

  async #follow(rpc: Rpc): Promise<void> {
    this.#rpc = rpc;
    const listens = listen(rpc); // before it asks: what comes behind the answer is told
    void this.#follower.follow(rpc, this.#failed);
    void this.#stallFollower.follow(rpc, this.#failed);
    await listens;
    if (rpc !== this.#rpc) return;
    this.#follower.tells();
    this.#stallFollower.tells();
    await this.#readInfo(rpc);
  }

  #told({ kind }: StreamEvent): void {
    if (SAMPLE_EVENTS.has(kind)) this.#follower.told();
    else if (kind === "_StallsAvailable") this.#stallFollower.told();
    else if (this.#rpc) void this.#readInfo(this.#rpc).catch(this.#failed);
  }

  async #readInfo(rpc: Rpc): Promise<void> {
    const info = await readInfo(rpc);
    // The last samples first: the service may go with the program.
    if (info.processes.length && !info.processes.some(({ live }) => live)) await Promise.all([this.#follower.now(), this.#stallFollower.now()]);
    if (rpc !== this.#rpc) return;
    this.info = info;
    for (const { pid, name } of info.processes) this.#reader.profile.processNames.set(pid, name);
    this.#changed();
  }

  #samplesCame(table: SamplesTable, more: boolean): void {
    this.#reader.add(table);
    this.#reader.keep(SAMPLES_KEPT);
    for (const { path, buildId } of table.libraries) this.#buildIds.set(path, buildId);
    const { profile } = this.#reader;
    if (profile !== this.#answers.profile) this.#answers = new Answers(profile, null, this.stalls);
    else this.#answers.changed();
    if (more) return;
    this.#isWhole = true;
    this.#changed();
  }

  #failed = (error: unknown): void => {
    if (!isLinkGone(error)) this.events.problem?.(`${nameOf(this.base)}: ${textOf(error)}`);
  };

  #changed(): void {
    this.version++;
    this.#wake();
    this.events.changed?.();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #change(most_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, most_ms);
      this.#waiting.add(end);
    });
  }
}
