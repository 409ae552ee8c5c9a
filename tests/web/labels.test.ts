// The cases of tests/labels: how names are shortened, by every client alike.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nameForms, shortName } from "../../clients/web/src/data/short_name";

declare const TESTS: string;

interface Cases {
  forms: [name: string, shorter: string[]][];
  shortened: [name: string, characters: number, text: string][];
}

const cases: Cases = JSON.parse(readFileSync(join(TESTS, "labels/cases.json"), "utf8"));

for (const [name, shorter] of cases.forms)
  test(`${name} is shortened as in all clients`, () => {
    assert.deepEqual(nameForms(name), [name, ...shorter]);
  });

test("the longest form that fits is taken, and the right end of the last one", () => {
  for (const [name, characters, text] of cases.shortened)
    assert.equal(shortName(name, characters), text, `${name} in ${characters}`);
});

test("names that nobody wrote are shortened too, in time", () => {
  const started = performance.now();
  for (const name of ["<".repeat(60_000), "a<".repeat(9000), "a::".repeat(20_000), "f(".repeat(30_000)])
    assert.ok(shortName(name, 20).length <= 20);
  assert.ok(performance.now() - started < 5000);
});
