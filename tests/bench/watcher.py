"""What it costs the service to watch loops.

    watcher.py [BUILD_FOLDER] [--seconds S]

Programs with 1 and 16 loops that have a dispatch of 100 us each 10 ms, which is as much looking as there ever is (one look
each 8 ms), and 16 loops that are idle. Per case: percent of a processor that the watcher's thread takes, how often it
wakes in a second, what one wake-up costs, and how often the program's threads wake while its loops are idle. CPU time is the
thread's own (schedstat). Aims: at most 0.6 % for 16 loops; nothing wakes while all are idle.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CASES = ((1, 10), (16, 10), (16, 0))
REST_SECONDS = 3  # a second after the last dispatch it rests


class Clock(NamedTuple):
    cpu_ns: int
    wakes: int


def below(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from below(int(child))


def threads(pid: int) -> dict[str, list[Path]]:
    """Of all processes below it, by name."""
    found: dict[str, list[Path]] = {}
    for process in below(pid):
        for task in Path(f"/proc/{process}/task").iterdir():
            found.setdefault((task / "comm").read_text().strip(), []).append(task)
    return found


def clock(tasks: list[Path]) -> Clock:
    cpu = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    status = "".join((task / "status").read_text() for task in tasks)
    wakes = sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt"))
    return Clock(cpu, wakes)


def measure(build: Path, loops: int, every_ms: int, seconds: float) -> None:
    command = [str(build / "bin/isoscope"), "run", "--quiet", "--", str(build / "tests/workloads/many_loops"),
               str(loops), str(every_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin and run.stdout and run.stdout.readline() == "ready\n"
        time.sleep(REST_SECONDS)
        all_threads = threads(run.pid)
        watcher, program = all_threads["iso-loops"], all_threads["many_loops"]
        began, before, program_before = time.monotonic(), clock(watcher), clock(program)
        time.sleep(seconds)
        took, after, program_after = time.monotonic() - began, clock(watcher), clock(program)
        run.stdin.close()
    wakes, cpu_ns = after.wakes - before.wakes, after.cpu_ns - before.cpu_ns
    what = f"{loops} loops, " + (f"each {every_ms} ms" if every_ms else "idle")
    idle = "" if every_ms else f"{program_after.wakes - program_before.wakes:18d}"
    print(f"{what:24}{cpu_ns / took / 1e7:11.3f} %{wakes / took:11.1f}"
          f"{cpu_ns / wakes / 1000 if wakes else 0:12.1f}{idle}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=10)
    words = parser.parse_args()
    print(f"{words.seconds:g} s each; load {os.getloadavg()[0]:.1f}")
    print(f"{'':24}{'processor':>13}{'wakes/s':>11}{'us a wake':>12}{'program wakes':>18}")
    for loops, every_ms in CASES:
        measure(words.build, loops, every_ms, words.seconds)


if __name__ == "__main__":
    main()
