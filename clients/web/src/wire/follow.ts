// New samples, by the cursor of the table form, new events, or stalls that changed: asked for when the service has told that there are
// some or that some were cleared, and at most once a second. A service that does not tell is asked
// each second.
import type { SamplesKind, SamplesTable, StallList, TimelineTable } from "./protocol";
import { INVALID_PARAMS, isLinkGone, type Rpc, RpcError } from "./rpc";

const PAUSE_MS = 1000;
const QUIET_MS = 10_000; // ticks that were lost while no sample came are told by no event
const MOST = 50_000; // in a reply: what is parsed in one piece

/** One reply of those that a cursor goes through. */
interface Reply {
  next: string;
  reset?: true;
  more?: boolean;
}

interface Asked<T> {
  ask(rpc: Rpc, place: { count: number; cursor?: string }): Promise<T | { type: "Sentinel" }>;
  count(reply: T): number;
}

/** Without a kind: of time, also to a service that knows no kinds. */
export const samplesOf = (kind?: SamplesKind): Asked<SamplesTable> => ({
  ask: (rpc, place) =>
    rpc.call("_getCpuSamples", { form: "table", ...(kind && { kind }), ...place }) as Promise<SamplesTable>,
  count: ({ sampleCount }) => sampleCount,
});
export const EVENTS: Asked<TimelineTable> = {
  ask: (rpc, place) => rpc.call("_getTimeline", place),
  count: ({ eventCount }) => eventCount,
};
const STALLS_MOST = 1000; // in a reply: each is some KB
export const STALLS: Asked<StallList & Reply> = {
  async ask(rpc, { cursor }) {
    const list = await rpc.call("_getStalls", { count: STALLS_MOST, ...(cursor && { since: cursor }) });
    return "stalls" in list ? { ...list, more: list.stalls.length === STALLS_MOST } : list;
  },
  count: ({ stalls }) => stalls.length,
};

export class Follower<T extends Reply = SamplesTable> {
  #cursor = "";
  #run = 0;
  #tells = false; // the service: by _SamplesAvailable
  #told = false; // since the last request
  #wake: (() => void) | null = null;
  #isQuiet = false; // the pause is over, and nothing was told
  #waiting: (() => void)[] = []; // for a reply
  #trouble = ""; // of the last request

  /** add: takes a reply; more: there are more already. */
  constructor(
    private readonly add: (table: T, more: boolean) => void,
    private readonly asked = samplesOf() as unknown as Asked<T>,
  ) {}

  /**
   * Goes on where the link before ended. Ends when rpc does; rejects nothing. A refused request
   * does not end it: failed hears of it, once as long as the reason is the same.
   */
  async follow(rpc: Rpc, failed: (error: unknown) => void): Promise<void> {
    const run = ++this.#run;
    this.#tells = false;
    this.#wake?.(); // the run before ends
    for (let late = false; run === this.#run; ) {
      this.#told = false;
      const waiting = this.#waiting.splice(0);
      const reply = await this.#try(rpc, run, failed);
      for (const resolve of waiting) resolve();
      if (reply === "gone") return;
      if (late && reply && this.asked.count(reply)) this.#tells = false;
      const isOver = reply?.more || this.#waiting.length > 0 || run !== this.#run;
      late = !isOver && (await this.#pause(reply ? QUIET_MS : 0));
    }
  }

  /** Asks no more, until follow. anew: from the start then. */
  stop(anew = false): void {
    this.#run++;
    if (anew) this.#cursor = "";
    this.#wake?.();
  }

  /** Asks at once; where it is asking, once more. Resolves when that request is over. */
  now(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#wake?.();
    });
  }

  /** From now on the service tells when there are samples. */
  tells(): void {
    this.#tells = true;
  }

  /** There are samples, or some were cleared. */
  told(): void {
    this.#tells = this.#told = true;
    if (this.#isQuiet) this.#wake?.();
  }

  /** null: there is no reply. */
  async #try(
    rpc: Rpc,
    run: number,
    failed: (error: unknown) => void,
  ): Promise<T | "gone" | null> {
    try {
      const reply = await this.#ask(rpc, run);
      this.#trouble = "";
      return reply;
    } catch (error) {
      if (run !== this.#run) return null;
      if (isLinkGone(error)) return "gone";
      // Goes on with the cursor where the service only refused: else it would fail again.
      if (!(error instanceof RpcError) || error.code === INVALID_PARAMS) this.#cursor = "";
      if (this.#trouble !== String(error)) failed(error);
      this.#trouble = String(error);
      return null;
    }
  }

  async #ask(rpc: Rpc, run: number): Promise<T | null> {
    const place = this.#cursor ? { cursor: this.#cursor } : {};
    const reply = await this.asked.ask(rpc, { count: MOST, ...place });
    if (run !== this.#run || !("next" in reply)) return null;
    if (!this.#cursor) reply.reset = true;
    this.add(reply, Boolean(reply.more));
    this.#cursor = reply.next;
    return reply;
  }

  /** True: nobody asked for its end, it is only late. quiet_ms: how much longer, unless told. */
  #pause(quiet_ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (late: boolean) => {
        clearTimeout(timer);
        this.#isQuiet = false;
        this.#wake = null;
        resolve(late);
      };
      let timer = setTimeout(() => {
        if (this.#told || !this.#tells || !quiet_ms) return end(false);
        this.#isQuiet = true;
        timer = setTimeout(() => end(true), quiet_ms);
      }, PAUSE_MS);
      this.#wake = () => end(false);
    });
  }
}
