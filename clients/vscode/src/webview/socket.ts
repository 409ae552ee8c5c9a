// In the page's worker, before its own code: a WebSocket that speaks through the page to the extension.
import type { FromPage, ToPage } from "../page/messages";

type Told = Extract<ToPage, { socket: number }>;

/** What the page's connection uses of it. */
class PageSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  static all = new Map<number, PageSocket>();
  static port: Promise<MessagePort>;
  readyState = PageSocket.CONNECTING;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { reason: string }) => void) | null = null;
  #number = PageSocket.all.size + 1;

  constructor() {
    PageSocket.all.set(this.#number, this);
    this.#say({ socket: this.#number, is: "open" });
  }

  send(text: string): void {
    this.#say({ socket: this.#number, is: "text", text });
  }

  close(): void {
    this.#say({ socket: this.#number, is: "close" });
  }

  #say(message: FromPage): void {
    void PageSocket.port.then((port) => port.postMessage(message));
  }

  told(message: Told): void {
    if (message.is === "text") return this.onmessage?.({ data: message.text });
    this.readyState = message.is === "open" ? PageSocket.OPEN : PageSocket.CLOSED;
    if (message.is === "open") this.onopen?.();
    else this.onclose?.({ reason: message.reason });
  }
}

if (typeof document === "undefined") {
  PageSocket.port = new Promise((resolve) => {
    const first = (event: Event) => {
      const [port] = (event as MessageEvent).ports;
      event.stopImmediatePropagation();
      removeEventListener("message", first);
      port.onmessage = ({ data }: { data: Told }) => PageSocket.all.get(data.socket)?.told(data);
      resolve(port);
    };
    addEventListener("message", first);
  });
  Object.assign(globalThis, { WebSocket: PageSocket });
}
