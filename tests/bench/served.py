#!/usr/bin/env python3
"""A large session, served: how long until it can be asked, what it costs, beside other profilers' files.

    tests/bench/served.py BUILD FILE.isoscope [PPROF.pb.gz [PERF.data]]     ./dev bench served FILE...

Each figure is the median of RUNS, the tools in turn, once before to warm the disk's cache. Memory is
the largest resident size (VmHWM; of the others by wait4). CPU time of a service is its own, without
the client's.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients" / "python" / "src")]

from isoscope import Client  # noqa: E402

RUNS = 5
WINDOW_US = 10_000_000
LISTENING = re.compile(r"listening on (\S+)")


class Cost(NamedTuple):
    seconds: float
    cpu_s: float
    mib: float


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hwm_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


@contextmanager
def served(isoscope: str, file: str) -> Iterator[tuple[str, subprocess.Popen, float]]:
    begun = time.monotonic()
    process = subprocess.Popen([isoscope, "serve", file], stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        taken = time.monotonic() - begun
        found = LISTENING.search(line)
        if not found:
            sys.exit(f"served.py: {line}")
        yield found.group(1), process, taken
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def opened(isoscope: str, file: str) -> Cost:
    with served(isoscope, file) as (_, process, taken):
        return Cost(taken, cpu_s(process.pid), hwm_mib(process.pid))


def first_window(isoscope: str, file: str) -> tuple[Cost, int]:
    """getCpuSamples of 10 s from the middle, of the process with most samples."""
    with served(isoscope, file) as (uri, process, _), Client(uri) as client:
        saved = client.call("getVM")["_saved"][0]
        middle = (saved["startMicros"] + saved["endMicros"] - WINDOW_US) // 2
        isolate = client.call("getVM")["isolates"][0]["id"]
        begun, used = time.monotonic(), cpu_s(process.pid)
        reply = client.call("getCpuSamples", isolateId=isolate, timeOriginMicros=middle,
                            timeExtentMicros=WINDOW_US)
        taken = time.monotonic() - begun
        cost = Cost(taken, cpu_s(process.pid) - used, hwm_mib(process.pid))
        return cost, reply["sampleCount"]


def ran(*words: str) -> Cost:
    """A command that reads a file and prints; and of its children the largest."""
    begun = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"served.py: {words[0]} ended with {status}: {error.decode()[-500:]}")
    return Cost(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def say(name: str, costs: list[Cost]) -> None:
    seconds, cpu, mib = (statistics.median(figures) for figures in zip(*costs))
    print(f"{name:42} {seconds:8.2f} s {cpu:8.2f} s of CPU time {mib:8.0f} MiB", flush=True)


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    isoscope, (file, *others) = str(Path(sys.argv[1]) / "bin" / "isoscope"), sys.argv[2:]
    asked: dict[str, Callable[[], Cost]] = {
        "isoscope serve, to its listening line": lambda: opened(isoscope, file),
        "getCpuSamples, the first window of 10 s": lambda: first_window(isoscope, file)[0],
        "isoscope tree FILE": lambda: ran(isoscope, "tree", file),
    }
    if others:
        asked["go tool pprof -top"] = lambda: ran("go", "tool", "pprof", "-top", others[0])
    if others[1:]:
        asked["perf report --stdio"] = lambda: ran("perf", "report", "--stdio", "-i", others[1])
    costs: dict[str, list[Cost]] = {name: [] for name in asked}
    for run in range(RUNS + 1):
        for name, ask in asked.items():
            cost = ask()
            if run:
                costs[name].append(cost)
    size = os.stat(file).st_size
    print(f"{file}: {size / 1e6:.1f} MB; the window has {first_window(isoscope, file)[1]} samples")
    for name, several in costs.items():
        say(name, several)


if __name__ == "__main__":
    main()
