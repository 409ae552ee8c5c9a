import assert from "node:assert/strict";
import { test } from "node:test";
import { fromFragment, toFragment } from "../../clients/web/src/state/fragment";
import { roomFrom, ROOM_START } from "../../clients/web/src/state/room";
import {
  goToStep,
  select,
  selection,
  type Selection,
  START,
  step,
  toggleOpen,
  transform,
  undo,
} from "../../clients/web/src/state/selection";

test("a selection comes back out of its fragment, names with signs in them too", () => {
  const one: Selection = {
    ...START,
    view: "tree",
    filter: { window_us: [12, 34], threads: [5], tags: ["a&b=c#"] },
    transforms: [{ kind: "focus-function", fn: "lib!operator<< <int>(a, b) & %" }],
    picked: "app!f=g&h",
    search: { text: "x y", regex: true },
    open: ["42/worker-*", "42/<img src=x> #*&="],
  };
  assert.deepEqual(fromFragment(`#${toFragment(one)}`), one);
  assert.equal(toFragment(START), "");
});

test("all that can be selected comes back out of a fragment", () => {
  const every: Selection = {
    view: "chart",
    kind: "live",
    filter: {
      window_us: [1.5, 2e9],
      processes: [1],
      threads: [],
      tags: [""],
      states: ["Running"],
      libraries: ["libc.so.6", "é%"],
      packages: ["std"],
      kinds: ["JIT"],
    },
    transforms: [
      { kind: "hide-function", fn: "app!f" },
      { kind: "hide-library", library: "libz" },
      { kind: "join-recursion" },
      { kind: "drop-function", fn: "app!g" },
      { kind: "join-function", fn: "app!h" },
      { kind: "focus-library", library: "app" },
    ],
    group: "thread",
    colour: "heat",
    picked: "app!f",
    zoom: ["app!main", "app!f"],
    seen: [0.25, 0.5],
    search: { text: "", regex: true },
    unit: "time",
    order: "weight",
    rootBelow: true,
    inverted: true,
    assembly: true,
    before: { kind: "window", window_us: [3, 4] },
    treeSort: { by: "name", ascending: true },
    bottomUpSort: { by: "library", ascending: false },
    tableSort: { by: "total", ascending: true },
    compareSort: { by: "name", ascending: false },
    threadSort: { by: "busiest", ascending: true },
    chart: { seen_us: [123.25, 456.125] },
    sandwich: { of: "app!f", middle: "app!main" },
    source: { of: "app!f", file: "/src/a&b=c#.h" },
    open: ["42/worker-*"],
    event: "42/43/0/123.456",
    sliceSort: { by: "p95", ascending: true },
    frameSort: { by: "dropped", ascending: false },
    eventTable: "frames",
    stall: 12,
    stallSort: { by: "culprit", ascending: true },
    loopSort: { by: "p99", ascending: true },
    stallTable: "loops",
    refresh: 144,
    laneOrder: "activity",
    treeOpen: [1, 2 ** 52 - 1],
    bottomUpOpen: [7],
    overview: [5, 6.5],
    laneFind: "worker",
  };
  for (const name of Object.keys(START) as (keyof Selection)[])
    assert.notDeepEqual(every[name], START[name], `${name} is as at the start`);
  assert.deepEqual(fromFragment(`#${toFragment(every)}`), every);
});

test("a link of an older page is read as it was meant", () => {
  const old =
    "#view=tree&filter=%7B%22window_us%22%3A%5B10%2C20%5D%2C%22threads%22%3A%5B5%5D%7D" +
    "&transforms=%5B%5D&picked=app%21f&zoom=%5B%22app%21main%22%5D&unit=time&order=name" +
    "&before=%7B%22kind%22%3A%22file%22%7D";
  assert.deepEqual(fromFragment(old), {
    ...START,
    view: "tree",
    filter: { window_us: [10, 20], threads: [5] },
    transforms: [],
    picked: "app!f",
    zoom: ["app!main"],
    unit: "time",
    order: "name",
    before: { kind: "file" },
  });
});

test("the chart's thread of an older link is a filter, unless there is another one", () => {
  const filterOf = (fragment: string) => fromFragment(fragment).filter;
  assert.deepEqual(filterOf('#view=chart&chart={"pid":"1","tid":2,"seen_us":[9,8]}'), { threads: [2] });
  assert.deepEqual(filterOf('#chart={"tid":2}&filter={"threads":[3]}'), { threads: [3] });
  assert.deepEqual(filterOf('#chart={"tid":"x"}'), {});
});

test("a fragment that somebody broke leaves what it can", () => {
  assert.equal(fromFragment("#view=nothing").view, START.view);
  assert.deepEqual(fromFragment("#filter={&transforms=5&view=tree&nobody=1&zoom=null"), {
    ...START,
    view: "tree",
  });
});

test("of a broken member what is whole is kept, and nothing that no view expects comes in", () => {
  const read = (name: keyof Selection, value: string) =>
    fromFragment(`#${name}=${encodeURIComponent(value)}`)[name];
  assert.deepEqual(read("filter", '{"window_us":[5],"threads":[5],"until":3,"tags":[1]}'), {
    threads: [5],
  });
  for (const broken of ["[2,1]", "[1,1]", "[1,2,3]", "[null,2]", "[1,1e999]", '"12"'])
    assert.deepEqual(read("filter", `{"window_us":${broken}}`), {}, broken);
  for (const broken of ['[{"kind":"hide-function"}]', '[{"kind":"constructor"}]', "[null]", "{}"])
    assert.deepEqual(read("transforms", broken), START.transforms, broken);
  assert.deepEqual(read("treeSort", '{"by":"weight","ascending":true}'), {
    by: "total",
    ascending: true,
  });
  assert.deepEqual(read("chart", '{"pid":"1","tid":2,"seen_us":[9,8]}'), {});
  assert.deepEqual(read("source", '{"file":7,"of":"app!f"}'), { of: "app!f", file: "" });
  assert.deepEqual(read("before", '{"kind":"window","window_us":{}}'), { kind: "window" });
  assert.equal(read("group", "toString"), START.group);
});

