// Session files: the small one of tests/sessions, and what is said of it when it is broken or cut off.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../clients/web/src/data/call_tree";
import { fromBase64, toBase64 } from "../../clients/web/src/data/files/base64";
import { openFile } from "../../clients/web/src/data/files/open";
import { onePage, PARTS } from "../../clients/web/src/data/files/one_page";
import { crc32 } from "../../clients/web/src/data/files/session_blocks";
import type { Profile } from "../../clients/web/src/data/profile";

declare const TESTS: string; // the folder tests/, set by run.mjs

const small = new Uint8Array(readFileSync(join(TESTS, "sessions/small.isoscope")));
const BASE_US = 7_000_000;

/** Of each sample: its functions with their lines, leaf first. */
function stacks(profile: Profile): string[] {
  return Array.from(profile.samples.stack.view(), (leaf) => {
    const words = [];
    for (let node = leaf; node > ROOT; node = profile.stackParents[node]) {
      const place = profile.stackPlaces[node];
      const { name } = profile.functions[profile.functionAt(place)];
      words.push(`${name}:${profile.linePlace(place).line}${profile.isInlined(place) ? "i" : ""}`);
    }
    return words.join(" ");
  });
}

const STACKS = [
  "leaf:6i walk:31 walk:32 walk:32 main:11",
  "memcpy:0 walk:32 main:11",
  "libc.so.6+0xfff:0 main:11",
  "js: <b>\x07:0",
  "main:11",
];

const isBadFile = (reason: RegExp) => (error: Error) =>
  error.constructor.name.includes("BadFile") && reason.test(error.message);

test("stacks, lines and inlined functions are what chains, names and offsets say", async () => {
  const { profile, form, timeless } = await openFile(small);
  assert.deepEqual([form, timeless], ["isoscope session", false]);
  assert.deepEqual(stacks(profile), STACKS);
  const walk = profile.functions.find(({ name }) => name === "walk")!;
  assert.deepEqual([walk.file, walk.line, walk.kind], ["/src/main.c", 30, "Native"]);
  const libraries = profile.libraries.map(({ name, system }) => [name, system]);
  assert.deepEqual(libraries, [["app", false], ["libc.so.6", true], ["[jit]", false]]);
});

test("samples have times, CPU time, threads, tags and states", async () => {
  const { profile } = await openFile(small);
  const { samples, threads, tags, states } = profile;
  const rows = Array.from({ length: samples.length }, (_, i) => [
    samples.time_us.data[i] - BASE_US,
    samples.cpu_ns.data[i],
    threads[samples.thread.data[i]].tid,
    tags.texts[samples.tag.data[i]],
    states.texts[samples.state.data[i]],
    samples.whole.data[i],
  ]);
  assert.deepEqual(rows, [
    [1000, 1e6, 41, "", "Running", 1],
    [2000, 1e6, 41, "", "Running", 1],
    [2000, 5e5, 42, "load", "Running", 0],
    [3500, 0, 42, "load", "Sleep", 1],
    [3000, 1e6, 51, "", "Running", 1],
  ]);
  assert.deepEqual(
    threads.map(({ pid, tid, name }) => `${pid} ${tid} ${name}`),
    ["41 41 main", "41 42 worker", "51 51 helper"],
  );
  assert.deepEqual([...profile.processNames], [[41, "app"], [51, "child"]]);
  assert.equal(profile.period_us, 1000);
});

test("what it tells of the recording is there", async () => {
  const { session, texts } = await openFile(small);
  assert.equal(texts!.get("/src/main.c"), "int main(void) {}\n");
  const { file, processes, lost, cpuTime, unsampled } = session!;
  assert.deepEqual(unsampled, [{ exe: "static", pid: 60, count: 2, reason: "it is static" }]);
  assert.deepEqual(cpuTime, {
    processes: 2,
    sampledMicros: 3500,
    notSampledMicros: 500,
    withoutSamplerMicros: 5000,
  });
  assert.deepEqual([file.command, file.host, file.closed], ["app --fast \x1b[31m", "box", true]);
  assert.deepEqual(lost, { ring_full: 4 });
  assert.deepEqual(processes.map(({ name, exit }) => [name, exit]), [
    ["app", { status: 3 }],
    ["child", { status: 3 }],
  ]);
});

test("cut off at any byte it is read up to there, or says why", async () => {
  const counts = new Set<number>();
  for (let end = 1; end < small.length; end++) {
    const read = await openFile(small.slice(0, end)).catch((error: Error) => {
      assert.ok(error.constructor.name.includes("BadFile"), `${end}: ${error.stack}`);
      return null;
    });
    if (!read) continue;
    assert.equal(read.session!.file.closed, false, `${end}`);
    counts.add(read.profile.samples.length);
  }
  assert.deepEqual([...counts], [3, 5]);
});

