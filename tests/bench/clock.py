"""What ticks cost programs that switch, or whose threads are short, and how much of them is seen.

    clock.py [BUILD_FOLDER] [--before BUILD_FOLDER] [--async-profiler LIBRARY] [--rounds N]
             [--seconds S] [--rows WORD,...]

Each row: CPU time by that of the plain run of the same round, medians over the rounds, all processes
and the profiler's counted; `none again` is the noise. `seen` is the CPU time of isoscope's samples by
what the program used, `told` that with what it says it has not sampled; `ticks` is the samples by
those due at the true period. --before: the same of an older build, beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Iterator, NamedTuple

from capture import machine
from peers import (AsyncProfiler, Gperftools, Isoscope, Perf, Place, Way, cpu_seconds, place_of, run,
                   run_alone, shell, that_work)

ROOT = Path(__file__).resolve().parents[2]
RATE = 1000
DEADLINE_S = 120.0
TURNS_A_SECOND = 70_000  # of a pair, about
LENGTHS = [(0.1, 1), (0.3, 1), (0.9, 1), (1.9, 1), (1.9, 1000), (18.0, 100), (500.0, 8)]

LOOK = """
import json, os, sys
source, build, out = sys.argv[1:4]
os.environ["ISOSCOPE_BUILD"] = build
sys.path[:0] = [source + "/tests/live", source + "/clients/python/src"]
from harness import Client, profiled
seen = {"samples": 0, "cpu_ns": 0, "period_us": 0, "not_sampled_ns": None, "why": ""}
with profiled(sys.argv[4:], "--quiet") as service, Client(service.uri) as client:
    for process in client.processes():
        told = client.call("getIsolate", isolateId=process.id)["_process"]
        samples = client.call("_getCpuSamples", isolateId=process.id, timestamp=0)["samples"]
        counters = told["counters"]
        seen["samples"] += len(samples)
        seen["cpu_ns"] += sum(sample["cpuNanos"] for sample in samples)
        seen["period_us"] = max(seen["period_us"], told["truePeriodMicros"])
        seen["why"] = seen["why"] or told.get("timerReason", "")
        if "not_sampled_ns" in counters:
            seen["not_sampled_ns"] = (seen["not_sampled_ns"] or 0) + counters["not_sampled_ns"]
open(out, "w").write(json.dumps(seen))
"""


class Row(NamedTuple):
    name: str
    command: list[str]


class Older(Isoscope):
    """isoscope of another build."""

    def __init__(self, build: Path) -> None:
        super().__init__()
        self.name = "before"
        self.build = build

    def command(self, place: Place, program: list[str], rate: int) -> list[str]:
        return super().command(place._replace(build=self.build), program, rate)


def rows(build: Path, seconds: float) -> Iterator[Row]:
    programs = build / "tests/bench"
    for milliseconds, at_once in LENGTHS:
        count = max(at_once, round(2000 * seconds / milliseconds) // at_once * at_once)
        yield Row(f"{count:,} threads of {milliseconds} ms, {at_once} at once",
                  [str(programs / "thread_lengths"), str(count), str(milliseconds), str(at_once)])
    for way in ("pipe", "eventfd", "futex"):
        for who in ("threads", "forked", "execd"):
            for processors in (1, 2):
                for part in (1.0, 0.1):
                    turns = round(TURNS_A_SECOND * seconds * part)
                    yield Row(f"pair by {way}, {who}, {processors} processor, {turns:,} turns",
                              [str(programs / "pairs"), way, who, str(processors), str(turns)])


def source_of(build: Path) -> str:
    cache = (build / "CMakeCache.txt").read_text()
    return next(line.partition("=")[2] for line in cache.splitlines()
                if line.startswith("CMAKE_HOME_DIRECTORY"))


def look(place: Place, build: Path, row: Row) -> str:
    """In a run of its own: asking costs CPU time."""
    out, times = place.file("seen.json"), place.file("times")
    command = ["env", f"TIMES={times}", *shell(row.command)]
    subprocess.run(["/usr/bin/python3", "-c", LOOK, source_of(build), str(build), str(out), *command],
                   check=True, stdout=subprocess.DEVNULL, timeout=DEADLINE_S)
    seen, used_ns = json.loads(out.read_text()), cpu_seconds(times.read_text()) * 1e9
    due = used_ns / 1e3 / max(seen["period_us"], 1)
    told = ("" if seen["not_sampled_ns"] is None else
            f", told {(seen['cpu_ns'] + seen['not_sampled_ns']) / used_ns:.1%}")
    return (f"ticks {seen['samples'] / due:.1%} of {due:,.0f} at {seen['period_us']} us, "
            f"seen {seen['cpu_ns'] / used_ns:.1%}{told} {seen['why']}")


def bench(place: Place, row: Row, every: list[Way], rounds: int) -> None:
    ratios: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        plain = run_alone(place, row.command).total_s
        for way in every:
            used = run(place, way.command(place, row.command, RATE), DEADLINE_S)
            ratios[way.name].append(used.total_s / plain if used else float("inf"))
        ratios["none again"].append(run_alone(place, row.command).total_s / plain)
    print(f"{row.name}: {plain:.2f} CPU seconds; "
          + ", ".join(f"{name} {median(values):.2f}" for name, values in ratios.items()), flush=True)
    for way in every:
        if isinstance(way, Isoscope):
            build = way.build if isinstance(way, Older) else place.build
            print(f"    {way.name:<9} {look(place, build, row)}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    parser.add_argument("--before", help="the build folder of an older tree")
    parser.add_argument("--async-profiler", help="its library, to be preloaded")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a pair that is not short")
    parser.add_argument("--rows", default="", help="those whose name holds one of these words")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    build = Path(given.build).resolve()
    every: list[Way] = [Isoscope(), Perf("perf -g", "-g"), Gperftools()]
    if given.before:
        every.insert(1, Older(Path(given.before).resolve()))
    if given.async_profiler:
        every.append(AsyncProfiler(given.async_profiler))
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        place = place_of(build, Path(name))
        every = that_work(place, every, RATE)
        for row in rows(build, given.seconds):
            if any(word in row.name for word in given.rows.split(",")):
                bench(place, row, every, given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
