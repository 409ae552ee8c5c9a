// New samples, once a second, by the cursor of the table form.
import type { SamplesTable } from "./protocol";
import type { Rpc } from "./rpc";

const PAUSE_MS = 1000;
const SAMPLES_MAX = 50_000; // in a reply: what is parsed in one piece

export class Follower {
  #cursor = "";
  #run = 0;
  #wake: (() => void) | null = null;

  /** add: takes a reply; more: there are more already. */
  constructor(private readonly add: (table: SamplesTable, more: boolean) => void) {}

  /** Goes on where the link before ended. Ends when rpc does; rejects nothing. */
  async follow(rpc: Rpc, failed: (reason: string) => void): Promise<void> {
    const run = ++this.#run;
    try {
      while (run === this.#run) {
        const more = await this.#ask(rpc, run);
        if (!more && run === this.#run) await this.#pause();
      }
    } catch (error) {
      if (run === this.#run) failed(error instanceof Error ? error.message : String(error));
    }
  }

  /** Asks at once. */
  now(): void {
    this.#wake?.();
  }

  async #ask(rpc: Rpc, run: number): Promise<boolean> {
    const place = this.#cursor ? { cursor: this.#cursor } : {};
    const reply = await rpc.call("_getCpuSamples", {
      form: "table",
      count: SAMPLES_MAX,
      ...place,
    });
    if (run !== this.#run || reply.type !== "_CpuSamplesTable") return false;
    this.#cursor = reply.next;
    this.add(reply, Boolean(reply.more));
    return Boolean(reply.more);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