test("a flipped bit anywhere is seen or harmless", async () => {
  for (let at = 0; at < small.length; at++) {
    const broken = small.slice();
    broken[at] ^= 1 << at % 8;
    const read = await openFile(broken).catch((error: Error) => {
      assert.ok(error.constructor.name.includes("BadFile"), `${at}: ${error.stack}`);
      return null;
    });
    if (!read) continue;
    assert.ok(at >= 12 && at < 16, `${at}`); // these are not used
    assert.deepEqual(stacks(read.profile), STACKS);
  }
});

/** The small one's head, and a block with right checksums. */
function withBlock(type: string, stored: Uint8Array, unpacked: number): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(16 + 20 + stored.length);
  const view = new DataView(file.buffer);
  file.set(small.subarray(0, 16));
  file.set(new TextEncoder().encode(type), 16);
  view.setUint32(20, stored.length, true);
  view.setUint32(24, unpacked, true);
  view.setUint32(28, crc32(stored), true);
  view.setUint32(32, crc32(file.subarray(16, 32)), true);
  file.set(stored, 36);
  return file;
}

test("what is broken is named with its place", async () => {
  const newer = small.slice();
  newer[8] = 2;
  const cases: [Uint8Array<ArrayBuffer>, RegExp][] = [
    [newer, /at byte 8: version 2; this page reads version 1/],
    [small.slice(0, 12), /at byte 12: it ends within its head/],
    [withBlock("HEAD", new Uint8Array(40), 7), /at byte 16: block HEAD cannot be unpacked/],
    [withBlock("HEAD", new Uint8Array(40), 2 ** 30), /at byte 16: block HEAD is too large/],
    // A zstd frame with a window of 2 GiB.
    [withBlock("HEAD", Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, ...Array(20).fill(0)), 7), /too much memory/],
    [withBlock("XXXX", new Uint8Array(40), 7), /without samples/],
  ];
  for (const [file, reason] of cases) await assert.rejects(openFile(file), isBadFile(reason), String(reason));
});

test("base64 goes there and back", () => {
  const bytes = Uint8Array.from({ length: 100_001 }, (_, i) => (i * 7) & 255);
  assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
});

test("nothing that is put into the one page is taken for its end, or for a part", () => {
  const parts = Object.fromEntries(PARTS.map((name) => [name, `<${name}>`])) as never;
  const held = { file: '</title><script>"@PROFILE@', look: "#search='x'", profile: "QUJD" };
  const page = onePage("<title>@TITLE@</title><b a='@FILE@' l='@LOOK@'>@app.css@ @PROFILE@ @mail@x</b>", parts, held);
  assert.equal(
    page,
    "<title>&lt;/title&gt;&lt;script&gt;&quot;@PROFILE@ · isoscope</title>" +
      "<b a='&lt;/title&gt;&lt;script&gt;&quot;@PROFILE@' l='#search=&#x27;x&#x27;'><app.css> QUJD @mail@x</b>",
  );
});

/** content as a zstd frame of one block that is not compressed. */
function frameOf(content: Uint8Array): Uint8Array {
  const frame = new Uint8Array(12 + content.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, 0xfd2fb528, true);
  frame[4] = 0xa0; // one segment, its size in four bytes
  view.setUint32(5, content.length, true);
  view.setUint32(9, 1 | (content.length << 3), true); // 3 bytes: the last one, raw; the fourth is overwritten
  frame.set(content, 12);
  return frame;
}

/** With one more block behind the small file's. */
function withTold(told: unknown): Uint8Array<ArrayBuffer> {
  const content = new TextEncoder().encode(JSON.stringify(told));
  return new Uint8Array([...small, ...withBlock("STLS", frameOf(content), content.length).subarray(16)]);
}

const LOOPS = {
  settings: { watch: "auto", names: "", limitsMs: [50, 250, 2000, 5000] },
  loops: [
    {
      ...{ number: 1, process: 100, tid: 101, name: "ui", thread: "main", kind: "epoll", ended: false, watched: true, busy: true },
      ...{ dispatches: 10, dispatch: { count: 10, sumNs: 400_000_500, maxNs: [300_000_000, 304_000_100], buckets: [6, 0, 3, ...Array(15).fill(0), 1] } },
      ...{ delay: { count: 0, sumNs: 0, maxNs: [0, 0], buckets: [] }, blockingNs: 250_000_000, levels: { stall: 1 }, causes: { busy: 1 } },
      ...{ dismissed: 2, limitsMs: [50, 250, 2000, 5000] },
    },
  ],
  unwatched: [{ process: 100, tid: 102, name: "go", systemCall: "epoll_pwait" }],
};

