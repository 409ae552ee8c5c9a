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
