// A service whose program does what a test says: stalls begin, go on and end when the test wants it, on any machine.
// It serves the page as it stands in the tree, and answers what the page asks of it over one WebSocket.
//
//   const service = await FakeService.of({ samples, stalls, loops });    service.tell(stalls): they changed
//   table: a whole reply of _getCpuSamples, instead of samples
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { ROOT } from "./service.mjs";

const WEB = join(ROOT, "clients/web");
const FILES = { "": "index.html", "app.js": 0, "app.css": 0, "chunk.js": 0, "later.js": 0, "one_page.html": 0 };
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };
const HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455
const TEXT = 1;
const CLOSE = 8;
export const PID = 4242;
export const ISOLATE = `isolates/${PID}`;
export const LIMITS = { jank: 50, stall: 250, hang: 2000, dead: 5000 };

export class FakeService {
  #sockets = new Set();
  #asked = [];
  #change = 0;
  #cleared = 0; // which change that was
  #changes = new Map(); // number: change

  constructor({ samples = [], table, stalls = [], loops = [], unwatched = [], watch = "auto", live = true }) {
    Object.assign(this, { samples, table, loops, unwatched, watch, live });
    this.stalls = new Map();
    this.#take(stalls);
  }

  static of(told) {
    const service = new FakeService(told);
    return new Promise((resolve) => {
      service.server = createServer((request, response) => service.#page(request, response));
      service.server.on("upgrade", (request, socket) => service.#upgrade(request, socket));
      service.server.listen(0, "127.0.0.1", () => {
        service.uri = `http://127.0.0.1:${service.server.address().port}/T=/`;
        resolve(service);
      });
    });
  }

  end() {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((done) => this.server.close(done).closeAllConnections());
  }

  /** They are new, or others than before; listeners hear of it. */
  tell(stalls) {
    this.#take(stalls);
    this.#event("_StallsAvailable");
  }

  /** Parameters of all requests of that method so far. */
  asked(method) {
    return this.#asked.filter((one) => one.method === method).map(({ params }) => params);
  }

  #take(stalls) {
    for (const one of stalls) {
      this.stalls.set(one.number, one);
      this.#changes.set(one.number, ++this.#change);
    }
  }

  #page({ url }, response) {
    const name = new URL(url, "http://x").pathname.replace("/T=/", "");
    if (!(name in FILES)) return void response.writeHead(404).end();
    const file = FILES[name] || `generated/${name}`;
    response.setHeader("Content-Type", TYPES[file.slice(file.lastIndexOf(".") + 1)]);
    response.end(readFileSync(join(WEB, file)));
  }

