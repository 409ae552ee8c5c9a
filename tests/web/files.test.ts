// Profiles as files: what is written is read again with the same totals, and bad files say why they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { choose } from "../../clients/web/src/data/files/chosen";
import { openFile } from "../../clients/web/src/data/files/open";
import { FORMS } from "../../clients/web/src/data/saved/save";
import { type Filter, weigh } from "../../clients/web/src/data/filter";
import type { Profile } from "../../clients/web/src/data/profile";
import { Shaper } from "../../clients/web/src/data/shape";
import { byFunction, count } from "../../clients/web/src/data/totals";
import { profileOf } from "./samples";

const HOSTILE = "<img/onerror=alert(1)>";

const encoder = new TextEncoder();
const bytesOf = (text: string) => new Uint8Array(encoder.encode(text));

async function again(profile: Profile, form: keyof typeof FORMS, filter: Filter = {}): Promise<Profile> {
  const written = await FORMS[form].write(choose(profile, filter), "test");
  return (await openFile(typeof written === "string" ? bytesOf(written) : written)).profile;
}

/** By name: self and total, in samples and in nanoseconds. */
function totals(profile: Profile, withTime = true): Record<string, number[]> {
  const counted = count(new Shaper(profile, []).shape(), weigh(profile, {}));
  const names = profile.functions.map(({ name }) => name);
  const tables = [counted.samples, counted.time_ns].map((one) =>
    byFunction(counted.calls, one, names.length),
  );
  const found: Record<string, number[]> = {};
  names.forEach((name, fn) => {
    if (!tables[0].total[fn]) return;
    const times = withTime ? [tables[1].self[fn], tables[1].total[fn]].map(Math.round) : [];
    found[name] = [tables[0].self[fn], tables[0].total[fn], ...times];
  });
  return found;
}

/** Those that are read again, too. */
const READ: (keyof typeof FORMS)[] = ["speedscope", "folded", "pprof", "cpusamples"];

const profile = profileOf([
  { stack: "main parse libc.so!malloc", times: 3, cpu_ns: 1_001_000 },
  { stack: "main parse parse parse", tid: 2, tag: "load", state: "Runnable", times: 2 },
  { stack: `main ${HOSTILE} \u05d0\u05d1`, pid: 7, tid: 8, cut: true },
  { stack: "main", time_us: 5_000_000, cpu_ns: 0 },
]);

for (const form of ["speedscope", "pprof", "cpusamples"] as const)
  test(`${form}: what was written is read with the same samples and times`, async () => {
    const read = await again(profile, form);
    assert.deepEqual(totals(read), totals(profile));
    assert.deepEqual(
      read.threads.map(({ pid, tid }) => [pid, tid]),
      profile.threads.map(({ pid, tid }) => [pid, tid]),
    );
  });

test("folded: what was written has the shares of the CPU time, or of samples in wall mode", async () => {
  const wall = await again(profile, "folded"); // a sample of it was Runnable
  assert.deepEqual(totals(wall, false), totals(profile, false));
  const throttled = profileOf([
    { stack: "spin", times: 800 },
    { stack: "hash", times: 100, cpu_ns: 8e6 },
  ]);
  const text = FORMS.folded.write(choose(throttled, {}), "x");
  assert.equal(text, "hash 800000\nspin 800000\n");
  const read = await again(throttled, "folded");
  assert.deepEqual(totals(read).hash.slice(2), [8e8, 8e8]);
});

test("only the samples of the selection are written", async () => {
  for (const form of READ)
    assert.equal((await again(profile, form, { threads: [2] })).samples.length, 2, form);
});

test("names of threads and processes survive", async () => {
  const named = profileOf([
    { stack: "main a", name: "main" },
    { stack: "main b", tid: 2, name: "worker; 1" },
    { stack: "run", pid: 7, tid: 7, name: "helper" },
  ]);
  named.processNames.set(1, "app").set(7, "child");
  for (const form of ["speedscope", "pprof", "cpusamples"] as const) {
    const read = await again(named, form);
    assert.deepEqual(read.threads, named.threads, form);
    assert.deepEqual([...read.processNames], [...named.processNames], form);
  }
});

