"""Loops that are idle cost nothing: neither the service's watcher nor the program wakes for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness import service_of, service_pid, until, workload

ROUNDS = 100  # of the collector, which shows that time has passed


def wakes(pid: int, name: str | None = None) -> int:
    """Of all its threads, or of those with that name."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if name in (None, (task / "comm").read_text().strip()):
            count += sum(int(line.split()[1]) for line in (task / "status").read_text().splitlines()
                         if line.startswith("voluntary_ctxt_switches"))
    return count


def test_nothing_wakes_while_all_loops_are_idle():
    loops = [workload("many_loops"), "16", "0"]
    with service_of(loops, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service:
        while service.process.stdout.readline() != "ready\n":
            assert service.process.poll() is None
        program, watcher = service.program(), service_pid(service.process.pid)

        def seen() -> tuple[int, int]:
            return wakes(program), wakes(watcher, "iso-loops")

        def slept() -> bool:
            before, rounds = seen(), wakes(watcher, "iso-collector")
            until(lambda: wakes(watcher, "iso-collector") >= rounds + ROUNDS, "the collector's rounds")
            return seen() == before

        until(lambda: seen()[1] >= 2, "looks at the loops")
        until(slept, "rest")
