import assert from "node:assert/strict";
import { test } from "node:test";
import { fromFragment, toFragment } from "../../clients/web/src/state/fragment";
import {
  select,
  selection,
  type Selection,
  START,
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

test("a fragment that somebody broke leaves what it can", () => {
  assert.equal(fromFragment("#view=nothing").view, START.view);
  assert.deepEqual(fromFragment("#filter={&transforms=5&view=tree&nobody=1&zoom=null"), {
    ...START,
    view: "tree",
  });
});

test("undo takes back one step at a time; what changed nothing was none", () => {
  selection.value = START;
  select({ picked: "app!f" });
  select({ picked: "app!f" });
  transform({ kind: "hide-function", fn: "app!f" });
  assert.equal(selection.value.transforms.length, 2);
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

test("one focus takes the place of the other", () => {
  selection.value = START;
  transform({ kind: "focus-function", fn: "a!f" });
  transform({ kind: "focus-library", library: "b" });
  assert.deepEqual(selection.value.transforms, [
    { kind: "hide-system" },
    { kind: "focus-library", library: "b" },
  ]);
});
