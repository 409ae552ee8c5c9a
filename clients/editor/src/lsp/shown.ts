// What is shown: one profile, through one window, beside the run before it.
import type { Filter } from "../../../web/src/data/filter";
import { Freshnesses } from "../core/freshness";
import type { LiveEvents, LiveProfile } from "../core/live_profile";
import { type Launch, type Opened, openSource, runProgram } from "../core/open";
import { Problem } from "../core/problem";
import { type FunctionFact, Reading } from "../core/reading";
import type { SourceMap } from "../core/source_map";
import { type CausedStalls, stallsByFunction } from "../core/stalls_of";
import { type Before, beforeOf } from "../core/trend";

export interface ShownEvents {
  changed(): void;
  problem(text: string): void;
  /** What a program that was run writes. */
  output(text: string, launch: Launch): void;
  /** It has ended: with a status, or null by a signal. */
  ended(status: number | null, launch: Launch): void;
}

/** Functions of a source file. */
export interface InFile {
  names: string[]; // of the file, as the profile has it
  functions: FunctionFact[]; // by line
}

export class Shown {
  filter: Filter = {};
  readonly freshnesses = new Freshnesses();
  #opened: Opened | null = null;
  #isRun = false; // opened is a program that was run for it
  #reading: Reading | null = null;
  #readVersion = -1;
  #files: Map<string, InFile> | null = null;
  #stalls = new Map<string, CausedStalls>();
  #stallsVersion = -1;
  #runs = new Map<string, Before>(); // by program: the run before
  #window_s: [number, number] | null = null; // what the filter has of time
  #chosen: Before | null = null; // that the user wants it compared with

  constructor(
    readonly sources: SourceMap,
    private readonly events: ShownEvents,
  ) {}

  get profile(): LiveProfile | null {
    return this.#opened?.profile ?? null;
  }

  get name(): string {
    return this.#opened?.name ?? "";
  }

  /** What it is compared with: what the user chose, or the run before of the same program. */
  get before(): Before | null {
    return this.#chosen ?? this.#runs.get(this.#program) ?? null;
  }

  get #program(): string {
    return this.profile?.info?.processes[0]?.name ?? "";
  }

  /** null: there is no profile, or it has no sample in the window. */
  get reading(): Reading | null {
    const { profile } = this;
    if (!profile) return null;
    if (!this.#reading || this.#readVersion !== profile.version) {
      this.#reading = new Reading(profile.answers, this.filter);
      this.#readVersion = profile.version;
      this.#files = null;
    }
    return this.#reading.whole.samples ? this.#reading : null;
  }

  /** By library!name: those that a function caused. */
  get stalls(): ReadonlyMap<string, CausedStalls> {
    const { profile } = this;
    if (profile && this.#stallsVersion !== profile.version) {
      this.#stalls = stallsByFunction(profile);
      this.#stallsVersion = profile.version;
    }
    return this.#stalls;
  }

  /** By the path of a file here. */
  inFile(path: string): InFile | undefined {
    const { reading } = this;
    if (!reading) return undefined;
    this.#files ??= this.#filesOf(reading);
    return this.#files.get(this.sources.real(path));
  }

  #filesOf(reading: Reading): Map<string, InFile> {
    const files = new Map<string, InFile>();
    const of = (file: string) => {
      const path = this.sources.local(file);
      if (!path) return null;
      if (!files.has(path)) files.set(path, { names: [], functions: [] });
      return files.get(path)!;
    };
    for (const file of reading.answers.profile.files.texts) of(file)?.names.push(file);
    for (const one of reading.functions) if (one.line > 0) of(one.file)?.functions.push(one);
    for (const { functions } of files.values()) functions.sort((a, b) => a.line - b.line || b.total - a.total);
    return files;
  }

  /** A service, its info file, or a session. What was shown before is what it is compared with. */
  async open(source: string): Promise<void> {
    await this.#show((events) => openSource(source, events));
    this.#isRun = false;
  }

  async run(launch: Launch): Promise<void> {
    const output = (text: string) => this.events.output(text, launch);
    const ended = (status: number | null) => this.events.ended(status, launch);
    await this.#show(async (events) => {
      const opened = await runProgram(launch, { ...events, output });
      void opened.served?.ended.then(ended);
      return opened;
    });
    this.#isRun = true;
  }

  /** What was sampled stays. */
  async stop(): Promise<void> {
    if (!this.#isRun) throw new Problem("stop: no program was run from here; what runs elsewhere is ended there");
    await this.#opened?.served?.end();
  }

  async #show(open: (events: LiveEvents) => Promise<Opened>): Promise<void> {
    let isShown = false;
    const opened = await open({
      changed: () => isShown && this.events.changed(),
      link: () => isShown && this.events.changed(),
      problem: this.events.problem,
    });
    try {
      await opened.profile.ready();
    } catch (error) {
      await opened.close();
      throw error;
    }
    isShown = true;
    const last = this.#opened;
    this.#remember();
    this.#opened = opened;
    this.#readVersion = this.#stallsVersion = -1;
    this.filter = {};
    this.#window_s = null;
    this.events.changed();
    await last?.close();
  }

  /** Another one takes its place. */
  #remember(): void {
    if (!this.reading || !this.profile) return;
    this.#runs.set(this.#program, beforeOf(new Reading(this.profile.answers), `the run before, ${this.name}`));
  }

  /** source "": the run before again. */
  async compareWith(source: string): Promise<Before | null> {
    this.#chosen = source ? await runOf(source) : null;
    this.events.changed();
    return this.before;
  }

  /** Seconds since the first sample; null: all of the time. */
  get window_s(): [number, number] | null {
    return this.#window_s;
  }

  setWindow(window_s: [number, number] | null): void {
    const { profile } = this;
    if (!profile) throw new Problem("there is no profile to choose a window of");
    const start_us = profile.answers.extent_us()?.[0] ?? 0;
    const [from, to] = window_s ?? [0, 0];
    this.#window_s = window_s;
    this.filter = window_s ? { window_us: [start_us + 1e6 * from, start_us + 1e6 * to] } : {};
    this.#readVersion = -1;
    this.events.changed();
  }

  async clear(): Promise<void> {
    if (!this.profile) throw new Problem("there is no profile to clear");
    await this.profile.command({ set: "clear" });
  }

  /** Its samples do not change any more: its programs or its service have ended. */
  get hasEnded(): boolean {
    const { profile } = this;
    return !profile || profile.hasEnded || profile.link.state === "lost" || profile.link.state === "refused";
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    this.#opened = null;
  }
}

async function runOf(source: string): Promise<Before> {
  const { profile, name, close } = await openSource(source);
  try {
    await profile.ready();
    return beforeOf(new Reading(profile.answers), name);
  } finally {
    await close();
  }
}
