// The worker beside a service that is a list of requests: what it asks when links and events come.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FromWorker, ToWorker } from "../../clients/web/src/worker/messages";
import { type Port, serve } from "../../clients/web/src/worker/serve";
import { HandClock } from "./hand_clock";

interface Request {
  id: string;
  method: string;
  params: Record<string, unknown>;
}

/** Stands in for the browser's. */
class Socket {
  static readonly OPEN = 1;
  static all: Socket[] = [];
  readyState = 0;
  onopen: () => void = () => undefined;
  onmessage: (message: { data: string }) => void = () => undefined;
  onclose: (event: { reason: string }) => void = () => undefined;
  #asked: Request[] = [];

  constructor() {
    Socket.all.push(this);
  }

  send(text: string): void {
    this.#asked.push(JSON.parse(text));
  }

  open(): void {
    this.readyState = Socket.OPEN;
    this.onopen();
  }

  close(): void {
    this.readyState = 3;
    this.onclose({ reason: "" });
  }

  event(kind: string): void {
    this.#say({ method: "streamNotify", params: { streamId: "Profiler", event: { kind } } });
  }

  /** How many requests of that method are not answered yet. */
  asks(method: string): number {
    return this.#asked.filter((one) => one.method === method).length;
  }

  /** Parameters of those. */
  asked(method: string): Request["params"][] {
    return this.#asked.filter((one) => one.method === method).map(({ params }) => params);
  }

