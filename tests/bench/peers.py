"""A program alone, under isoscope, and under each of its peers: how to start them, what they used.

    run(way.command(...)) -> Used, in CPU seconds        way.delivered(...) -> samples

Every way starts the program from the same small shell, which tells the program's own CPU time;
what the whole of it used, the profiler's processes included, is what the kernel tells of the
process that was started. CPU time, not wall time: that is noise on a shared machine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple, Optional

QUIET = {**os.environ, "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": ""}
SHELL = '"$@" >/dev/null; times >"$TIMES"'


class Used(NamedTuple):
    program_s: float
    total_s: float
    output: str  # what was said on stderr


class Place(NamedTuple):
    build: Path
    folder: Path  # for what the peers write

    def file(self, name: str) -> Path:
        return self.folder / name

    @property
    def preload(self) -> Path:
        return self.build / "tests/bench/bench_preload.so"


def place_of(build: Path, folder: Path) -> Place:
    place = Place(build, folder)
    if not place.preload.exists():
        raise SystemExit(f"{place.preload} is missing: it needs libunwind-dev, then a new build")
    return place


def shell(program: list[str], **environment: object) -> list[str]:
    """env, not the shell, has what is preloaded: the shell is no part of the program."""
    words = [f"{name}={value}" for name, value in environment.items()]
    return ["/bin/sh", "-c", SHELL, "sh", "env", *words, *program]


def run(place: Place, command: list[str], deadline_s: float = 600.0) -> Optional[Used]:
    """None: it did not end in time. A handler that takes longer than the period leaves the
    program no time at all."""
    times = place.file("times")
    times.unlink(missing_ok=True)
    with place.file("stderr").open("wb") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said,
                                   env={**QUIET, "TIMES": str(times)}, start_new_session=True)
        ended = threading.Timer(deadline_s, os.killpg, (process.pid, signal.SIGKILL))
        ended.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    late = not ended.is_alive()
    ended.cancel()
    if late:
        return None
    output = place.file("stderr").read_text(errors="replace")
    if process.returncode != 0 or not times.exists():
        raise SystemExit(f"{' '.join(command)[:200]}: status {process.returncode}\n{output}")
    return Used(cpu_seconds(times.read_text()), usage.ru_utime + usage.ru_stime, output)


def run_alone(place: Place, program: list[str]) -> Used:
    used = run(place, shell(program))
    if used is None:
        raise SystemExit(f"{program[0]} does not end")
    return used


def cpu_seconds(times: str) -> float:
    """The second line of the shell's `times`: user and system time of its children."""
    minutes = re.findall(r"(\d+)m([\d.]+)s", times.strip().splitlines()[-1])
    return sum(int(m) * 60 + float(s) for m, s in minutes)


class Way(ABC):
    """One profiler, asked for `rate` samples in a second of CPU time."""

    name: str

    @abstractmethod
    def command(self, place: Place, program: list[str], rate: int) -> list[str]: ...

    @abstractmethod
    def delivered(self, place: Place, used: Used) -> int:
        """By the run that has just ended."""


class Isoscope(Way):
    name = "isoscope"

    def __init__(self, *options: str) -> None:
        self.options = options

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        return [str(place.build / "bin/isoscope"), "run", "--quiet", *self.options, "--period",
                str(1_000_000 // rate), "--", *shell(program)]

    def delivered(self, place: Place, used: Used) -> int:
        """Nobody asks the service in these runs: asking would cost CPU time. capture.py counts
        in a run of its own."""
        return 0


class Gperftools(Way):
    name = "gperftools"

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        return shell(program, LD_PRELOAD="libprofiler.so.0", CPUPROFILE=place.file("gperf"),
                     CPUPROFILE_FREQUENCY=rate)

    def delivered(self, place: Place, used: Used) -> int:
        """The file: words; a header, then count, depth and pcs of each stack, and depth 1 with
        pc 0 at the end; then text."""
        data = place.file("gperf").read_bytes()
        words = struct.unpack(f"={len(data) // 8}Q", data[:len(data) // 8 * 8])
        at, samples = 2 + words[1], 0
        while words[at]:
            samples += words[at]
            at += 2 + words[at + 1]
        return samples


class AsyncProfiler(Way):
    """Its native mode: libasyncProfiler.so preloaded, without a JVM (tools.profiler:async-profiler of
    Maven Central holds one for each machine)."""

    name = "async-profiler"

    def __init__(self, library: str) -> None:
        self.library = Path(library).resolve()

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        asked = f"start,event=cpu,interval={1_000_000 // rate}us,collapsed,file={place.file('async')}"
        return shell(program, LD_PRELOAD=self.library, ASPROF_COMMAND=asked)

    def delivered(self, place: Place, used: Used) -> int:
        """A stack and its count in each line."""
        lines = place.file("async").read_text(errors="replace").splitlines()
        return sum(int(line.rpartition(" ")[2]) for line in lines)


class Perf(Way):
    def __init__(self, name: str, *options: str) -> None:
        self.name = name
        self.options = options

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        # One below, as its manual says: not in step with what runs once in a millisecond.
        return ["perf", "record", *self.options, "-F", str(rate - 1), "-e", "task-clock", "-o",
                str(place.file("perf.data")), "--", *shell(program)]

    def delivered(self, place: Place, used: Used) -> int:
        place.file("perf.data").unlink()
        match = re.search(r"\((\d+) samples\)", used.output)
        return int(match.group(1)) if match else 0


class Tick(NamedTuple):
    """How isoscope's ticks came, so that the bench's own sampler takes the same ones."""

    trap: bool  # in user mode only

    def environment(self) -> dict[str, object]:
        return {"BENCH_SIGTRAP": 1, "BENCH_USER_ONLY": 1} if self.trap else {}


class Plain(Way):
    """The bench's own sampler: isoscope's tick, and in it one thing only."""

    def __init__(self, name: str, way: str, tick: Tick) -> None:
        self.name = name
        self.way = way
        self.tick = tick

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        return shell(program, LD_PRELOAD=place.preload, BENCH_WAY=self.way,
                     BENCH_PERIOD_US=1_000_000 // rate, BENCH_OUT=place.file("plain.json"),
                     **self.tick.environment())

    def delivered(self, place: Place, used: Used) -> int:
        return json.loads(place.file("plain.json").read_text())["samples"]


def that_work(place: Place, every: list[Way], rate: int) -> list[Way]:
    """Who is refused what it needs, as perf may be, is left out, and that is said."""
    work = []
    for way in every:
        try:
            run(place, way.command(place, ["true"], rate), 30.0)
            work.append(way)
        except SystemExit as refusal:
            print(f"{way.name} does not work here: {refusal}", flush=True)
    return work


def same_sample(place: Place, program: list[str], rate: int = 1000) -> dict:
    """Both unwinders on each sample of one run: bench_preload.c says what comes back."""
    out = place.file("same.json")
    out.unlink(missing_ok=True)
    run(place, shell(program, LD_PRELOAD=place.preload, BENCH_WAY="both",
                     BENCH_PERIOD_US=1_000_000 // rate, BENCH_OUT=out))
    return json.loads(out.read_text())
