"""JavaScript's own functions in the places of V8's: names, files and lines of whole stacks."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter

import pytest
from harness import Client, profiled

PROGRAM = """\
'use strict';
const { Worker, isMainThread } = require('worker_threads');

function spin(ms) {
  let sum = 0;
  for (let i = 0; i < ms * 500000; i++) sum = (sum * 31 + i) | 0;
  return sum;
}

class Shape {
  #secret(ms) {
    return spin(ms);  // in #secret
  }
  area(ms) {
    return this.#secret(ms);  // in area
  }
}

function byMap() {
  return [3, 3].map(function inMap(ms) {
    return spin(ms);  // in inMap
  });  // in byMap
}

function makeClosure(extra) {
  return (ms) => spin(ms + extra);  // in closure
}
const closure = makeClosure(1);

function byClosure() {
  return closure(4) + 1;  // in byClosure
}

function deep(depth) {
  if (depth) return deep(depth - 1) + 1;  // in deep
  return spin(5);  // at the bottom
}

function* numbers() {
  yield spin(5);  // in numbers
}

function byGenerator() {
  for (const number of numbers()) if (number === 0.5) return 1;  // in byGenerator
  return 0;
}

async function later() {
  await null;
  return spin(5);  // in later
}

function byEval() {
  return eval('(function made(ms) { return spin(ms); })')(5);  // in byEval
}

const hotLoop = (n) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += inner(i);  // in hotLoop
  return sum;
};
function inner(i) {
  let sum = i;
  for (let j = 0; j < 50; j++) sum = (sum * 7 + j) % 1009;  // in inner
  return sum;
}

async function main() {
  const { fromModule } = await import('./module.mjs');
  const worker = new Worker(__filename);
  while (process.cpuUsage().user < 2500000) {
    new Shape().area(5);  // in main: area
    byMap();  // in main: byMap
    byClosure();  // in main: byClosure
    deep(3);  // in main: deep
    byGenerator();  // in main: byGenerator
    byEval();  // in main: byEval
    fromModule(spin, 5);  // in main: fromModule
    hotLoop(100000);  // in main: hotLoop
    await later();
  }
  worker.terminate();
}

function inWorker() {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (true) {
    spin(5);  // in inWorker
    Atomics.wait(nothing, 0, 0, 40);
  }
}

if (isMainThread) main();
else inWorker();
"""
MODULE = """\
import { strict } from 'node:assert';

export function fromModule(work, ms) {
  // Gr\u00fc\u00dfe: \U0001f642 counts as two
  strict(true);
  return work(ms);  // in fromModule
}
"""


def line_of(mark: str, text: str = PROGRAM) -> int:
    found = [i for i, line in enumerate(text.splitlines(), 1) if mark in line]
    assert len(found) == 1, mark
    return found[0]


def at(name: str, mark: str = "") -> tuple[str, int]:
    return name, line_of(f"// {mark or 'in ' + name}")


BUILT_IN = 0
SPUN = {
    "private method": (at("#secret"), at("area"), at("main", "in main: area")),
    "called by a built-in function": (at("inMap"), ("map", BUILT_IN),
                                      ("byMap", line_of("[3, 3].map")),
                                      at("main", "in main: byMap")),
    "closure": (at("(anonymous)", "in closure"), at("byClosure"),
                at("main", "in main: byClosure")),
    "recursion": (at("deep", "at the bottom"), *[at("deep")] * 3, at("main", "in main: deep")),
    "generator": (at("numbers"), ("next", BUILT_IN), at("byGenerator"),
                  at("main", "in main: byGenerator")),
    "asynchronous": (at("later"),),
    "ES module": (("fromModule", line_of("// in fromModule", MODULE)),
                  at("main", "in main: fromModule")),
    "worker": (at("inWorker"),),
}


def usable_node() -> str:
    node = shutil.which("node") or pytest.skip("needs node")
    version = subprocess.run([node, "-p", "process.versions.node"], capture_output=True, text=True)
    major = int(version.stdout.split(".")[0])
    if major not in (18, 20, 22, 24):
        pytest.skip(f"frames of node {major} are not known")
    return node


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    node = usable_node()
    script = tmp_path_factory.mktemp("node") / "shapes.js"
    script.write_text(PROGRAM)
    (script.parent / "module.mjs").write_text(MODULE, "utf-8")
    with profiled([node, str(script)]) as service, Client(service.uri) as client:
        reply = client.call("_getCpuSamples", isolateId=client.processes()[0].id)
    functions = {f["id"]: f for f in reply["functions"]}
    return script, reply["samples"], functions


def js_chain(sample, functions) -> list[tuple[str, int, str]]:
    """(name, line, file), innermost first, of what is not node's own."""
    chain = []
    for frame in sample["stack"]:
        function = functions[frame["function"]["id"]]
        if function.get("runtime") != "javascript" or function.get("file", "").startswith("node:"):
            continue
        line = 0 if function.get("file") == "<built-in>" else frame.get("line", 0)
        chain.append((function["name"], line, function.get("file", "")))
    return chain


def is_outermost(name: str) -> bool:
    return name in ("(anonymous)", "run", "processTimers", "listOnTimeout")


def chains(profile) -> Counter:
    """Of samples in spin: what called it, but for the module's own frames."""
    _, samples, functions = profile
    found: Counter = Counter()
    for sample in samples:
        chain = [(name, line) for name, line, _ in js_chain(sample, functions)]
        if chain and chain[0][0] == "spin":
            while len(chain) > 2 and is_outermost(chain[-1][0]):
                chain.pop()
            found[tuple(chain[1:])] += 1
    return found


@pytest.mark.parametrize("way", SPUN)
def test_a_stack_says_who_called_whom_and_where(profile, way):
    found = chains(profile)
    expected = SPUN[way]
    matching = sum(n for chain, n in found.items() if chain[: len(expected)] == expected)
    assert matching > 0, found.most_common(12)


def test_no_frame_is_where_it_was_not_called_from(profile):
    """Each caller's line says whose it is."""
    script, samples, functions = profile
    texts = {str(script): PROGRAM.splitlines(),
             str(script.parent / "module.mjs"): MODULE.splitlines()}
    right = wrong = without = 0
    for sample in samples:
        for name, line, file in js_chain(sample, functions)[1:]:
            if file not in texts or name in ("(anonymous)", "spin"):
                continue
            text = texts[file][line - 1] if line else ""
            if not line:
                without += 1
            elif f"in {name}" in text or "at the bottom" in text or "[3, 3].map" in text:
                right += 1
            else:
                wrong += 1
    assert right > 100 and wrong <= 0.005 * right and without <= 0.02 * right, (right, wrong, without)


def test_what_was_inlined_into_optimized_code_is_there(profile):
    _, samples, functions = profile
    found = Counter(tuple(name for name, _, _ in js_chain(s, functions)[:3]) for s in samples)
    assert found["inner", "hotLoop", "main"] > 0, found.most_common(9)


def test_lines_of_the_leaf_are_where_the_time_goes(profile):
    _, samples, functions = profile
    lines = Counter(chain[0][1] for s in samples
                    if (chain := js_chain(s, functions)) and chain[0][0] == "inner")
    assert lines[line_of("// in inner")] >= 0.9 * lines.total(), lines


def test_files_are_the_scripts(profile):
    script, samples, functions = profile
    files = {name: file for s in samples for name, _, file in js_chain(s, functions)}
    assert files["spin"] == str(script)
    assert files["fromModule"] == str(script.parent / "module.mjs")
    assert files["made"] == "<eval>"
    assert files["map"] == "<built-in>"
