// JSON-RPC over some link: requests out, answers and events in. It knows no socket.
import type { Methods, Streams } from "./protocol";

export type Method = keyof Methods;
export type StreamName = keyof Streams;
export type StreamEvent = { kind: string; [member: string]: unknown };

export class RpcError extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    message: string,
  ) {
    super(`${method}: ${message}`);
  }
}

export const INVALID_PARAMS = -32602;
const LINK_GONE = 0;

export function isLinkGone(error: unknown): boolean {
  return error instanceof RpcError && error.code === LINK_GONE;
}

interface Waiting {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// What may be missing is left out, what is not has to be there.
type Params<M extends Method> = Methods[M]["params"];

export class Rpc {
  #next = 1;
  #waiting = new Map<string, Waiting>();
  #isOver = false;

  constructor(
    private readonly send: (text: string) => void,
    private readonly onEvent: (stream: string, event: StreamEvent) => void,
  ) {}

  call<M extends Method>(method: M, params: Params<M>): Promise<Methods[M]["result"]> {
    if (this.#isOver) return Promise.reject(gone(method));
    const id = String(this.#next++);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        method,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  receive(text: string): void {
    const message = JSON.parse(text);
    if (message.method === "streamNotify") {
      this.onEvent(message.params.streamId, message.params.event);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    const { error } = message;
    if (error) {
      const details = error.data?.details ?? error.message;
      waiting.reject(new RpcError(waiting.method, error.code, String(details)));
    } else waiting.resolve(message.result);
  }

  /** The link is gone: nobody will be answered any more, whoever asks later neither. */
  end(): void {
    this.#isOver = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.reject(gone(one.method));
  }
}

function gone(method: string): RpcError {
  return new RpcError(method, LINK_GONE, "the connection is gone");
}