  answer(method: string, result: unknown): void {
    for (const { id } of this.#taken(method)) this.#say({ id, result });
  }

  refuse(method: string, code: number, details: string): void {
    const error = { code, message: "", data: { details } };
    for (const { id } of this.#taken(method)) this.#say({ id, error });
  }

  #taken(method: string): Request[] {
    const taken = this.#asked.filter((one) => one.method === method);
    this.#asked = this.#asked.filter((one) => one.method !== method);
    return taken;
  }

  #say(message: object): void {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

const NO_SAMPLES = {
  type: "_CpuSamplesTable",
  samplePeriod: 1000,
  sampleCount: 0,
  next: "x",
  _counters: { not_sampled_ns: 0 },
  vmTags: [],
  firstLibrary: 0,
  firstFunction: 0,
  firstFrame: 0,
  libraries: [],
  functions: [],
  frames: [],
  trees: [],
};

class Scene extends HandClock {
  readonly said: FromWorker[] = [];
  readonly #port: Port = {
    postMessage: (message) => void this.said.push(message),
    onmessage: null,
  };

  constructor() {
    super();
    serve(this.#port, () => import("../../clients/web/src/later"));
    this.say({ say: "connect", base: "http://127.0.0.1/T=/" });
  }

  say(data: ToWorker): void {
    this.#port.onmessage?.({ data });
  }

  get socket(): Socket {
    return Socket.all.at(-1)!;
  }

  /** A link that tells, whose samples were read. */
  async open(): Promise<void> {
    this.socket.open();
    this.socket.answer("streamListen", { type: "Success" });
    this.socket.answer("_getCpuSamples", NO_SAMPLES);
    await this.until(this.now);
  }

  get problems(): string[] {
    return this.said.flatMap((one) => (one.say === "problem" ? [one.problem] : []));
  }
}

function scene(name: string, act: (scene: Scene) => Promise<void>): void {
  test(name, async () => {
    const { WebSocket, fetch } = globalThis;
    Socket.all = [];
    Object.assign(globalThis, { WebSocket: Socket, fetch: () => Promise.reject(new Error("no")) });
    try {
      const one = new Scene();
      await one.during(() => act(one));
    } finally {
      Object.assign(globalThis, { WebSocket, fetch });
    }
  });
}

for (const kind of ["_SamplesAvailable", "_SamplesCleared"])
  scene(`${kind} has an idle page ask for samples`, async (one) => {
    await one.open();
    await one.until(5000);
    assert.equal(one.socket.asks("_getCpuSamples"), 0);
    one.socket.event(kind);
    await one.until(5000);
    assert.equal(one.socket.asks("_getCpuSamples"), 1);
  });

scene("where it cannot listen it says so, asks each second, and for the processes", async (one) => {
  one.socket.open();
  one.socket.refuse("streamListen", -32602, "what stream?");
  for (const ms of [0, 1000, 2000]) {
    await one.until(ms);
    assert.equal(one.socket.asks("_getCpuSamples"), 1);
    one.socket.answer("_getCpuSamples", NO_SAMPLES);
  }
  assert.deepEqual(one.problems, ["streamListen: what stream?"]);
  assert.equal(one.socket.asks("getVM"), 1);
});

scene("a refused request for samples is told, and asked again", async (one) => {
  one.socket.open();
  await one.until(0);
  one.socket.refuse("_getCpuSamples", -32000, "too fast");
  await one.until(1000);
  assert.deepEqual(one.problems, ["_getCpuSamples: too fast"]);
  assert.equal(one.socket.asks("_getCpuSamples"), 1);
});

scene("a link that is lost is made anew, and is asked at once", async (one) => {
  await one.open();
  one.socket.close();
  await one.until(250);
  assert.equal(Socket.all.length, 2);
  one.socket.open();
  await one.until(250);
  assert.equal(one.socket.asks("_getCpuSamples"), 1);
  assert.deepEqual(one.problems, []);
});

scene("who tries again while a link is being given up gets one link", async (one) => {
  one.socket.close(); // it now asks by HTTP whether it is refused
  one.say({ say: "retry" });
  await one.until(10_000);
  assert.equal(Socket.all.length, 2);
});

scene("another kind is asked for while it is shown, each second, and is told when it has come", async (one) => {
  await one.open();
  const told = () => one.said.flatMap((message) => (message.say === "data" ? [message.data.kind] : []));
  one.say({ say: "show", kind: "live", held: false });
  await one.until(one.now);
  assert.equal(one.socket.asks("_getCpuSamples"), 1);
  assert.deepEqual(new Set(told()), new Set(["time"]));
  for (const ms of [1000, 2000]) {
    one.socket.answer("_getCpuSamples", NO_SAMPLES);
    await one.until(ms);
    assert.equal(one.socket.asks("_getCpuSamples"), 1);
    assert.equal(told().at(-1), "live");
  }
  one.say({ say: "show", kind: "time", held: false });
  one.socket.answer("_getCpuSamples", NO_SAMPLES);
  await one.until(5000);
  assert.equal(one.socket.asks("_getCpuSamples"), 0);
  assert.equal(told().at(-1), "time");
});

/** By what is in the page's second file, which is loaded for real. */
async function comes(one: Scene, isThere: () => unknown, what: string): Promise<void> {
  for (let turns = 0; !isThere(); turns++) {
    assert.ok(turns < 10_000, what);
    await one.until(one.now);
    await new Promise(setImmediate);
  }
}

scene("a file that is closed leaves samples of the kind that it was shown by, and none of another one before them", async (one) => {
  await one.open();
  one.say({ say: "show", kind: "live", held: false });
  await one.until(one.now);
  one.socket.answer("_getCpuSamples", NO_SAMPLES);
  await one.until(one.now);
  one.say({ say: "show", kind: "time", held: false });
  const content = new TextEncoder().encode("main;work 3\n").buffer;
  one.say({ say: "open", as: "shown", name: "a.folded", content });
  await comes(one, () => one.said.some(({ say }) => say === "files"), "the file is not opened");
  one.say({ say: "show", kind: "live", held: false });
  const before = one.said.length;
  one.say({ say: "close", as: "shown" });
  const told = one.said.slice(before).map((message) => (message.say === "data" ? message.data.kind : message.say));
  assert.deepEqual(told, ["files", "live"]);
});

const stallsAreAsked = (one: Scene) => comes(one, () => one.socket.asks("_getStalls"), "nobody asks for stalls");

const listOf = (next: string, count: number) => ({
  ...{ type: "_StallList", next },
  stalls: Array.from({ length: count }, (_, i) => ({
    ...{ number: i + 1, pid: 1, tid: 1, thread: "main", startMicros: [0, 0], durationMicros: [1, 1] },
    ...{ timeOriginMicros: 0, timeExtentMicros: 1, ongoing: i === 0 },
  })),
});
const lastData = (one: Scene) => one.said.flatMap((message) => (message.say === "data" ? [message.data] : [])).at(-1)!;

scene("_StallsAvailable has an idle page ask for the stalls that changed since, and it tells how many there are", async (one) => {
  await one.open();
  await stallsAreAsked(one);
  one.socket.answer("_getStalls", listOf("c7", 2));
  await one.until(5000);
  assert.deepEqual([lastData(one).stalls, lastData(one).ongoingStalls], [2, 1]);
  assert.deepEqual(lastData(one).extent_us, [0, 1]);
  assert.equal(one.socket.asks("_getStalls"), 0);
  one.socket.event("_StallsAvailable");
  await one.until(6000);
  assert.deepEqual(one.socket.asked("_getStalls").map(({ since }) => since), ["c7"]);
});

scene("of more stalls than one reply has the next ones are asked for at once", async (one) => {
  await one.open();
  await stallsAreAsked(one);
  const { count } = one.socket.asked("_getStalls")[0];
  one.socket.answer("_getStalls", listOf("c1", Number(count)));
  await one.until(one.now);
  assert.deepEqual(one.socket.asked("_getStalls").map(({ since }) => since), ["c1"]);
});

scene("a clear forgets stalls as well, and what a reset tells takes the place of what was", async (one) => {
  await one.open();
  await stallsAreAsked(one);
  one.socket.answer("_getStalls", listOf("c7", 2));
  one.say({ say: "command", command: { set: "clear" } });
  await one.until(2000);
  one.socket.answer("getVM", { isolates: [], _endedIsolates: [] });
  await one.until(2000);
  one.socket.answer("clearVMTimeline", {});
  await one.until(2000);
  assert.equal(one.socket.asks("_clearStalls"), 1);
  one.socket.event("_StallsAvailable");
  await one.until(4000);
  one.socket.answer("_getStalls", { ...listOf("c9", 1), reset: true });
  await one.until(4000);
  assert.equal(lastData(one).stalls, 1);
});
