// The worker: follows the service, keeps the profile, answers the page.
import { extent } from "../data/overview";
import type { Profile } from "../data/profile";
import { TableReader } from "../data/table_form";
import { Connection } from "../wire/connection";
import { Follower } from "../wire/follow";
import { RpcError, type Rpc } from "../wire/rpc";
import { type Command, command, listen, readInfo } from "../wire/service";
import { readSource } from "../wire/source";
import type { FileUse, FromWorker, Questions, ToWorker } from "./messages";
import { Sources } from "./sources";
import { buffersOf } from "./transfer";

// Of 36 bytes each. The service keeps fewer; this bounds a page that is open for days.
const SAMPLES_KEPT = 4_000_000;
const NOTHING = { profile: null, functions: 0, libraries: 0 };

export interface Port {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  onmessage: ((event: { data: ToWorker }) => void) | null;
}

export function serve(port: Port): void {
  new Server(port);
}

class Server {
  #reader = new TableReader();
  #sources = new Sources(this.#reader.profile);
  #connection: Connection | null = null;
  #rpc: Rpc | null = null;
  #version = 0;
  #told: { profile: Profile | null; functions: number; libraries: number } = NOTHING;
  #resets = 0;
  #infoWanted = false;
  #follower = new Follower((table, more) => {
    this.#reader.add(table);
    this.#reader.keep(SAMPLES_KEPT);
    this.#sources.liveChanged(this.#reader.profile);
    if (!more && this.#sources.isLive) this.#tellData();
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
        return void this.#answer(message);
      case "open":
        return void this.#open(message);
      case "close":
        this.#sources.close(message.as);
        return this.#tellFiles(message.as);
    }
  }

  async #answer({ id, kind, args }: Extract<ToWorker, { say: "ask" }>): Promise<void> {
    try {
      const answer =
        kind === "source"
          ? await this.#source((args as Questions["source"]["args"]).file)
          : await this.#sources.shown.answer(kind, args as never);
      this.#say({ say: "answer", id, answer }, buffersOf(answer));
    } catch (error) {
      this.#say({ say: "failed", id, reason: textOf(error) });
    }
  }

  async #source(file: string): Promise<string | null> {
    if (!this.#rpc) throw new Error("not connected");
    return readSource(this.#rpc, file);
  }

  async #open({ as, name, content }: Extract<ToWorker, { say: "open" }>): Promise<void> {
    try {
      await this.#sources.open(as, name, content);
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
    const { profile } = this.#sources.shown;
    if (profile !== this.#told.profile) {
      if (this.#told.profile) this.#resets++;
      this.#told = { ...NOTHING, profile };
    }
    const { functions: firstFunction, libraries: firstLibrary } = this.#told;
    this.#told.functions = profile.functions.length;
    this.#told.libraries = profile.libraries.length;
    const data = {
      version: ++this.#version,
      resets: this.#resets,
      samples: profile.samples.length + profile.evicted,
      evicted: profile.evicted,
      extent_us: extent(profile),
      period_us: profile.period_us,
      lost: this.#sources.isLive ? this.#reader.lost : {},
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
