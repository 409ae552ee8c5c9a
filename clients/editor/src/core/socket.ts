// The WebSocket that the page's connection makes: node has one of its own from 22 on only.
import { WebSocket as PackageSocket } from "ws";

class Socket extends PackageSocket {
  constructor(url: string | URL) {
    super(url, { skipUTF8Validation: true }); // a service's text is read as JSON next
    this.on("error", () => {}); // its end is told by "close"; without a listener node would end
  }
}

/** For all that connects from here on. */
export function provideSocket(): void {
  globalThis.WebSocket = Socket as unknown as typeof WebSocket;
}
