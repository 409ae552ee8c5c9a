"""Python's frames are those that the interpreter itself dumps in the same signal handler, in each version that is here.
`./dev bench python_truth` asks more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import BUILD
from pythons import VERSIONS, needs

TRUTH = Path(__file__).resolve().parents[1] / "truth"
sys.path.insert(0, str(TRUTH))

from compare import compared, samples  # noqa: E402

ORACLE = BUILD / "tests" / "truth" / "python_oracle.so"
PROGRAM = """
import asyncio, json, re, time

class Shape:
    def area(self):
        return sorted(range(60), key=lambda n: -n)

def recurses(n):
    return n if n < 2 else recurses(n - 1) + recurses(n - 2)

def yields():
    for _ in range(20):
        yield Shape().area()

async def works(of):
    asyncio.current_task().set_name("works of %d" % of)
    for _ in range(5):
        recurses(9)
        await asyncio.sleep(0)

async def all_of_them():
    await asyncio.gather(*(works(of) for of in range(4)))

end = time.process_time() + 2
while time.process_time() < end:
    recurses(11); list(yields()); json.dumps([{"a": [1, 2, 3]}] * 40, indent=1)
    re.sub("([a-z]+)", lambda match: match[1].upper(), "a b c d " * 20)
    asyncio.run(all_of_them())
"""


ENOUGH = 100  # samples in which a task runs, too

# 3.9 and 3.10 have no full names in their code; `./dev bench python_truth --python` compares them.
@pytest.fixture(scope="module", params=VERSIONS[2:])
def seen(request, tmp_path_factory):
    python = needs(request.param)
    if not ORACLE.exists():
        pytest.skip("the oracle is not built with a sanitizer, which the interpreter does not have")
    folder = tmp_path_factory.mktemp("truth")
    program, out = folder / "program.py", folder / "samples"
    program.write_text(PROGRAM)
    subprocess.run([python, str(TRUTH / "run_under.py"), str(ORACLE), str(out), "2000", str(program)],
                   check=True, timeout=100)
    result = compared(out)
    if result.faults and result.samples < ENOUGH:
        pytest.skip(f"the interpreter's own dump faulted after {result.samples} samples, and gives none from then on")
    return out


def test_names_and_lines_are_those_that_the_interpreter_dumps(seen):
    result = compared(seen)
    assert result.samples >= 50, result
    # One sample of hundreds may be in the middle of a change, where the interpreter's dump ends at its first frame.
    assert result.names >= result.frames * 0.999 - result.frames / result.samples, "\n".join([str(result), *result.differences])
    assert result.lines >= result.names * 0.995 - 1, "\n".join([str(result), *result.differences])


def test_each_native_frame_of_the_interpreter_stands_for_pythons(seen):
    result = compared(seen)
    assert result.eval_left - result.eval_at_leaf <= result.eval_frames * 0.001 + 1, result
    assert result.natives_differ <= 1, result


def test_who_has_the_lock_is_what_the_interpreter_says(seen):
    known = [sample for sample in samples(seen) if sample.has_lock >= 0]
    wrong = [sample for sample in known if (sample.lock == "held") != (sample.has_lock == 1)]
    assert len(wrong) <= 1 + len(known) * 0.01, [(sample.lock, sample.has_lock) for sample in wrong]


def test_a_task_is_named_while_it_runs_and_not_else(seen):
    named = 0
    for sample in samples(seen):
        names = [frame.name for frame in sample.ours]
        if sample.task.startswith("works of"):
            named += 1
            assert "Handle._run" in names and "all_of_them" not in names, names
        elif "works" in names and "asyncio.current_task" not in names:
            assert sample.task.startswith("Task-") or not sample.task, names
    assert named, "no sample of a task"
