"""What people see of a program that Python runs: their own functions, with file and line, in commands and files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, ROOT, record

sys.path.insert(0, str(ROOT / "tests" / "python"))

from isoscope import call_tree, filters, formats  # noqa: E402

SCRIPT = """
import json, time

def spin(end):
    total = 0
    while time.process_time() < end:
        for i in range(2000):
            total += i * i
    return total

def parse(end):
    text = json.dumps(list(range(2000)))
    while time.process_time() < end:
        json.loads(text, parse_int=as_number)

def as_number(text):
    return int(text) + 1

spin(time.process_time() + 0.4)
parse(time.process_time() + 0.4)
"""
OWN = {"<module>", "spin", "parse", "as_number"}


def first_line(name: str) -> int:
    return next(i for i, line in enumerate(SCRIPT.splitlines(), 1) if line.startswith(f"def {name}("))


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("interpreted")
    (folder / "app.py").write_text(SCRIPT)
    file = folder / "app.isoscope"
    record(file, ["/usr/bin/python3", "-S", str(folder / "app.py")], check=True)
    return file


def said(*words) -> str:
    done = subprocess.run([ISOSCOPE, *map(str, words)], capture_output=True, timeout=DEADLINE_S, check=True)
    return done.stdout.decode()


def test_only_mine_are_the_functions_of_the_file(recording):
    mine = filters.by_stack(formats.open(recording), frames="mine")
    functions = {frame.function for frame in mine.frames if frame.function.file != "<string>"}  # of namedtuple
    assert {function.name for function in functions} == OWN
    assert {function.file for function in functions} == {str(recording.parent / "app.py")}
    assert {f.name: f.line for f in functions if f.name != "<module>"} == {f: first_line(f) for f in OWN - {"<module>"}}
    rows = {row.item.name: row for row in call_tree(mine, group="all").functions()}
    assert rows["spin"].self_count > 50 and rows["as_number"].total_count < rows["parse"].total_count


def test_lines_are_those_that_run(recording):
    mine = filters.by_stack(formats.open(recording), frames="mine")
    lines = SCRIPT.splitlines()
    seen = {lines[frame.line - 1].strip() for frame in mine.frames if frame.function.name == "spin"}
    assert "total += i * i" in seen and "def spin(end):" not in seen, seen


def test_folded_there_is_one_frame_of_the_interpreter_at_a_time(recording):
    folded = filters.by_stack(formats.open(recording), frames="folded")
    stacks = [[frame.function for frame in folded.stack(node)] for node in set(folded.nodes)]
    ones = {function.name for stack in stacks for function in stack if function.kind == "Folded"}
    assert ones == {"[python3.11]"} or len(ones) == 1, ones
    assert not [stack for stack in stacks for a, b in zip(stack, stack[1:]) if a.kind == b.kind == "Folded"]
    assert not [f for stack in stacks for f in stack if f.library.runs and f.kind != "Folded"]


def test_the_commands_say_the_same(recording):
    rows = json.loads(said("table", "--frames", "mine", "--json", recording))["functions"]
    assert OWN <= {row["name"] for row in rows} <= OWN | {"<lambda>"}
    assert "[python3" in said("tree", "--frames", "folded", recording)
    assert "spin" in said("top", "--plain", "--window", "600", "--frames", "mine", recording)


@pytest.mark.parametrize("form", ["pprof", "speedscope", "cpusamples"])
def test_files_for_other_tools_have_file_and_line(recording, form, tmp_path):
    out = tmp_path / f"app.{form}"
    said("export", form, "--frames", "mine", "-o", out, recording)
    functions = {f.function.name: f.function for f in formats.open(out).frames}
    assert OWN <= set(functions) <= OWN | {"<lambda>"}
    assert functions["spin"].file.endswith("/app.py")
    assert functions["spin"].line == first_line("spin")


def test_firefox_names_the_file(recording, tmp_path):
    out = tmp_path / "app.firefox.json"
    said("export", "firefox", "--frames", "mine", "-o", out, recording)
    assert str(recording.parent / "app.py") in out.read_text()
