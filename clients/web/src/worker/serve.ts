// The worker: follows the service, keeps the profile, answers the page.
import { extent } from "../data/overview";
import { TableReader } from "../data/table_form";
import { Connection } from "../wire/connection";
import { Follower } from "../wire/follow";
import { RpcError, type Rpc } from "../wire/rpc";
import { type Command, command, listen, readInfo } from "../wire/service";
import { Answers } from "./answers";
import type { FromWorker, ToWorker } from "./messages";
import { buffersOf } from "./transfer";

// Of some 30 bytes each. The service keeps fewer; this bounds a page that is open for days.
const SAMPLES_KEPT = 4_000_000;

export interface Port {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  onmessage: ((event: { data: ToWorker }) => void) | null;
}

export function serve(port: Port): void {
  new Server(port);
}

class Server {
  #reader = new TableReader();
  #answers = new Answers(this.#reader.profile);
  #connection: Connection | null = null;
  #rpc: Rpc | null = null;
  #version = 0;
  #told = { resets: 0, functions: 0, libraries: 0 };
  #infoWanted = false;
  #follower = new Follower((table, more) => {
    this.#reader.add(table);
    this.#reader.profile.keep(SAMPLES_KEPT);
    if (this.#reader.profile !== this.#answers.profile)
      this.#answers = new Answers(this.#reader.profile);
    else this.#answers.changed();
    this.#version++;
    if (!more) this.#tellData();
  });

  constructor(private readonly port: Port) {
    port.onmessage = ({ data }) => this.#receive(data);
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
      case "command":
        return void this.#command(message.command);
      case "ask":
        return this.#answer(message);
    }
  }

  #answer({ id, kind, args }: Extract<ToWorker, { say: "ask" }>): void {
    try {
      const answer = this.#answers.answer(kind, args as never);
      this.#say({ say: "answer", id, answer }, buffersOf(answer));
    } catch (error) {
      this.#say({ say: "failed", id, reason: textOf(error) });
    }
  }

  #connect(base: string): void {
    this.#connection = new Connection(base, {
      state: (link) => {
        if (link.state !== "open") this.#rpc = null;
        this.#say({ say: "link", link });
      },
      open: (rpc) => {
        this.#rpc = rpc;
        listen(rpc).then(() => this.#readInfo(), this.#failed);
        void this.#follower.follow(rpc, this.#failed);
      },
      // Whatever it is that changed: all of it is asked again.
      event: (_stream, event) => {
        if (event.kind !== "_SamplesAvailable") void this.#readInfo();
      },
    });
    this.#connection.start();
  }

  #failed = (error: unknown): void => {
    if (error instanceof RpcError && error.code === 0) return; // the link says so itself
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
    await readInfo(rpc).then((info) => this.#say({ say: "info", info }), this.#failed);
  }

  async #command(wanted: Command): Promise<void> {
    const rpc = this.#rpc;
    if (!rpc) return this.#say({ say: "problem", problem: "not connected" });
    await command(rpc, wanted).catch(this.#failed);
    await this.#readInfo();
    this.#follower.now();
  }

  #tellData(): void {
    const { profile, resets, lost } = this.#reader;
    if (resets !== this.#told.resets) this.#told = { resets, functions: 0, libraries: 0 };
    const { functions: firstFunction, libraries: firstLibrary } = this.#told;
    this.#told.functions = profile.functions.length;
    this.#told.libraries = profile.libraries.length;
    const data = {
      version: this.#version,
      resets,
      samples: profile.samples.length + profile.evicted,
      evicted: profile.evicted,
      extent_us: extent(profile),
      period_us: profile.period_us,
      lost,
      threads: profile.threads,
      tags: profile.tags.texts,
      states: profile.states.texts,
      firstFunction,
      functions: profile.functions.slice(firstFunction),
      firstLibrary,
      libraries: profile.libraries.slice(firstLibrary),
    };
    this.#say({ say: "data", data });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
