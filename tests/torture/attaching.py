"""Running programs that are attached to and left, over and over, in each scheme; and killed profilers.

    attaching.py [--cycles 500] [--injections 1000] [--kills 100] [WAY...]

WAY: of programs/attached.c; all of them. Each program goes on all the while and checks its own results. A scheme attaches, sees that
it was taken, and leaves; then a profiler is killed (SIGKILL) at a random moment of its first 80 ms. After each, nobody may trace the
program and no thread of it may stand still; at the end it must say that its results were right. What a scheme refuses is counted and
told: no program may ever end. Ends with status 1 when one did, or when something was left.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))

from harness import BUILD, ISOSCOPE, end  # noqa: E402

WAYS = ("malloc", "dlopen", "fork", "wait", "compute")
SCHEMES = ("perf", "suspend", "inject")
KILL_S = 0.08
SETTLE_S = 5.0


class Left(Exception):
    """Something of the profiler."""


def threads_of(pid: int) -> dict[int, dict[str, str]]:
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            lines = Path(f"/proc/{pid}/task/{tid}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[int(tid)] = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return found


def why_not_alone(pid: int) -> str:
    for tid, status in threads_of(pid).items():
        if status["TracerPid"] != "0":
            return f"thread {tid} is traced by {status['TracerPid']}"
        if status["State"][0] in "tT":
            return f"thread {tid} stands still: {status['State']}"
        if int(status["SigBlk"], 16) & 1 << (signal.SIGTERM - 1):
            return f"thread {tid} has its signals blocked: {status['SigBlk']}"
    return ""


def see_that_it_is_alone(pid: int) -> None:
    """Soon: a thread whose tracer was killed finds back by itself."""
    until = time.monotonic() + SETTLE_S
    while why_not_alone(pid):
        if time.monotonic() > until:
            raise Left(why_not_alone(pid))
        time.sleep(0.01)


class Subject:
    def __init__(self, way: str):
        self.process = subprocess.Popen([BUILD / "tests" / "torture" / "attached", way], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def check(self) -> None:
        if self.process.poll() is not None:
            raise Left(f"it ended with status {self.process.returncode}")
        see_that_it_is_alone(self.process.pid)

    def finish(self) -> str:
        self.process.terminate()
        try:
            said = self.process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            raise Left("it does not end any more") from None
        if self.process.returncode:
            raise Left(f"it ended with status {self.process.returncode}: {said}")
        return said.strip()


def attach(scheme: str, pid: int) -> subprocess.Popen:
    words = [ISOSCOPE, "attach", "--via", scheme, *(["--eject", "--alloc=4096", "--lock=10"] if scheme == "inject" else []), str(pid)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def cycle(scheme: str, subject: Subject, said: Counter[str]) -> bool:
    """True: it was attached to."""
    profiler = attach(scheme, subject.process.pid)
    line = profiler.stderr.readline()
    taken = f"attached to process {subject.process.pid} by {scheme}" in line
    profiler.terminate()
    rest = profiler.communicate(timeout=30)[1]
    if not taken:
        said[re.sub(r"\d+", "N", line.strip())] += 1
    if "not stopped" in rest:
        said[re.sub(r"\d+", "N", rest.strip())] += 1
    subject.check()
    return taken


def kill(scheme: str, subject: Subject, moment: random.Random) -> None:
    profiler = attach(scheme, subject.process.pid)
    time.sleep(moment.random() * KILL_S)
    profiler.kill()
    profiler.communicate()
    subject.check()


def run(way: str, scheme: str, cycles: int, kills: int) -> str:
    subject = Subject(way)
    said: Counter[str] = Counter()
    began = time.monotonic()
    try:
        taken = sum(cycle(scheme, subject, said) for _ in range(cycles))
        per_cycle = (time.monotonic() - began) / max(cycles, 1)
        for seed in range(kills):
            kill(scheme, subject, random.Random(seed))
        told = subject.finish()
    finally:
        end(subject.process)
    for what, count in said.items():
        print(f"    {count} times: {what}")
    return f"{taken} of {cycles} attached and left, {per_cycle * 1e3:.0f} ms each; {kills} profilers killed; {told}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=500, help="with perf and with suspend, of all ways together")
    parser.add_argument("--injections", type=int, default=1000, help="of all ways together")
    parser.add_argument("--kills", type=int, default=100, help="in each scheme, of all ways together")
    parser.add_argument("--scheme", choices=SCHEMES, action="append")
    parser.add_argument("way", nargs="*", choices=[[], *WAYS], default=[])
    options = parser.parse_args()
    ways, status = options.way or WAYS, 0
    for scheme in options.scheme or SCHEMES:
        cycles = options.injections if scheme == "inject" else options.cycles
        for way in ways:
            try:
                result = run(way, scheme, -(-cycles // len(ways)), -(-options.kills // len(ways)))
            except Left as left:
                result, status = f"FAILED: {left}", 1
            print(f"{scheme:8} {way:8} {result}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