  #upgrade({ headers }, socket) {
    const key = createHash("sha1").update(headers["sec-websocket-key"] + HANDSHAKE).digest("base64");
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${key}\r\n\r\n`,
    );
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let left = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      left = Buffer.concat([left, bytes]);
      for (let frame = frameOf(left); frame; frame = frameOf(left)) {
        left = left.subarray(frame.size);
        if (frame.opcode === CLOSE) return socket.end();
        if (frame.opcode === TEXT) this.#answer(socket, JSON.parse(frame.content.toString()));
      }
    });
  }

  #answer(socket, { id, method, params }) {
    this.#asked.push({ method, params });
    const handler = this.#methods[method];
    const result = handler ? handler(params) : { type: "Success" };
    send(socket, { jsonrpc: "2.0", id, result });
  }

  #event(kind) {
    const event = { type: "Event", kind, timestamp: 0 };
    for (const socket of this.#sockets)
      send(socket, { jsonrpc: "2.0", method: "streamNotify", params: { streamId: "Profiler", event } });
  }

  #methods = {
    getVM: () => ({
      ...{ type: "VM", version: "0 (fake)", isolates: [{ id: ISOLATE }], _endedIsolates: [] },
      ...{ _profilerTimer: "sigtrap", _profilerPeriodMicros: 1000, _profilerTruePeriodMicros: 0 },
      ...{ _symbols: { done: 1, asked: 1 }, _cpuTime: { processes: 1, sampledMicros: 1, notSampledMicros: 0 } },
    }),
    getIsolate: () => {
      const _process = { pid: PID, exe: "/usr/bin/editor", live: this.live, ...(!this.live && { endTime: Date.now() }) };
      return { type: "Isolate", id: ISOLATE, name: "editor", startTime: Date.now() - 60_000, _process };
    },
    getFlagList: () => {
      const flags = { profiler: "true", profile_period: "1000", profile_mode: "cpu", stall_watch: this.watch };
      return { flags: Object.entries(flags).map(([name, valueAsString]) => ({ name, valueAsString })) };
    },
    setFlag: ({ name, value }) => {
      if (name === "stall_watch") this.watch = value;
      return { type: "Success" };
    },
    _getCpuSamples: ({ cursor }) => {
      if (this.table) return cursor ? nothingAfter(this.table) : this.table;
      return tableOf(cursor ? [] : this.samples, cursor ? this.samples : []);
    },
    _getTimeline: () => ({
      ...{ type: "_TimelineTable", kinds: [], blocks: [], open: [], eventCount: 0, openCount: 0, next: "1" },
      history: { lost: 0, unstored: 0, tooDeep: 0, evicted: 0 },
    }),
    _getStalls: ({ since = "0", count }) => {
      const changed = [...this.#changes].filter(([, change]) => change > Number(since)).sort(([, a], [, b]) => a - b);
      const some = count ? changed.slice(0, count) : changed;
      const isReset = Number(since) > 0 && Number(since) < this.#cleared;
      return {
        ...(isReset && { reset: true }),
        ...{ type: "_StallList", next: String(some.at(-1)?.[1] ?? this.#change) },
        stalls: some.map(([number]) => this.stalls.get(number)),
      };
    },
    _getLoopStats: () => ({
      ...{ type: "_LoopStats", limits: LIMITS, watch: this.watch, loops: this.loops, unwatched: this.unwatched },
      ...{ frames: { refreshRate: 60, count: 0, dropped: 0, levels: {} }, cpuHigh: [] },
    }),
    _clearStalls: () => {
      this.stalls.clear();
      this.#changes.clear();
      this.#cleared = ++this.#change;
      this.#event("_StallsAvailable");
      return { type: "Success" };
    },
  };
}

/** Of what a browser sends, which is masked; null: more of it has to come. */
function frameOf(bytes) {
  if (bytes.length < 2) return null;
  let length = bytes[1] & 127;
  let at = 2;
  if (length === 126) {
    if (bytes.length < 4) return null;
    length = bytes.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return null;
    length = Number(bytes.readBigUInt64BE(2));
    at = 10;
  }
  const size = at + 4 + length;
  if (bytes.length < size) return null;
  const mask = bytes.subarray(at, at + 4);
  const content = Buffer.from(bytes.subarray(at + 4, size).map((byte, i) => byte ^ mask[i % 4]));
  return { opcode: bytes[0] & 15, content, size };
}

function send(socket, message) {
  const content = Buffer.from(JSON.stringify(message));
  const head = content.length < 126 ? Buffer.from([129, content.length]) : Buffer.alloc(content.length < 65_536 ? 4 : 10, 129);
  if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(content.length, 2);
  } else if (head.length === 10) {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(content.length), 2);
  }
  socket.write(Buffer.concat([head, content]));
}

/**
 * A reply of _getCpuSamples in the table form. samples: {at, tid, thread, stack}, in the order of time; stack has names
 * with blanks between, outermost first, "libc.so!read" in a library of the system. before: what came in earlier replies.
 */
function nothingAfter(table) {
  const { libraries, functions, frames } = table;
  const first = { firstLibrary: libraries.length, firstFunction: functions.length, firstFrame: frames.length };
  return { ...table, ...first, sampleCount: 0, libraries: [], functions: [], frames: [], renamed: [], trees: [] };
}

function tableOf(samples, before) {
  const known = { libraries: [], functions: [], nodes: [""], callers: [], threads: [] };
  const intern = (list, text) => (list.includes(text) ? list.indexOf(text) : list.push(text) - 1);
  const place = ({ stack, tid, thread }) => {
    const path = stack.split(" ");
    const frames = path.map((word) => {
      const [library, name] = word.includes("!") ? word.split("!") : ["editor", word];
      intern(known.libraries, library);
      return intern(known.functions, `${library}!${name}`);
    });
    let caller = 0;
    for (const frame of frames.slice(0, -1)) {
      const key = `${caller}/${frame}`;
      const isNew = !known.nodes.includes(key);
      const node = intern(known.nodes, key);
      if (isNew) known.callers.push([caller, frame]);
      caller = node;
    }
    return { caller, frame: frames.at(-1), thread: intern(known.threads, `${tid} ${thread}`) };
  };
  before.forEach(place);
  const first = Object.fromEntries(Object.entries(known).map(([name, list]) => [name, list.length]));
  const places = samples.map(place);
  const libraries = known.libraries.slice(first.libraries);
  const origin = samples[0]?.at ?? 0;
  return {
    ...{ type: "_CpuSamplesTable", samplePeriod: 1000, sampleCount: samples.length, next: "1" },
    ...{ _counters: { not_sampled_ns: 0 }, vmTags: ["Running"] },
    ...{ firstLibrary: first.libraries, firstFunction: first.functions, firstFrame: first.functions },
    libraries: libraries.map((name) => ({ id: `libraries/${name}`, name, path: `/${name}`, system: name.startsWith("lib") })),
    functions: known.functions.slice(first.functions).map((key) => {
      const [library, name] = key.split("!");
      return { id: `functions/${key}`, name, kind: "Native", owner: { id: `libraries/${library}` } };
    }),
    frames: known.functions.slice(first.functions).map((_, i) => ({ functions: [first.functions + i], lines: [0] })),
    trees: samples.length
      ? [
          {
            ...{ tree: 1, firstNode: 1, firstThread: 0, timeOriginMicros: origin },
            nodes: { callers: known.callers.map(([caller]) => caller), frames: known.callers.map(([, frame]) => frame) },
            threads: known.threads.map((key) => {
              const [tid, name] = key.split(" ");
              return { isolateId: ISOLATE, tid: Number(tid), name, userTag: name };
            }),
            samples: {
              ...{ callers: places.map(({ caller }) => caller), frames: places.map(({ frame }) => frame) },
              ...{ threads: places.map(({ thread }) => thread), vmTags: places.map(() => 0), incomplete: [] },
              timeDeltas: samples.map(({ at }, i) => at - (i ? samples[i - 1].at : origin)),
              cpuNanos: samples.map(() => 1_000_000),
            },
          },
        ]
      : [],
  };
}