test("a session's loops have the figures that the service tells of them", async () => {
  const content = new TextEncoder().encode(JSON.stringify(LOOPS));
  const { stalls } = await openFile(new Uint8Array([...small, ...withBlock("LOOP", frameOf(content), content.length).subarray(16)]));
  const { loops, limits, unwatched } = stalls!.loops(stalls!.stats, { by: "blocking", ascending: false })!;
  const one = loops.find(({ name }) => name === "ui")!;
  assert.deepEqual([one.pid, one.tid, one.thread, one.kind, one.dispatches, one.busy], [100, 101, "main", "epoll", 10, true]);
  assert.deepEqual([one.dispatch.p50, one.dispatch.p95, one.dispatch.p99], [[0, 2], [262_144, 304_001], [262_144, 304_001]]);
  assert.deepEqual([one.dispatch.max, one.dispatch.sum, one.delay.p50], [[300_000, 304_001], 400_000, [0, 0]]);
  assert.deepEqual([one.levels, one.causes, one.blockingMicros], [{ jank: 0, stall: 1, hang: 0, dead: 0 }, { busy: 1 }, 250_000]);
  assert.equal(limits.stall, 250);
  assert.deepEqual(unwatched.map(({ thread, systemCall }) => [thread, systemCall]), [["go", "epoll_pwait"]]);
});

const LATE = {
  ...{ number: 3, process: 100, loop: 1, name: "main", tid: 101, thread: "main", level: "hang", ongoing: false, told: true },
  ...{ equals: 2, updates: 1, limitNs: 250_000_000, startNs: [7_000_000_500, 7_004_000_000], durationNs: [2_100_000_000, 2_104_000_500] },
  ...{ cause: "lock", culpritNs: 2_000_000_000, culpritLooks: 9, looks: 12, culprit: [1, 2, 0, 0], caller: [3, 4, 5, 31], tag: 6, slice: 0 },
  ...{ prefix: [7, 8], runs: [[1, 7_100_000_000, 9_100_000_000, 9]], stacks: [[7_200_000_000, 2, [1, 3, 8, 7]]] },
  evidence: {
    ...{ runningNs: 1_000_000, runnableNs: 0, sleepingNs: 2_099_000_000, faults: 0, hostLateNs: 0, systemCall: "futex" },
    ...{ descriptor: -1, path: "", holderTid: 12, holder: "worker", holderFunction: "flush_log" },
  },
  texts: ["futex_wait", "libc.so.6", "save", "app", "/src/save.c", "saving", "main", "run_loop"],
};

test("a stall of a session is told as the service tells it", async () => {
  const { stalls } = await openFile(withTold(LATE));
  const one = stalls!.one(3)!;
  assert.deepEqual([one.pid, one.tid, one.level, one.equals, one.isolateId], [100, 101, "hang", 2, "isolates/100"]);
  assert.deepEqual([one.startMicros, one.durationMicros], [[7_000_000, 7_004_000], [2_100_000, 2_104_001]]);
  assert.deepEqual([one.timeOriginMicros, one.timeExtentMicros], [7_000_000, 2_104_001]);
  assert.deepEqual(one.culprit, { function: "futex_wait", library: "libc.so.6", file: undefined, line: undefined, micros: 2_000_000, looks: 9, share: 0.75 });
  assert.deepEqual(one.caller, { function: "save", library: "app", file: "/src/save.c", line: 31 });
  assert.deepEqual([one.tag, one.slice, one.prefix], ["saving", undefined, ["main", "run_loop"]]);
  assert.deepEqual(one.story, [{ function: "futex_wait", fromMicros: 7_100_000, toMicros: 9_100_000, looks: 9 }]);
  assert.deepEqual(one.stacks, [{ micros: 7_200_000, state: "Lock", functions: ["futex_wait", "save", "run_loop", "main"] }]);
  assert.equal(one.causeText, "it waited in futex for thread 12 'worker', which stood in flush_log");
  assert.deepEqual(one.holder, { tid: 12, thread: "worker", function: "flush_log" });
});

test("what is known of a stall's cause is its sentence, as the service's", async () => {
  const said = async (cause: string, evidence: object) => {
    const { stalls } = await openFile(withTold({ ...LATE, cause, evidence: { descriptor: -1, ...evidence } }));
    return stalls!.one(3)!.causeText;
  };
  assert.equal(await said("busy", { runningNs: 1_900_400_000 }), "it computed for 1900 ms");
  assert.equal(await said("io", { systemCall: "read", descriptor: 9, path: "/mnt/x" }), "it waited in read on descriptor 9 (/mnt/x)");
  assert.equal(await said("io", { path: "/mnt/x" }), "it waited on /mnt/x");
  assert.equal(await said("io", {}), "it waited for a descriptor or a disk");
  assert.equal(await said("child", { systemCall: "wait4", holderTid: 77 }), "it waited in wait4 for process 77");
  assert.equal(await said("lock", {}), "it waited for another thread");
  assert.equal(await said("host", { hostLateNs: 300_000_000 }), "the whole machine was late: so was isoscope, by 300 ms");
  assert.equal(await said("page-fault", { faults: 12 }), "it waited for pages: 12 major faults");
  assert.equal(await said("sleep", { systemCall: "nanosleep" }), "it slept by its own wish in nanosleep");
  assert.equal(await said("a later one", {}), "why is not known");
});

test("a stall that is told in another way is named with its place", async () => {
  await assert.rejects(openFile(withTold({ ...LATE, startNs: 7 })), isBadFile(/at byte [\d,]+: block STLS: startNs is not a list/));
  await assert.rejects(openFile(withTold({ ...LATE, number: "x" })), isBadFile(/number is not a number/));
});
