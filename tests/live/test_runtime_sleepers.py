"""Threads of an interpreter that sleep: read from outside, their functions stand there all the same."""

from __future__ import annotations

import sys

import pytest
from harness import measured, profiled

THREADS = 4
PERIOD_US = 10000
PROGRAM = f"""
import threading

over = threading.Event()

def waits_for_the_end():
    over.wait(60)

def worker():
    waits_for_the_end()

def main():
    threads = [threading.Thread(target=worker, daemon=True) for _ in range({THREADS})]
    for thread in threads:
        thread.start()
    over.wait(2.5)
    over.set()

main()
"""


@measured
def test_sleeping_threads_of_python_show_the_functions_that_wait(tmp_path):
    if sys.implementation.name != "cpython" or sys.version_info[:2] < (3, 11):
        pytest.skip("a Python whose threads tell their numbers (3.11) is needed")
    script = tmp_path / "sleepers.py"
    script.write_text(PROGRAM)
    with profiled([sys.executable, "-S", str(script)], "--mode", "wall",
                  "--period", str(PERIOD_US)) as service:
        ((_, samples),) = service.profile()
    asleep = [[function.name for function in sample.stack] for sample in samples.samples
              if sample.tid != samples.pid and sample.vm_tag in ("Lock", "Sleep")]
    # The runtime is found within the first second; from then on each stack has them.
    named = [stack for stack in asleep if any("waits_for_the_end" in name for name in stack)]
    assert len(named) >= 0.4 * len(asleep) and len(named) >= 20 * THREADS
    for stack in named:
        at = [next(i for i, name in enumerate(stack) if function in name)
              for function in ("waits_for_the_end", "worker", "Thread.run")]
        assert at == sorted(at) and at[1] == at[0] + 1, stack
