// A timeline that no program told: in the page's worker, _getTimeline is answered here, and all else by the service.
//
// A game of 240 pictures a second: each frame a slice with nested ones on the main thread, some on workers, now and
// then a counter, a flow and an async slice.

/** Runs in the worker, before the page's own code; it is sent as text. */
function answerTimeline(total, origin_us) {
  const KINDS = "Slice Instant AsyncBegin AsyncInstant AsyncEnd FlowBegin FlowStep FlowEnd Counter Frame".split(" ");
  const THREADS = ["main", "render", "worker-1", "worker-2", "worker-3", "worker-4", "loader", "audio"];
  const NAMES = "frame input update physics collide animate draw cull submit wait load decode mix job memory message".split(" ");
  const STREAMS = ["App", "GPU", "IO"];
  const FRAME_NS = 4_166_000;
  let told = 0;
  let time = 0; // ns, of the frame
  let frame = 0;
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;

  function block() {
    const columns = "kinds threads names streams startDeltas durations depths marked marks identified ids argumentEvents argumentNames argumentValues";
    const made = { timeOriginMicros: origin_us, texts: [...NAMES, ...STREAMS], newThreads: THREADS.map((name, i) => ({ isolateId: "isolates/1", pid: 1, tid: 100 + i, name })) };
    for (const name of columns.split(" ")) made[name] = [];
    let before = 0;
    const add = (kind, thread, name, stream, start, duration, depth, id) => {
      if (id !== undefined) made.identified.push(made.kinds.length) && made.ids.push(id.toString(16));
      made.kinds.push(KINDS.indexOf(kind));
      made.threads.push(thread);
      made.names.push(NAMES.indexOf(name));
      made.streams.push(NAMES.length + stream);
      made.startDeltas.push(Math.round(start) - before);
      before = Math.round(start);
      made.durations.push(Math.round(duration));
      made.depths.push(depth);
    };
    while (made.kinds.length < 50_000 && told + made.kinds.length < total) {
      const isSlow = random() < 0.02;
      const busy = FRAME_NS * (isSlow ? 2 + 9 * random() ** 3 : 0.6 + 0.3 * random());
      for (let part = 0; part < 6; part++) {
        const [from, length] = [time + (busy * part) / 6, (busy / 6) * (0.3 + 0.6 * random())];
        for (let job = 0; job < 8; job++) {
          const inner = length / 8;
          add("Slice", 0, NAMES[4 + (job % 4)], part % 2, from + job * inner, inner * 0.8, 2);
          add("Slice", 2 + (job % 4), "job", 0, from + job * inner, inner * (0.5 + random()), 0);
        }
        add("Slice", 0, NAMES[1 + part], part % 2, from, length, 1);
      }
      add("Slice", 0, "frame", 0, time, busy, 0);
      add("Slice", 1, "submit", 1, time + 0.3 * busy, 0.6 * busy, 0);
      add("Frame", 0, "frame", 0, time, busy, 0, frame);
      made.argumentEvents.push(made.kinds.length);
      made.argumentNames.push(NAMES.indexOf("memory"));
      made.argumentValues.push(Math.round(1e6 * (2 + Math.sin(frame / 200) + random() / 10)));
      add("Counter", 0, "memory", 0, time, 0, 0);
      add("FlowBegin", 0, "message", 1, time + 0.29 * busy, 0, 0, frame);
      add("FlowEnd", 1, "message", 1, time + 0.31 * busy, 0, 0, frame);
      if (frame % 50 === 0) add("AsyncBegin", 6, "load", 2, time, 0, 0, frame);
      if (frame % 50 === 40) add("AsyncEnd", 6, "load", 2, time, 0, 0, frame - 40);
      if (isSlow) add("Instant", 0, "wait", 2, time + busy, 0, 0);
      time += Math.max(FRAME_NS, busy);
      frame++;
    }
    told += made.kinds.length;
    return made;
  }

  const Own = WebSocket;
  self.WebSocket = class extends Own {
    send(text) {
      const { id, method } = JSON.parse(text);
      if (method !== "_getTimeline") return super.send(text);
      const blocks = told < total ? [block()] : [];
      const eventCount = blocks.reduce((sum, { kinds }) => sum + kinds.length, 0);
      const history = { bytes: 0, bytesMax: 0, events: told, evicted: 0, lost: 0, unmatched: 0 };
      const result = { type: "_TimelineTable", kinds: KINDS, history, next: String(told), blocks, open: [], eventCount, openCount: 0 };
      if (told < total) result.more = true;
      // As from a socket: as text, in a task of its own.
      const data = JSON.stringify({ jsonrpc: "2.0", id, result });
      setTimeout(() => this.onmessage({ data }));
    }
  };
}

/** Of a browser's context. origin_us: when they begin, on the samples' clock. */
export async function withEvents(context, total, origin_us) {
  const code = `if (typeof document === "undefined") (${answerTimeline})(${total}, ${origin_us});\n`;
  await context.route("**/app.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: code + (await response.text()) });
  });
}
