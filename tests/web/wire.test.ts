import assert from "node:assert/strict";
import { test } from "node:test";
import { TableReader } from "../../clients/web/src/data/table_form";
import { Rpc } from "../../clients/web/src/wire/rpc";
import type { SamplesTable } from "../../clients/web/src/wire/protocol";

type Rows = [delta: number, thread: number, caller: number, frame: number][];

/** One reply; what a test does not speak of is as a service would have it. */
function reply(more: Partial<SamplesTable>, samples: Rows, tree = {}): SamplesTable {
  const column = (at: number) => samples.map((row) => row[at]);
  return {
    type: "_CpuSamplesTable",
    samplePeriod: 1000,
    maxStackDepth: 128,
    sampleCount: samples.length,
    pid: 7,
    next: "x",
    _counters: { ticks: 9, lost_ring_full: 2, lost_late: 0 },
    vmTags: ["Running", "Sleep"],
    firstLibrary: 0,
    firstFunction: 0,
    firstFrame: 0,
    libraries: [],
    functions: [],
    frames: [],
    renamed: [],
    trees: [
      {
        tree: 1,
        firstNode: 1,
        firstThread: 0,
        timeOriginMicros: 5000,
        nodes: { callers: [], frames: [] },
        threads: [],
        samples: {
          timeDeltas: column(0),
          threads: column(1),
          callers: column(2),
          frames: column(3),
          cpuNanos: samples.map(() => 1e6),
          vmTags: samples.map(() => 0),
          incomplete: [],
          ends: [],
        },
        ...tree,
      },
    ],
    ...more,
  };
}

const LIBRARY = {
  id: "libraries/1",
  uri: "",
  name: "app",
  path: "/app",
  buildId: "",
  system: false,
  loadBias: 0,
};
const fn = (name: string, line = 0) =>
  ({
    id: name,
    name,
    owner: { type: "@Library", id: "libraries/1" },
    kind: "Native",
    file: "a.c",
    line,
  }) as const;
const THREAD = { isolateId: "isolates/7", tid: 8, name: "main", userTag: "main" };

const FIRST = reply(
  {
    libraries: [LIBRARY],
    functions: [fn("main"), fn("outer"), fn("inlined", 40)],
    frames: [
      { functions: [0], lines: [10] },
      { functions: [2, 1], lines: [41, 20], files: ["b.h", ""] },
    ],
  },
  [
    [0, 0, 1, 1],
    [1000, 0, 0, 0],
  ],
  { nodes: { callers: [0], frames: [0] }, threads: [THREAD] },
);

function stackOf(reader: TableReader, sample: number): string[] {
  const { profile } = reader;
  const words = [];
  for (let at = profile.samples.stack.data[sample]; at > 0; at = profile.stackParents[at]) {
    const place = profile.stackPlaces[at];
    const { file, line } = profile.linePlace(place);
    words.push(`${profile.functions[profile.functionAt(place)].name} ${profile.files.texts[file]}:${line}`);
  }
  return words;
}

test("a reply becomes stacks, inlined functions and their lines among them", () => {
  const reader = new TableReader();
  reader.add(FIRST);
  assert.deepEqual(stackOf(reader, 0), ["inlined b.h:41", "outer a.c:20", "main a.c:10"]);
  assert.deepEqual(stackOf(reader, 1), ["main a.c:10"]);
  assert.deepEqual([...reader.profile.samples.time_us.view()], [5000, 6000]);
  assert.deepEqual(reader.profile.threads, [{ pid: 7, tid: 8, name: "main" }]);
  assert.deepEqual(reader.lost, { ring_full: 2 });
});

test("the next reply goes on: numbers stay, a new tree begins anew, a thread takes another name", () => {
  const reader = new TableReader();
  reader.add(FIRST);
  const tables = { firstLibrary: 1, firstFunction: 3, firstFrame: 2 };
  const named = { firstNode: 2, firstThread: 0, threads: [{ ...THREAD, name: "worker" }] };
  reader.add(reply(tables, [[0, 0, 1, 1]], named));
  assert.equal(reader.profile.samples.stack.data[2], reader.profile.samples.stack.data[0]);
  assert.equal(reader.profile.threads[0].name, "worker");
  reader.add(
    reply(tables, [[0, 0, 1, 0]], {
      tree: 2,
      nodes: { callers: [0], frames: [1] },
      threads: [THREAD],
    }),
  );
  assert.deepEqual(stackOf(reader, 3), ["main a.c:10", "inlined b.h:41", "outer a.c:20"]);
});

