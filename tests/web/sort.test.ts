// Siblings of the trees in the order that a column's head picks.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Profile } from "../../clients/web/src/data/profile";
import type { Column, Sort } from "../../clients/web/src/data/sort";
import { keyOf, ROOT_KEY, type TreeRows, wordOf } from "../../clients/web/src/data/layouts/tree_rows";
import { visibleRows } from "../../clients/web/src/views/rows/tree_open";
import { Answers } from "../../clients/web/src/worker/answers";
import type { Look, Unit } from "../../clients/web/src/worker/messages";
import { profileOf } from "./samples";

const ALL: Look = { filter: {}, transforms: [], group: "" };

/** Names of all rows as they stand, children in brackets. */
function told(profile: Profile, rows: TreeRows, row = 0): string {
  const children = [...rows.list.subarray(rows.first[row], rows.first[row + 1])];
  const inside = children.map((child) => told(profile, rows, child)).join(" ");
  const name = row ? profile.functions[rows.fn[row]].name : "";
  return name && inside ? `${name} (${inside})` : name + inside;
}

async function tree(profile: Profile, by: Column, ascending: boolean, unit: Unit = "samples") {
  const sort: Sort = { by, ascending };
  const rows = await new Answers(profile).answer("tree", { ...ALL, sort, unit });
  assert.deepEqual(rows.sort, sort);
  return told(profile, rows);
}

/** z: total 5, self 1, as k below it; b: 3 and 3; m: 1 and 1, of another library. */
const SIBLINGS = [
  { stack: "main z", times: 1 },
  { stack: "main z k", times: 3 },
  "main z a",
  { stack: "main b", times: 3 },
  "main liba!m",
];

test("siblings of the call tree are sorted by each column, at all depths, both ways", async () => {
  const profile = profileOf(SIBLINGS);
  const both = async (by: Column) => [
    await tree(profile, by, false),
    await tree(profile, by, true),
  ];
  assert.deepEqual(await both("total"), ["main (z (k a) b m)", "main (m b z (a k))"]);
  assert.deepEqual(await both("self"), ["main (b z (k a) m)", "main (z (a k) m b)"]);
  assert.deepEqual(await both("name"), ["main (z (k a) m b)", "main (b m z (a k))"]);
  assert.deepEqual(await both("library"), ["main (m z (k a) b)", "main (z (k a) b m)"]);
});

test("what is equal in a column stands heaviest first, then by name, both ways", async () => {
  const profile = profileOf(["m z", "m b", { stack: "m c x", times: 2 }, "m libs!s"]);
  assert.equal(await tree(profile, "self", true), "m (c (x) b s z)");
  assert.equal(await tree(profile, "self", false), "m (b s z c (x))");
  assert.equal(await tree(profile, "library", false), "m (s c (x) b z)");
  assert.equal(await tree(profile, "library", true), "m (c (x) b z s)");
});

test("where times are shown, rows are sorted by them, and those without time stay", async () => {
  const profile = profileOf([
    { stack: "m slow", cpu_ns: 9e6 },
    { stack: "m often", times: 3, cpu_ns: 1e6 },
    { stack: "m waits", times: 2, cpu_ns: 0 },
  ]);
  assert.equal(await tree(profile, "total", false), "m (often waits slow)");
  assert.equal(await tree(profile, "total", false, "time"), "m (slow often waits)");
  assert.equal(await tree(profile, "self", true, "time"), "m (waits often slow)");
});

test("callers in the bottom-up tree are sorted as the leaves are", async () => {
  const profile = profileOf([
    { stack: "z x", times: 2 },
    "a x",
    { stack: "libq!q x", times: 3 },
    { stack: "y", times: 7, cpu_ns: 1 },
  ]);
  const opened = [keyOf(ROOT_KEY, wordOf("app!x"))];
  const answers = new Answers(profile);
  const sorted = async (by: Column, ascending: boolean, unit: Unit = "samples") => {
    const sort: Sort = { by, ascending };
    return told(profile, await answers.answer("bottomUp", { ...ALL, opened, sort, unit }));
  };
  assert.equal(await sorted("total", false), "y x (q z a)");
  assert.equal(await sorted("total", true), "x (a z q) y");
  assert.equal(await sorted("total", false, "time"), "x (q z a) y");
  assert.equal(await sorted("name", true), "x (a q z) y");
  assert.equal(await sorted("name", false), "y x (z q a)");
  assert.equal(await sorted("library", false), "y x (q z a)");
  assert.equal(await sorted("library", true), "y x (z a q)");
});

test("rows that were opened stay open when the order changes", async () => {
  const profile = profileOf(SIBLINGS);
  const answers = new Answers(profile);
  const main = keyOf(ROOT_KEY, 2 * wordOf("app!main"));
  const opened = new Set([main, keyOf(main, 2 * wordOf("app!z"))]);
  const seen = async (by: Column) => {
    const sort: Sort = { by, ascending: true };
    const rows = await answers.answer("tree", { ...ALL, sort, unit: "samples" });
    const names = visibleRows(rows, opened).map(({ row }) => profile.functions[rows.fn[row]].name);
    return names.join(" ");
  };
  assert.equal(await seen("name"), "main b m z a k");
  assert.equal(await seen("total"), "main m b z a k");
});

test("keys of rows are the same in a recording that has its functions in another order", async () => {
  const keys = async (told: Parameters<typeof profileOf>[0], kind: "tree" | "bottomUp") => {
    const look = { ...ALL, group: "thread" as const, opened: [], unit: "samples" as const };
    const sort: Sort = { by: "name", ascending: true };
    const rows = await new Answers(profileOf(told)).answer(kind, { ...look, sort });
    return [...rows.key].sort();
  };
  const other = { stack: "x y", tid: 9 };
  for (const kind of ["tree", "bottomUp"] as const) {
    const one = await keys(["a b", "liba!b c", other], kind);
    assert.deepEqual(await keys([other, "liba!b c", "a b"], kind), one);
    assert.equal(new Set(one).size, one.length);
    assert.notDeepEqual(await keys(["a b", "liba!b libb!c", other], kind), one);
  }
});

test("groups have no names to the worker: sorted by them, they stand heaviest first", async () => {
  const profile = profileOf(["a", { stack: "b", tid: 2, times: 2 }, { stack: "a", tid: 2 }]);
  for (const by of ["name", "library"] as const) {
    const sort: Sort = { by, ascending: true };
    const look = { ...ALL, group: "thread" as const };
    const rows = await new Answers(profile).answer("tree", { ...look, sort, unit: "samples" });
    const roots = [...rows.list.subarray(0, rows.first[1])];
    assert.deepEqual(
      roots.map((row) => rows.total[row]),
      [3, 1],
    );
  }
});
