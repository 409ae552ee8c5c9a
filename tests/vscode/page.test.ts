import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { WebSocketServer } from "ws";
import type { ToPage } from "../../clients/vscode/src/page/messages";
import { PAGE_FILES, type PageFiles, pageHtml, partsOf, socketOf } from "../../clients/vscode/src/page/page_html";
import { Sockets } from "../../clients/vscode/src/page/sockets";

const files = Object.fromEntries(PAGE_FILES.map((name) => [name, `of ${name}`])) as PageFiles;

test("the page allows its own script and no connection, and holds no token", () => {
  const html = pageHtml({ files, start: "start()\n", socket: "s", look: '#view="><b>', host: "127.0.0.1:81" });
  const hash = createHash("sha256").update("start()").digest("base64");
  assert.ok(html.includes(`default-src 'none'; script-src 'sha256-${hash}' data:; worker-src data:`));
  assert.ok(!html.includes("connect-src") && !html.includes("TOKEN") && !html.includes("<b>"));
  assert.ok(html.includes('data-look="#view=&quot;&gt;&lt;b&gt;"'));
  const held = /id="app.js">([^<]*)</.exec(html)![1];
  assert.equal(gunzipSync(Buffer.from(held, "base64")).toString(), "of app.js");
});

test("an address has a service and a look", () => {
  assert.deepEqual(partsOf("http://127.0.0.1:81/T=/#view=sandwich"), { base: "http://127.0.0.1:81/T=/", look: "#view=sandwich" });
  assert.equal(socketOf("http://127.0.0.1:81/T=/"), "ws://127.0.0.1:81/T=/ws");
  assert.equal(socketOf("https://h/T=/"), "wss://h/T=/ws");
});

test("a socket of the page speaks to its service, and is told of its end", async (t) => {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  server.on("connection", (socket) =>
    socket.on("message", (text) => {
      socket.send(`heard ${String(text)}`);
      socket.close(1000, "enough");
    }),
  );
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  t.after(() => http.close());
  const told: ToPage[] = [];
  await new Promise<void>((done) => {
    const sockets = new Sockets(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/ws`, (message) => {
      told.push(message);
      if ("is" in message && message.is === "open") sockets.take({ socket: 1, is: "text", text: "hello" });
      if ("is" in message && message.is === "close") done();
    });
    sockets.take({ socket: 1, is: "open" });
  });
  assert.deepEqual(told, [
    { socket: 1, is: "open" },
    { socket: 1, is: "text", text: "heard hello" },
    { socket: 1, is: "close", reason: "enough" },
  ]);
});

test("a socket to a service that is gone is closed", async () => {
  const message = await new Promise<ToPage>((done) => new Sockets("ws://127.0.0.1:1/ws", done).take({ socket: 4, is: "open" }));
  assert.deepEqual(message, { socket: 4, is: "close", reason: "" });
});
