"""Ruby's, PHP's, Perl's and Lua's frames: programs that say on each line what runs there (marked.py)."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import NamedTuple

import pytest
from harness import ROOT, measured, profiled
from marked import Frame, Marks, judge, stacks_of

PROGRAMS = ROOT / "tests" / "workloads" / "runtimes"
SECONDS = "1.5"
WRONG_MAX = 0.01  # of frames: ticks between a call's two halves, in programs that do nothing but call


class Case(NamedTuple):
    runtime: str
    command: list[str]
    program: str
    version: list[str]  # which prints it
    supported: str
    roots: set[str]


CASES = [
    Case("ruby", ["ruby", "--disable-gems"], "frames.rb", ["-e", "print RUBY_VERSION"], "3.1.",
         {"<main>", "block in Object#in_fiber", "block in Object#in_thread"}),
    Case("php", ["php"], "frames.php", ["-r", "echo PHP_VERSION;"], "8.2.", {"{main}", "{closure}"}),
    Case("perl", ["perl"], "frames.pl", ["-e", 'printf "%vd", $^V'], "5.36.", {"(main program)", "main::BEGIN"}),
    Case("lua", ["lua5.4"], "frames.lua", ["-e", "io.write(_VERSION)"], "Lua 5.4", {"main chunk"}),
]


def installed(case: Case) -> list[str]:
    """Its interpreter; skips where there is none, or none whose layout is known."""
    command = shutil.which(case.command[0]) or pytest.skip(f"needs {case.command[0]}")
    version = subprocess.run([command, *case.version], capture_output=True, text=True).stdout
    if not version.startswith(case.supported):
        pytest.skip(f"{command} is {version}, not {case.supported}x")
    return [command, *case.command[1:]]


by_runtime = pytest.mark.parametrize("case", CASES, ids=[case.runtime for case in CASES])


@by_runtime
@measured
def test_each_frame_has_its_name_its_caller_and_its_line(case):
    program = PROGRAMS / case.program
    with profiled([*installed(case), str(program), SECONDS]) as service:
        stacks = stacks_of(service, case.runtime, program)
    verdict = judge(Marks(program), stacks)
    assert len(stacks) > 50
    assert verdict.share(verdict.wrong_names) <= WRONG_MAX, verdict.wrong_names
    assert verdict.share(verdict.wrong_callers) <= WRONG_MAX, verdict.wrong_callers
    assert verdict.share(verdict.wrong_lines) <= WRONG_MAX, verdict.wrong_lines
    assert sum(verdict.roots[root] for root in case.roots) >= (1 - WRONG_MAX) * len(stacks), verdict.roots


# At once: Perl has not ticked before.
SLEEPERS = {
    "ruby": "def waits\n  sleep 1\nend\nwaits\n",
    "php": "<?php function waits() {\n  usleep(1000000);\n}\nwaits();\n",
    "lua": "function waits()\n  os.execute('sleep 1')\nend\nwaits()\n",
    "perl": "sub waits {\n  select(undef, undef, undef, 1);\n}\nwaits();\n",
}


@by_runtime
def test_a_thread_that_sleeps_has_its_frames(case, tmp_path):
    """The service reads them from outside."""
    program = tmp_path / "waits"
    program.write_text(SLEEPERS[case.runtime])
    command = [*installed(case), str(program)]
    with profiled(command, "--mode", "wall", "--period", "5000") as service:
        stacks = stacks_of(service, case.runtime, program)
    assert sum(any(frame.name.endswith("waits") and frame.line == 2 for frame in stack)
               for stack in stacks) > 20


# At the deepest place it writes its own traceback, and stays on that line.
TRACED = """local Shape = {}
function Shape:area(depth)
  if depth > 0 then return (self:area(depth - 1)) end
  io.open(arg[1], "w"):write(debug.traceback()) os.execute("sleep 1")
end
local function by_area(a, b)
  Shape:area(2)
  return a < b
end
function everything()
  table.sort({ 2, 1 }, by_area)
end
print(pcall(function()
  everything()
end))
"""


def traced(text: str) -> list[Frame]:
    """Lua's own traceback; C functions have no line."""
    found = []
    for where, name in re.findall(r"\t(.*?): in (.*)", text):
        line = re.fullmatch(r".*:(\d+)", where)
        quoted = re.search(r"'(.*)'", name)
        name = quoted[1].rpartition(".")[2] if quoted else name
        found.append(Frame(re.sub("<.*/", "<", name), int(line[1]) if line else 0))
    return [frame for frame in found if frame.name != "?"]


def test_lua_says_the_same_of_its_own_stack(tmp_path):
    case = next(case for case in CASES if case.runtime == "lua")
    program, output = tmp_path / "traced.lua", tmp_path / "output"
    program.write_text(TRACED)
    with profiled([*installed(case), str(program), str(output)], "--mode", "wall", "--period", "5000") as service:
        stacks = stacks_of(service, case.runtime, program)
    expected = traced(output.read_text())
    sleeping = [stack[1:] for stack in stacks if stack[0].name == "execute"]
    assert len(expected) >= 7 and len(sleeping) > 20
    assert all(stack == expected for stack in sleeping), (expected, sleeping[0])
