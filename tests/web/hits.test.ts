// Keys that go through the hits of a search, before the worker has told these and after.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hitsCame, withHits } from "../../clients/web/src/state/hits";
import { adjust, select, selection, START, undo } from "../../clients/web/src/state/selection";

function type(text: string, regex = false): void {
  adjust({ search: { text, regex } });
}

/** An answer of the worker. */
function come(text: string, functions: number[], regex = false): void {
  const rest = { error: "", hits: new Uint8Array(9), whole: 9, nodes: 1, share: 1 };
  const order = Int32Array.from(functions);
  hitsCame({ ...rest, of: { text, regex }, order, totals: new Float64Array(order.length) });
}

/** A page of its own; what it tells is what acts were done, and with which hits. */
function page(): { done: string[]; press(key: string): void } {
  selection.value = START;
  hitsCame(null);
  const done: string[] = [];
  return { done, press: (key) => withHits((order) => done.push(`${key} ${order.join()}`)) };
}

test("a key that comes before the hits of what is typed waits for them", () => {
  const { done, press } = page();
  type("a");
  press("Enter");
  assert.deepEqual(done, [], "the first search");
  come("a", [1, 2]);
  assert.deepEqual(done, ["Enter 1,2"]);
  press("Down");
  assert.deepEqual(done.splice(0), ["Enter 1,2", "Down 1,2"]);
  type("ab");
  press("Down");
  press("Enter");
  come("a", [2, 1]);
  assert.deepEqual(done, [], "the hits are of the search before");
  come("ab", [3]);
  assert.deepEqual(done.splice(0), ["Down 3", "Enter 3"]);
  come("ab", [3, 4]);
  assert.deepEqual(done, [], "once");
});

test("the same text as an expression is another search", () => {
  const { done, press } = page();
  type("a.");
  come("a.", [1]);
  type("a.", true);
  press("Enter");
  assert.deepEqual(done, []);
  come("a.", [2], true);
  assert.deepEqual(done, ["Enter 2"]);
});

test("a key that waits is dropped when another text is typed, or nothing is found", () => {
  const { done, press } = page();
  press("Enter");
  come("", [1]);
  assert.deepEqual(done, [], "nothing is searched for");
  type("a");
  press("Enter");
  type("ab");
  come("a", [1]);
  come("ab", [2]);
  type("a");
  come("a", [1]);
  assert.deepEqual(done, [], "typed over");
  type("b");
  press("Enter");
  come("b", []);
  come("b", [1]);
  assert.deepEqual(done, [], "nothing was found");
  press("Enter");
  assert.deepEqual(done, ["Enter 1"]);
});

test("a key that waits is dropped when something else is picked", () => {
  const { done, press } = page();
  type("a");
  press("Enter");
  select({ picked: "app!f" });
  press("Down");
  come("a", [1]);
  assert.deepEqual(done, ["Down 1"]);
});

test("numbers of functions that mean others now are not used", () => {
  const { done, press } = page();
  type("a");
  come("a", [1]);
  hitsCame(null);
  press("Enter");
  assert.deepEqual(done, []);
  come("a", [7]);
  assert.deepEqual(done, ["Enter 7"]);
});

test("keys that waited are one step back", () => {
  page();
  type("a");
  for (const picked of ["app!f", "app!g"]) withHits(() => select({ picked }, "search"));
  come("a", [1]);
  assert.equal(selection.value.picked, "app!g");
  assert.ok(undo());
  assert.equal(selection.value.picked, "");
});