test("after a reset nothing of before is left", () => {
  const reader = new TableReader();
  reader.add(FIRST);
  reader.add({ ...FIRST, reset: true });
  assert.equal(reader.profile.samples.length, 2);
  assert.equal(reader.profile.functions.length, 3);
  assert.equal(reader.resets, 1);
});

test("stacks do not grow with time: those of dropped samples go, and the tree goes on", () => {
  const reader = new TableReader();
  reader.add(FIRST);
  const deep = 300_000; // a chain, which one sample has
  const chain = {
    tree: 2,
    nodes: {
      callers: Array.from({ length: deep }, (_, i) => i),
      frames: Array.from({ length: deep }, () => 0),
    },
    threads: [THREAD],
  };
  const tables = { firstLibrary: 1, firstFunction: 3, firstFrame: 2 };
  reader.add(reply(tables, [[0, 0, deep, 0]], chain));
  const small = { nodes: { callers: [0], frames: [1] }, threads: [THREAD] };
  reader.add(reply(tables, [[0, 0, 1, 0]], { ...small, tree: 3 }));
  reader.keep(1);
  assert.deepEqual(stackOf(reader, 0), ["main a.c:10", "inlined b.h:41", "outer a.c:20"]);
  assert.equal(reader.profile.stackCount, 4);
  const next = { tree: 3, firstNode: 2, firstThread: 1 };
  reader.add(reply(tables, [[0, 0, 1, 1]], next));
  assert.deepEqual(stackOf(reader, 1).slice(2), ["inlined b.h:41", "outer a.c:20"]);
});

test("what does not go on or points nowhere is said, with its name", () => {
  const broken: [Partial<SamplesTable>, RegExp][] = [
    [{ firstFunction: 1 }, /firstFunction: 1, where 0/],
    [{ frames: [{ functions: [9], lines: [0] }] }, /no function 9/],
    [{ functions: [fn("x")] }, /libraries\/1 was not among/],
  ];
  for (const [part, message] of broken)
    assert.throws(() => new TableReader().add(reply(part, [])), message);
  assert.throws(
    () => new TableReader().add({ ...FIRST, trees: [{ ...FIRST.trees[0], threads: [] }] }),
    /no thread 0/,
  );
});

test("members that nobody knows yet do no harm", () => {
  const reader = new TableReader();
  reader.add({ ...FIRST, novelty: { deep: [1] } } as SamplesTable);
  assert.equal(reader.profile.samples.length, 2);
});

test("answers find their questions, errors say which, and the end ends those that wait", async () => {
  const sent: { id: string; method: string }[] = [];
  const events: string[] = [];
  const rpc = new Rpc(
    (text) => sent.push(JSON.parse(text)),
    (stream, event) => events.push(`${stream} ${event.kind}`),
  );
  const [vm, flags, version] = [
    rpc.call("getVM", {}),
    rpc.call("getFlagList", {}),
    rpc.call("getVersion", {}),
  ];
  rpc.receive(JSON.stringify({ id: sent[1].id, result: { type: "FlagList", flags: [] } }));
  rpc.receive(
    JSON.stringify({ id: sent[0].id, error: { code: 100, message: "Feature is disabled" } }),
  );
  rpc.receive(
    JSON.stringify({
      method: "streamNotify",
      params: { streamId: "VM", event: { kind: "VMUpdate" } },
    }),
  );
  assert.deepEqual(await flags, { type: "FlagList", flags: [] });
  await assert.rejects(vm, /getVM: Feature is disabled/);
  assert.deepEqual(events, ["VM VMUpdate"]);
  rpc.end();
  await assert.rejects(version, /getVersion: the connection is gone/);
  await assert.rejects(rpc.call("getVM", {}), /getVM: the connection is gone/);
  assert.equal(sent.length, 3);
});