test("pprof takes the program for the program, not the library that came first", async () => {
  const calls = profileOf(["libc.so!start main"]);
  calls.processNames.set(1, "app");
  const read = await again(calls, "pprof");
  assert.equal(read.libraries[0].name, "app");
});

test("speedscope keeps the time between samples, and opens on the busiest thread", async () => {
  const idle = profileOf([
    { stack: "a", time_us: 1000 },
    { stack: "b", tid: 2, time_us: 2000 },
    { stack: "b", tid: 2, time_us: 60_000 },
  ]);
  const file = JSON.parse((await FORMS.speedscope.write(choose(idle, {}), "x")) as string);
  assert.equal(file.activeProfileIndex, 1);
  assert.deepEqual(file.profiles[1].weights, [1000, 1000, 57_000, 1000]);
  assert.deepEqual(
    file.profiles[1].samples.map((stack: number[]) => stack.length),
    [0, 1, 0, 1],
  );
  const read = await again(idle, "speedscope");
  assert.deepEqual([...read.samples.time_us.view()].sort(), [1000, 2000, 60_000].sort());
  assert.deepEqual(totals(read), totals(idle));
});

test("wall mode's samples last a period in speedscope, and are samples again", async () => {
  const asleep = profileOf([{ stack: "main", cpu_ns: 0, state: "Sleep", times: 3 }]);
  const file = JSON.parse((await FORMS.speedscope.write(choose(asleep, {}), "x")) as string);
  assert.deepEqual(file.profiles[0].weights, [1000, 1000, 1000]);
  assert.deepEqual(totals(await again(asleep, "speedscope")), totals(asleep));
});

test("tags, states and cut stacks survive in pprof and CpuSamples, libraries too", async () => {
  for (const form of ["pprof", "cpusamples"] as const) {
    const read = await again(profile, form);
    assert.equal(weigh(read, { tags: ["load"], states: ["Runnable"] }).count, 2, form);
    assert.equal(weigh(read, {}).cut, 1, form);
    assert.equal(weigh(read, { libraries: ["libc.so"] }).count, 3, form);
  }
  const read = await again(profile, "cpusamples");
  assert.equal(weigh(read, { window_us: [5_000_000, 5_000_001] }).count, 1);
});

test("what is inlined stays so, and lines stay", async () => {
  const inlined = profileOf(["main"]);
  const fn =
    inlined.functions.push({ name: "tiny", library: 0, file: "t.h", line: 3, kind: "Native" }) - 1;
  inlined.samples.stack.push(
    inlined.stack(inlined.samples.stack.data[0], inlined.place(fn, "t.h", 12, 1)),
  );
  for (const column of ["time_us", "cpu_ns", "thread", "tag", "state"] as const)
    inlined.samples[column].push(0);
  inlined.samples.whole.push(1);
  for (const form of ["pprof", "cpusamples"] as const) {
    const read = await again(inlined, form);
    const place = read.stackPlaces[read.samples.stack.data[1]];
    const { file, line } = read.linePlace(place);
    assert.ok(read.isInlined(place), form);
    assert.deepEqual([read.files.texts[file], line], ["t.h", 12], form);
  }
});

test("speedscope's evented profiles and other units are read", async () => {
  const events = [
    { type: "O", frame: 0, at: 1 },
    { type: "O", frame: 1, at: 2 },
    { type: "C", frame: 1, at: 5 },
    { type: "C", frame: 0, at: 6 },
  ];
  const file = {
    shared: { frames: [{ name: "a" }, { name: "b", file: "b.js", line: 4 }] },
    profiles: [
      { type: "evented", name: "x", unit: "milliseconds", startValue: 0, endValue: 6, events },
    ],
  };
  const { profile: read, form } = await openFile(bytesOf(JSON.stringify(file)));
  assert.equal(form, "speedscope");
  assert.deepEqual(totals(read), { a: [2, 3, 2e6, 5e6], b: [1, 1, 3e6, 3e6] });
});

