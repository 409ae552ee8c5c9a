// An editor whose loops stall, in each way that the page draws: for the tests and the pictures.
import { ISOLATE, LIMITS, PID } from "./fake_service.mjs";

export const ORIGIN_US = 5_000_000;
const S = 1_000_000;
const MAIN = 4242;
const RENDER = 4250;

/** at, to: seconds since ORIGIN_US; runs: [function, seconds]. */
function stallOf({ number, at, to, slack = 0, tid = MAIN, thread = "main", name = "main", runs, culprit, ...more }) {
  const [start, end] = [at, to].map((time) => ORIGIN_US + time * S);
  const length = Math.round(end - start);
  let from = start;
  const story = runs.map(([fn, seconds]) => {
    const run = { function: fn, fromMicros: Math.round(from), toMicros: Math.round(from + seconds * S), looks: Math.round(seconds * 50) };
    from += seconds * S;
    return run;
  });
  const base = ["main", "run_loop", "dispatch"];
  const looks = story.reduce((sum, one) => sum + one.looks, 0);
  const own = story.filter((one) => one.function === culprit.function);
  const level = length >= 5 * S ? "dead" : length >= 2 * S ? "hang" : "stall";
  return {
    ...{ number, isolateId: ISOLATE, pid: PID, tid, thread, loop: tid === MAIN ? 1 : 2, name, level, ongoing: false, told: true },
    ...{ equals: 1, updates: 0, limitMicros: 250_000, startMicros: [start - slack, start], durationMicros: [length, length + slack] },
    ...{ timeOriginMicros: start - slack, timeExtentMicros: length + slack, cause: "busy", causeText: "it computed." },
    ...{ runningMicros: length, runnableMicros: 0, sleepingMicros: 0, faults: 0, hostLateMicros: 0, looks },
    culprit: {
      ...{ library: "editor", micros: Math.max(...own.map((one) => one.toMicros - one.fromMicros)) },
      ...{ looks: own.reduce((sum, one) => sum + one.looks, 0), share: own.reduce((sum, one) => sum + one.looks, 0) / looks },
      ...culprit,
    },
    ...{ prefix: base, story },
    stacks: story.slice(-4).flatMap((run) =>
      [0.3, 0.6].map((part) => ({
        micros: Math.round(run.fromMicros + part * (run.toMicros - run.fromMicros)),
        state: more.cause && more.cause !== "busy" ? "Lock" : "Running",
        functions: [run.function, "open_document", ...[...base].reverse()],
      })),
    ),
    ...more,
  };
}

export const STALLS = [
  stallOf({
    ...{ number: 1, at: 1, to: 2.9, slack: 3800 },
    runs: [["decode_image", 0.3], ["render_page", 1.2], ["compress_block", 0.4]],
    culprit: { function: "render_page", file: "render.c", line: 212 },
    caller: { function: "open_document", library: "editor", file: "document.c", line: 87 },
    ...{ tag: "opening", slice: "open report.pdf" },
  }),
  stallOf({
    ...{ number: 2, at: 4, to: 4.31, runs: [["__futex_abstimed_wait_common", 0.31]] },
    culprit: { function: "__futex_abstimed_wait_common", library: "libc.so.6" },
    caller: { function: "flush_log", library: "editor", file: "log.c", line: 31 },
    ...{ cause: "lock", causeText: "it waited in futex for thread 4251 'saver', which stood in write_all." },
    ...{ runningMicros: 4000, runnableMicros: 1000, sleepingMicros: 305_000, systemCall: "futex" },
    holder: { tid: 4251, thread: "saver", function: "write_all" },
  }),
  stallOf({
    ...{ number: 3, at: 5, to: 11.2, tid: RENDER, thread: "render", name: "render", runs: [["read", 6.2]] },
    culprit: { function: "read", library: "libc.so.6" },
    caller: { function: "load_texture", library: "editor", file: "texture.c", line: 140 },
    ...{ cause: "io", causeText: "it waited in read of descriptor 9, /mnt/share/textures/wall.png.", updates: 4 },
    ...{ runningMicros: 20_000, runnableMicros: 180_000, sleepingMicros: 6_000_000, systemCall: "read" },
    ...{ descriptor: 9, path: "/mnt/share/textures/wall.png" },
  }),
  ...Array.from({ length: 6 }, (_, i) =>
    stallOf({
      ...{ number: 4 + i, at: 12 + 0.33 * i, to: 12.27 + 0.33 * i, runs: [["layout_text", 0.27]], equals: i + 1, told: i !== 3 },
      culprit: { function: "layout_text", file: "layout.c", line: 55 },
      caller: { function: "layout_text", library: "editor", file: "layout.c", line: 55 },
    }),
  ),
];

