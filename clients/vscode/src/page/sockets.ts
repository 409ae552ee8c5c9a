// The page's WebSockets, held on its behalf: always to the one service that the page is of.
import { WebSocket } from "ws";
import type { FromPage, ToPage } from "./messages";

export class Sockets {
  #open = new Map<number, WebSocket>();

  constructor(
    private readonly url: string,
    private readonly tell: (message: ToPage) => void,
  ) {}

  take(message: FromPage): void {
    const { socket } = message;
    if (message.is === "open") this.#connect(socket);
    else if (message.is === "close") this.#open.get(socket)?.close();
    else this.#open.get(socket)?.send(message.text);
  }

  #connect(socket: number): void {
    const made = new WebSocket(this.url);
    this.#open.set(socket, made);
    made.on("open", () => this.tell({ socket, is: "open" }));
    made.on("message", (data) => this.tell({ socket, is: "text", text: String(data) }));
    made.on("error", () => {}); // "close" comes behind it
    made.on("close", (_code, reason) => {
      this.#open.delete(socket);
      this.tell({ socket, is: "close", reason: String(reason) });
    });
  }

  close(): void {
    for (const socket of this.#open.values()) socket.close();
  }
}
