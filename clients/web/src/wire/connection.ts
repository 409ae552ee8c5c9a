// One WebSocket at a time, and the next one when it is lost.
//
//   connecting -> open -> lost -> connecting ...      refused: the token is wrong, nothing is tried again
import { Rpc, type StreamEvent } from "./rpc";

export type LinkState =
  | { state: "none" } // a page without a service (`isoscope view`)
  | { state: "connecting" }
  | { state: "open" }
  | { state: "lost"; retryMs: number; reason: string }
  | { state: "refused"; reason: string };

export interface ConnectionEvents {
  state(state: LinkState): void;
  open(rpc: Rpc): void;
  event(stream: string, event: StreamEvent): void;
}

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;

/** base: the page's own address, which ends in "/TOKEN=/". */
export class Connection {
  #retryMs = FIRST_RETRY_MS;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly base: string,
    private readonly events: ConnectionEvents,
  ) {}

  start(): void {
    clearTimeout(this.#timer);
    this.events.state({ state: "connecting" });
    const url = new URL("ws", this.base);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    const rpc = new Rpc((text) => socket.send(text), this.events.event);
    let opened = false;
    this.#socket = socket;
    socket.onopen = () => {
      opened = true;
      this.#retryMs = FIRST_RETRY_MS;
      this.events.state({ state: "open" });
      this.events.open(rpc);
    };
    socket.onmessage = (message) => rpc.receive(String(message.data));
    socket.onclose = (event) => {
      rpc.end();
      if (this.#socket === socket) void this.#lost(socket, opened, event.reason);
    };
  }

  /** Tries now what would be tried later. */
  retry(): void {
    if (this.#socket && this.#socket.readyState <= WebSocket.OPEN) return;
    this.#retryMs = FIRST_RETRY_MS;
    this.start();
  }

  /** Nothing is told any more, and nothing tried. */
  stop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  async #lost(socket: WebSocket, opened: boolean, reason: string): Promise<void> {
    const refusal = opened ? "" : await this.#refusal();
    if (this.#socket !== socket) return; // somebody tried again meanwhile
    if (refusal) {
      this.events.state({ state: "refused", reason: refusal });
      return;
    }
    const retryMs = this.#retryMs;
    this.#retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    this.events.state({
      state: "lost",
      retryMs,
      reason: reason || "the service does not answer",
    });
    this.#timer = setTimeout(() => this.start(), retryMs);
  }

  // A WebSocket does not say why it was refused; HTTP at the same address does.
  async #refusal(): Promise<string> {
    try {
      const answer = await fetch(new URL("getVersion", this.base));
      return answer.status === 403 ? await answer.text() : "";
    } catch {
      return "";
    }
  }
}