/** So short and so many that a narrow page cannot tell them apart. */
export const NEAR = Array.from({ length: 6 }, (_, i) =>
  stallOf({
    ...{ number: 1 + i, at: 12 + 0.06 * i, to: 12.04 + 0.06 * i, runs: [["layout_text", 0.04]] },
    culprit: { function: "layout_text" },
  }),
);

/** It goes on: for so many seconds by now. */
export const ongoing = (seconds) => ({
  ...stallOf({
    ...{ number: 10, at: 15, to: 15 + seconds, runs: [["pbkdf2_sha512", seconds]] },
    culprit: { function: "pbkdf2_sha512", library: "libcrypto.so.3" },
    caller: { function: "unlock_vault", library: "editor" },
  }),
  ongoing: seconds < 4,
});

/** It begins behind all samples. */
export const beyond = () =>
  stallOf({
    ...{ number: 11, at: 17, to: 17.5, runs: [["layout_text", 0.5]] },
    culprit: { function: "layout_text" },
  });

/** Each millisecond of the loops' and a worker's CPU time, for 16 s. */
export const SAMPLES = Array.from({ length: 16_000 }, (_, ms) => {
  const at = ORIGIN_US + ms * 1000;
  const stall = STALLS.find(({ timeOriginMicros: from, timeExtentMicros: extent, cause }) => cause === "busy" && at >= from && at < from + extent);
  if (stall) {
    const run = stall.story.find(({ toMicros }) => at < toMicros) ?? stall.story.at(-1);
    return { at, tid: MAIN, thread: "main", stack: `main run_loop dispatch open_document ${run.function}` };
  }
  if (ms % 3 === 0) return { at, tid: 4251, thread: "saver", stack: "start_thread save_all libz.so!deflate" };
  return ms % 40 < 6 ? { at, tid: MAIN, thread: "main", stack: "main run_loop dispatch blink_cursor" } : null;
}).filter(Boolean);

const times = (p50, p95, p99, max) => ({ count: 4100, p50, p95, p99, max, sum: 12_000_000, buckets: [] });
const NONE = times([0, 0], [0, 0], [0, 0], [0, 0]);

export const LOOPS = [
  {
    ...{ number: 1, isolateId: ISOLATE, pid: PID, tid: MAIN, thread: "main", name: "main", kind: "poll", ended: false },
    ...{ watched: true, busy: true, dispatches: 4112, dispatch: times([64, 127], [4096, 8191], [262_144, 310_000], [1_900_000, 1_903_800]) },
    ...{ delay: times([32, 63], [256, 511], [512, 1023], [4000, 4100]), blockingMicros: 3_410_000 },
    ...{ levels: { jank: 12, stall: 8, hang: 0, dead: 0 }, causes: { busy: 7, lock: 1 }, dismissed: 0, limits: LIMITS },
  },
  {
    ...{ number: 2, isolateId: ISOLATE, pid: PID, tid: RENDER, thread: "render", name: "render", kind: "registered", ended: false },
    ...{ watched: true, busy: false, dispatches: 900, dispatch: times([8192, 16_383], [16_384, 32_767], [16_384, 32_767], [6_200_000, 6_200_000]) },
    ...{ delay: { ...NONE, count: 0 }, blockingMicros: 6_150_000, levels: { jank: 0, stall: 0, hang: 0, dead: 1 } },
    ...{ causes: { io: 1 }, dismissed: 2, limits: LIMITS },
  },
];
export const UNWATCHED = [{ isolateId: ISOLATE, pid: PID, tid: 4260, thread: "net-uring", systemCall: "io_uring_enter" }];