test("whatever stands in a fragment gives a selection that its own fragment gives again", () => {
  const words = ["", "null", "5", "-1e308", '"x"', "true", "[]", "{}", "[[1]]", "[1,2]", '["a"]'];
  words.push('{"__proto__":{"by":"name"}}', '{"kind":"file","text":"("}', "%", "%u0000");
  words.push("[".repeat(9e4));
  for (const name of [...Object.keys(START), "__proto__", "constructor", ""])
    for (const word of words) {
      const read = fromFragment(`#${name}=${word}`);
      assert.deepEqual(Object.keys(read), Object.keys(START));
      assert.deepEqual(fromFragment(toFragment(read)), read, `${name}=${word.slice(0, 40)}`);
    }
});

test("what comes many times a second is one step, until another one is made", () => {
  selection.value = START;
  const zoom = (to: number) => select({ chart: { seen_us: [0, to] } }, "chart");
  zoom(9);
  zoom(8);
  select({ picked: "app!f" });
  zoom(7);
  zoom(6);
  assert.ok(undo());
  assert.deepEqual(selection.value.chart, { seen_us: [0, 8] });
  assert.equal(selection.value.picked, "app!f");
  zoom(5); // what was taken back is no step that goes on
  assert.ok(undo());
  assert.deepEqual(selection.value.chart, { seen_us: [0, 8] });
  assert.ok(undo());
  assert.ok(undo());
  assert.equal(undo(), false);
  assert.deepEqual(selection.value, START);
});

test("what was zoomed to by hand goes with another view or zoom, and undo has it again", () => {
  selection.value = START;
  for (const other of [{ view: "table" }, { zoom: ["app!f"] }] as const) {
    select({ seen: [0.1, 0.2] }, "seen");
    select({ picked: "app!f" });
    assert.deepEqual(selection.value.seen, [0.1, 0.2]);
    select(other as Partial<Selection>);
    assert.equal(selection.value.seen, null);
    assert.ok(undo());
    assert.deepEqual(selection.value.seen, [0.1, 0.2]);
  }
  while (undo());
});

test("undo takes back one step at a time; what changed nothing was none", () => {
  selection.value = START;
  select({ picked: "app!f" });
  select({ picked: "app!f" });
  transform({ kind: "hide-function", fn: "app!f" });
  assert.equal(selection.value.transforms.length, 1); // nothing is folded unasked
  assert.ok(undo());
  assert.deepEqual(selection.value, { ...START, picked: "app!f" });
  assert.ok(undo());
  assert.equal(undo(), false);
  assert.deepEqual(selection.value, START);
});

test("a group is opened and closed by its key, each a step", () => {
  selection.value = START;
  toggleOpen("42/worker-*");
  toggleOpen("42/io");
  toggleOpen("42/worker-*");
  assert.deepEqual(selection.value.open, ["42/io"]);
  assert.ok(undo());
  assert.deepEqual(selection.value.open, ["42/worker-*", "42/io"]);
});

test("one focus takes the place of the other, and folding stays", () => {
  selection.value = { ...START, transforms: [{ kind: "hide-system" }] };
  transform({ kind: "focus-function", fn: "a!f" });
  transform({ kind: "focus-library", library: "b" });
  assert.deepEqual(selection.value.transforms, [
    { kind: "hide-system" },
    { kind: "focus-library", library: "b" },
  ]);
});

test("the room is as it was kept, and of what is broken as at the start", () => {
  const kept = (value: unknown) =>
    roomFrom(`other=1; isoscope_room=${encodeURIComponent(JSON.stringify(value))}; more=2`);
  assert.deepEqual(kept({ ...ROOM_START, side: false, sideWidth: 400 }), {
    ...ROOM_START,
    side: false,
    sideWidth: 400,
  });
  for (const broken of [null, 5, [], { side: 1, sideWidth: "wide" }, { sideWidth: -1 }, { sheetHeight: 1e9 }])
    assert.deepEqual(kept(broken), ROOM_START);
  for (const cookies of ["", "isoscope_room=%", "isoscope_room={", "x=isoscope_room"])
    assert.deepEqual(roomFrom(cookies), ROOM_START);
});

test("steps are gone to by number, back and forth, until another one is made", () => {
  const first = step.value;
  select({ picked: "a" });
  select({ picked: "b" });
  select({ picked: "c" });
  assert.equal(step.value, first + 3);
  assert.ok(goToStep(first + 1));
  assert.equal(selection.value.picked, "a");
  assert.ok(goToStep(first + 3));
  assert.equal(selection.value.picked, "c");
  assert.ok(!goToStep(first + 4), "none was undone");
  assert.ok(goToStep(first + 2));
  select({ picked: "d" });
  assert.equal(step.value, first + 3);
  assert.ok(!goToStep(first + 4));
  assert.ok(goToStep(first + 2));
  assert.equal(selection.value.picked, "b");
});
