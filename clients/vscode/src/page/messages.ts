// Between the extension and the page in its webview: WebSockets, by number.

export type FromPage = { socket: number; is: "open" } | { socket: number; is: "text"; text: string } | { socket: number; is: "close" };

export type ToPage =
  | { socket: number; is: "open" }
  | { socket: number; is: "text"; text: string }
  | { socket: number; is: "close"; reason: string }
  | { look: string }; // to be shown now