test("a Dart VM's reply is read: names with their class, its own libraries as the system's", async () => {
  const library = (uri: string) => ({ type: "@Library", id: uri, name: "", uri });
  const dart = (name: string, owner: object) => ({ type: "@Function", id: name, name, owner });
  const reply = {
    type: "CpuSamples",
    samplePeriod: 500,
    timeOriginMicros: 1,
    timeExtentMicros: 9,
    pid: 4,
    samples: [{ tid: 9, timestamp: 3, vmTag: "Dart", userTag: "Default", stack: [1, 0] }],
    functions: [
      {
        kind: "Dart",
        resolvedUrl: "package:a/a.dart",
        function: dart("main", library("package:a/a.dart")),
      },
      {
        kind: "Dart",
        resolvedUrl: "dart:core",
        function: dart("add", { type: "@Class", name: "List", library: library("dart:core") }),
      },
    ],
  };
  const { profile: read } = await openFile(
    bytesOf(JSON.stringify({ jsonrpc: "2.0", result: reply })),
  );
  assert.deepEqual(Object.keys(totals(read)).sort(), ["List.add", "main"]);
  assert.deepEqual(
    read.libraries.map(({ system }) => system),
    [false, true],
  );
});

test("bad files say what is wrong with them", async () => {
  const cases: [string | Uint8Array<ArrayBuffer>, RegExp][] = [
    ["", /empty/],
    ["{", /invalid or truncated/],
    ["[1]", /unrecognized JSON/],
    ['{"a":1}', /unrecognized JSON/],
    ["<html>", /page or SVG picture/],
    ["<?xml version='1.0'?><svg/>", /page or SVG picture/],
    ["hello\nworld\n", /unrecognized text/],
    ["main;a 3\nmain;b\n", /line 2/],
    ["main 99999999999\n", /more than 20,000,000/],
    ['{"shared":{"frames":[]},"profiles":[]}', /without samples/],
    [
      '{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"none","samples":[[1]],"weights":[1]}]}',
      /no frame 1/,
    ],
    ['{"shared":{"frames":[]},"profiles":[{"unit":"bytes"}]}', /in bytes/],
    [
      '{"type":"CpuSamples","functions":[],"samples":[{"stack":[4],"tid":1,"timestamp":1}]}',
      /frame/,
    ],
    [new Uint8Array([1, 2, 3, 4]), /pprof|truncated|message/],
    [new Uint8Array(gzipSync("main 1\n").subarray(0, 12)), /gzip/],
  ];
  for (const [content, reason] of cases)
    await assert.rejects(
      openFile(typeof content === "string" ? bytesOf(content) : content),
      (error: Error) => error.constructor.name.includes("BadFile") && reason.test(error.message),
      String(content),
    );
});

test("a gzip file of any form is read, and folded stacks with comments", async () => {
  const zipped = new Uint8Array(gzipSync("# made by x\nmain;a b 3\r\nmain 1\n"));
  const { form, profile: read } = await openFile(zipped);
  assert.equal(form, "folded");
  assert.deepEqual(totals(read, false), { main: [1, 4], "a b": [3, 3] });
});

test("samples of files that tell no times stand one after another, each thread's for itself", async () => {
  const folded = await openFile(bytesOf("main;a 2\nmain;b 1\n"));
  assert.ok(folded.timeless);
  assert.deepEqual([...folded.profile.samples.time_us.view()], [1000, 2000, 3000]);
  const two = profileOf([
    { stack: "a", tid: 1, cpu_ns: 3e6 },
    { stack: "b", tid: 2, cpu_ns: 2e6 },
    { stack: "a c", tid: 1, cpu_ns: 1e6 },
  ]);
  const read = await again(two, "pprof");
  assert.deepEqual([...read.samples.time_us.view()], [3000, 2000, 4000]);
  const timed = await FORMS.cpusamples.write(choose(two, {}), "");
  assert.ok(!(await openFile(bytesOf(timed as string))).timeless);
});
