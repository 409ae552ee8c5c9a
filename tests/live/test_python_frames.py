"""Python's own functions in the places of the interpreter's: names, files and lines of whole stacks."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
from harness import Client, profiled

PYTHON = "/usr/bin/python3"

PROGRAM = '''\
import sys
import threading
import time


def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        sum(range(500))
    return ms


def numbers():
    for _ in range(2):
        yield spin(5)  # in numbers


class Shape:
    def area(self):
        return sum(numbers())  # in Shape.area


def by_key():
    return sorted([2, 1], key=lambda value: spin(5))  # in by_key; in by_key.<locals>.<lambda>


def deep(depth):
    if depth:
        return deep(depth - 1)  # in deep
    return spin(5)  # at the bottom


def by_exec():
    made = "def made():\\n\\n    spin(5)\\nmade()"
    exec(compile(made, "<made>", "exec"), {"spin": spin})  # in by_exec


def work():
    spin(10)  # in work


def by_thread():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


class Café:
    def __del__(self):
        spin(5)  # in Café.__del__


def by_finalizer():
    Café()  # in by_finalizer


def by_interpreter():
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, SUB)  # in by_interpreter
    interpreters.destroy(interpreter)


SUB = """
import time


def in_sub():
    end = time.thread_time() + 0.03
    while time.thread_time() < end:
        sum(range(500))


in_sub()  # line 11
"""


def main(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        Shape().area()  # in main: area
        by_key()  # in main: by_key
        deep(3)  # in main: deep
        by_exec()  # in main: by_exec
        by_thread()
        by_finalizer()  # in main: by_finalizer
        if interpreters:
            by_interpreter()  # in main: by_interpreter


try:
    import _xxsubinterpreters as interpreters
except ImportError:
    interpreters = None
main(float(sys.argv[1]))  # in the module
'''


def line_of(mark: str) -> int:
    found = [i for i, line in enumerate(PROGRAM.splitlines(), 1) if mark in line]
    assert len(found) == 1, mark
    return found[0]


def called_from(*marks: str) -> tuple[tuple[str, int], ...]:
    """Functions and lines outside of the one that spins, innermost first."""
    chain = [(mark.partition(":")[0].removeprefix("in "), line_of(f"# {mark}")) for mark in marks]
    return (*chain, ("<module>", line_of("# in the module")))


AREA = (("numbers", line_of("# in numbers")), *called_from("in Shape.area", "in main: area"))
KEY = line_of("# in by_key;")
DEEP = (("deep", line_of("# in deep")),) * 3
EXPECTED = {
    "generator": AREA,
    "called by C": (("by_key.<locals>.<lambda>", KEY), ("by_key", KEY),
                    *called_from("in main: by_key")),
    "recursion": (("deep", line_of("# at the bottom")), *DEEP, *called_from("in main: deep")),
    "exec": (("made", 3), ("<module>", 4), *called_from("in by_exec", "in main: by_exec")),
    "thread": (("work", line_of("# in work")),),
    "finalizer": called_from("in Café.__del__", "in by_finalizer", "in main: by_finalizer"),
    "interpreter": (("<module>", 11), *called_from("in by_interpreter", "in main: by_interpreter")),
}


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """(Whole stacks of Python functions outside of the spinning one, all samples, functions by id)."""
    if not shutil.which(PYTHON):
        pytest.skip(f"needs {PYTHON}")
    script = tmp_path_factory.mktemp("python") / "shapes.py"
    script.write_text(PROGRAM)
    with profiled([PYTHON, str(script), "1"]) as service, Client(service.uri) as client:
        reply = client.call("_getCpuSamples", isolateId=client.processes()[0].id)
    functions = {f["id"]: f for f in reply["functions"]}
    return script, reply["samples"], functions


def python_chain(sample, functions) -> list[tuple[str, int, str]]:
    """(name, line, file) of what people wrote, innermost first."""
    chain = []
    for frame in sample["stack"]:
        function = functions[frame["function"]["id"]]
        if function.get("runtime") == "python":
            chain.append((function["name"], frame.get("line", 0), function.get("file", "")))
    return chain


def chains(profile) -> Counter:
    """Of samples in spin or in_sub: what called it. Frames of the threading module are left out."""
    _, samples, functions = profile
    found: Counter = Counter()
    for sample in samples:
        chain = python_chain(sample, functions)
        if chain and chain[0][0] in ("spin", "in_sub"):
            found[tuple((name, line) for name, line, file in chain[1:]
                        if not file.endswith("/threading.py"))] += 1
    return found


@pytest.mark.parametrize("way", EXPECTED)
def test_a_stack_says_who_called_whom_and_where(profile, way):
    assert chains(profile)[EXPECTED[way]] > 0, chains(profile).most_common(9)


def test_hardly_a_stack_says_anything_else(profile):
    found = chains(profile)
    others = Counter({c: n for c, n in found.items() if c not in EXPECTED.values()})
    assert others.total() <= 0.01 * found.total() + 1, others.most_common(5)


def test_lines_of_the_leaf_are_where_the_time_goes(profile):
    _, samples, functions = profile
    lines = Counter(chain[0][1] for s in samples if (chain := python_chain(s, functions))
                    and chain[0][0] == "spin")
    first = line_of("def spin(ms):")
    assert sum(lines[first + n] for n in range(1, 4)) >= 0.99 * lines.total(), lines


def test_the_interpreters_own_function_is_nowhere(profile):
    """Once the service has found the runtime, which on a busy machine takes a while."""
    _, samples, functions = profile
    begun = min(s["timestamp"] for s in samples if python_chain(s, functions))
    stands = sum(functions[f["function"]["id"]]["name"] == "_PyEval_EvalFrameDefault"
                 for s in samples if s["timestamp"] >= begun for f in s["stack"])
    frames = sum(len(python_chain(s, functions)) for s in samples)
    assert frames and stands <= 0.005 * frames


def test_files_are_the_scripts(profile):
    script, samples, functions = profile
    files = {name: file for s in samples for name, _, file in python_chain(s, functions)}
    assert files["spin"] == str(script)
    assert files["made"] == "<made>"
    assert files["Thread.run"].endswith("/threading.py")
