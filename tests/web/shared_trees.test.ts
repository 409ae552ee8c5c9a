// The cases of tests/trees: replies, and the trees that every client makes of them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bottomUp } from "../../clients/web/src/data/layouts/bottom_up";
import { childrenOf, nameRanks } from "../../clients/web/src/data/children";
import { weigh } from "../../clients/web/src/data/filter";
import { flameLayout } from "../../clients/web/src/data/layouts/flame_layout";
import { countGroups, type GroupBy, groupOf } from "../../clients/web/src/data/group";
import { type Neighbour, neighbours } from "../../clients/web/src/data/sums/neighbours";
import type { Profile } from "../../clients/web/src/data/profile";
import { Shaper } from "../../clients/web/src/data/shape";
import { TableReader } from "../../clients/web/src/data/table_form";
import { byFunction } from "../../clients/web/src/data/totals";
import { type TreeRows, treeRows } from "../../clients/web/src/data/layouts/tree_rows";
import type { SamplesTable } from "../../clients/web/src/wire/protocol";

declare const TESTS: string; // the folder tests/, set by run.mjs

interface Case {
  description: string;
  processes: { id: string; name: string }[];
  group: GroupBy;
  frames?: "all" | "mine" | "folded";
  replies: SamplesTable[];
  expect: {
    sampleCount: number;
    cpuMicros: number;
    cutCount: number;
    callTree: unknown[][];
    bottomUp: unknown[][];
    table: Record<string, unknown>[];
    flame: unknown[][][];
  };
}

const MICRO = 1000; // ns
const FRAMES = {
  all: [],
  mine: [{ kind: "only-mine" as const }],
  folded: [{ kind: "fold-runtime" as const }],
};

class Made {
  readonly profile: Profile;
  readonly shape;
  readonly ranks: Int32Array;

  constructor(private readonly one: Case) {
    const reader = new TableReader();
    for (const reply of one.replies) reader.add(reply);
    this.profile = reader.profile;
    this.shape = new Shaper(this.profile, FRAMES[one.frames ?? "all"]).shape();
    this.ranks = nameRanks(this.profile.functions.map(({ name }) => name));
  }

  get counted() {
    return countGroups(this.profile, this.shape, {}, this.one.group);
  }

  nameOf(fn: number): string {
    const group = groupOf(fn);
    if (group === null) return this.profile.functions[fn].name;
    if (this.one.group === "tag") return this.profile.tags.texts[group];
    if (this.one.group === "thread") return this.profile.threads[group].name;
    return this.one.processes.find(({ id }) => id === `isolates/${group}`)!.name;
  }

  rows(tree: TreeRows, told: (row: number) => unknown[]): unknown[][] {
    const all: unknown[][] = [];
    const walk = (row: number, depth: number) => {
      if (row) all.push([depth, this.nameOf(tree.fn[row]), ...told(row)]);
      for (let i = tree.first[row]; i < tree.first[row + 1]; i++) walk(tree.list[i], depth + 1);
    };
    walk(0, -1);
    return all;
  }

  callTree(): unknown[][] {
    const { counted } = this;
    const children = childrenOf(counted.calls, counted.samples.total, "weight", this.ranks);
    const tree = treeRows(counted, children);
    return this.rows(tree, (row) => [
      tree.inlined[row] === 1,
      tree.self[row],
      tree.total[row],
      tree.selfTime_ns[row] / MICRO,
      tree.totalTime_ns[row] / MICRO,
    ]);
  }

  /** With everything opened. */
  bottomUp(): unknown[][] {
    const opened = new Set<number>();
    for (let before = -1; before !== opened.size;) {
      before = opened.size;
      const tree = bottomUp(this.counted, opened, (rows) =>
        rows.sort((a, b) => b.total - a.total || this.ranks[a.fn] - this.ranks[b.fn]),
      );
      tree.key.forEach((key, row) => tree.more[row] && opened.add(key));
      if (before === opened.size)
        return this.rows(tree, (row) => [tree.total[row], tree.totalTime_ns[row] / MICRO]);
    }
    throw new Error("it always ends above");
  }

  table(): Record<string, unknown>[] {
    const { counted, profile } = this;
    const samples = byFunction(counted.calls, counted.samples, profile.functions.length);
    const time = byFunction(counted.calls, counted.time_ns, profile.functions.length);
    const named = (list: Neighbour[]) =>
      Object.fromEntries(
        list.filter(({ fn }) => fn >= 0).map(({ fn, samples }) => [this.nameOf(fn), samples]),
      );
    return [...profile.functions.keys()]
      .filter((fn) => samples.total[fn] > 0)
      .sort(
        (a, b) =>
          samples.self[b] - samples.self[a] ||
          samples.total[b] - samples.total[a] ||
          this.ranks[a] - this.ranks[b],
      )
      .map((fn) => {
        const { callers, callees } = neighbours(counted, fn);
        return {
          name: this.nameOf(fn),
          self: samples.self[fn],
          total: samples.total[fn],
          selfMicros: time.self[fn] / MICRO,
          totalMicros: time.total[fn] / MICRO,
          callers: named(callers),
          callees: named(callees),
        };
      });
  }

  flame(): unknown[][][] {
    const { counted } = this;
    const children = childrenOf(counted.calls, counted.samples.total, "weight", this.ranks);
    const boxes = flameLayout(counted.calls, counted.samples, children);
    return [...boxes.rows.slice(0, -1)].map((start, row) =>
      [...boxes.fn.subarray(start, boxes.rows[row + 1])].map((fn, i) => [
        this.nameOf(fn),
        boxes.x[start + i],
        boxes.width[start + i],
      ]),
    );
  }
}

const folder = join(TESTS, "trees");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
assert.ok(files.length > 5, `${folder} holds the shared cases`);

for (const file of files)
  test(`tests/trees/${file} gives the same trees as in all clients`, () => {
    const one: Case = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const made = new Made(one);
    const { cut } = weigh(made.profile, {});
    const { samples, time_ns } = made.counted; // of what is not left out
    const { expect } = one;
    assert.deepEqual(
      [samples.total[0], time_ns.total[0] / MICRO, cut],
      [expect.sampleCount, expect.cpuMicros, expect.cutCount],
    );
    assert.deepEqual(made.callTree(), expect.callTree);
    assert.deepEqual(made.bottomUp(), expect.bottomUp);
    assert.deepEqual(made.table(), expect.table);
    assert.deepEqual(made.flame(), expect.flame);
  });
