"""What sampling costs and delivers, beside gperftools, perf and libunwind on the same programs.

    capture.py [BUILD_FOLDER] [--rounds N] [--rates 1000,10000] [--programs NAME,...]
               [--isoscope="OPTIONS of isoscope run"] [--async-profiler LIBRARY]

In each round every way runs once, one after the other; a figure is the median over the rounds of
that way's CPU time by that round's plain run. `none again` is a second plain run, and what it
is usually off by is the noise. Then both unwinders on the same samples, what a tick costs before any
stack is walked, and what a tag costs. Ends with status 1 when a bound is missed by more than the
noise.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

from peers import (AsyncProfiler, Gperftools, Isoscope, Perf, Place, Plain, Tick, Used, Way, cpu_seconds,
                   place_of, run, run_alone, same_sample, shell, that_work)
from real_programs import Program, jit_programs, programs

ROOT = Path(__file__).resolve().parents[2]
DELIVERED_MIN = {1000: 0.98, 10000: 0.95}
PERF_PART_MAX = {1000: 1 / 3, 10000: 1.0}  # of `perf record -g`'s overhead
GPERFTOOLS_PART_MAX = 1 / 2  # of its cost per sample
GPERFTOOLS_RATE_MAX = 1000  # beyond, it has no more samples to share its cost
LIBUNWIND_PART_MAX = 1 / 6  # of its handler's mean, on cc1plus
DEADLINE = 10.0  # of the program's plain time, for one run


class Figures(NamedTuple):
    """One way's medians. Ratios are to the plain run of the same round."""

    delivered: float  # of those asked for the CPU time used
    program: float
    total: float
    sample_us: float  # what one sample costs, all in all


class Missed:
    """Bounds, as they are checked."""

    def __init__(self) -> None:
        self.any = False

    def check(self, what: str, figure: str, bound: str, good: bool) -> None:
        self.any |= not good
        print(f"    {what:<46} {figure:>12}   {bound}{'' if good else '   MISSED'}", flush=True)


def ways(options: list[str], async_profiler: str | None, tick: Tick) -> list[Way]:
    return [Isoscope(*options), Gperftools(),
            *([AsyncProfiler(async_profiler)] if async_profiler else []), Perf("perf -g", "-g"),
            Perf("perf dwarf", "--call-graph", "dwarf"),
            Plain("tick alone", "nothing", tick), Plain("tick, tables", "tables", tick),
            Plain("tick, libunwind", "libunwind", tick)]


class Count(NamedTuple):
    delivered: float  # of those that the timer can give for the CPU time used
    rate: float  # a CPU second: asked, or what the timer can do
    timer: str
    tick: Tick


def counted(place: Place, program: Program, options: list[str], rate: int) -> Count:
    from harness import Client, profiled  # it takes ISOSCOPE_BUILD from the environment
    times = place.file("times")
    command = ["env", f"TIMES={times}", *shell(program.command)]
    with profiled(command, *options, "--quiet", "--period", str(1_000_000 // rate)) as service:
        with Client(service.uri) as client:
            processes = [client.call("getIsolate", isolateId=process.id)["_process"]
                         for process in client.processes()]
    busiest = max(processes, key=lambda process: process["counters"]["delivered"])
    true_rate = min(rate, 1e6 / busiest["counters"]["true_period_us"])
    due = cpu_seconds(times.read_text()) * true_rate
    return Count(busiest["counters"]["delivered"] / due, true_rate, busiest["timer"],
                 Tick(busiest["timer"] == "sigtrap"))


class Round(NamedTuple):
    used: Used
    plain: Used
    samples: int


def measure(place: Place, program: Program, rates: list[int], rounds: int,
            every: list[Way]) -> dict[tuple[int, str], list[Round]]:
    """By rate and way: its rounds; none for a way that did not end. Rate 0 is the second plain
    run."""
    seen: dict[tuple[int, str], list[Round]] = defaultdict(list)
    stuck = set()
    for _ in range(rounds):
        plain = run_alone(place, program.command)
        deadline_s = 20.0 + DEADLINE * plain.total_s
        for rate, way in ((rate, way) for rate in rates for way in every):
            turns = seen[rate, way.name]
            if (rate, way) in stuck:
                continue
            used = run(place, way.command(place, program.command, rate), deadline_s)
            if used:
                turns.append(Round(used, plain, way.delivered(place, used)))
            else:
                stuck.add((rate, way))
                turns.clear()
        seen[0, "none again"].append(Round(run_alone(place, program.command), plain, 0))
    return seen


def figures(turns: list[Round], rate: float, delivered: float | None) -> Figures:
    """rate: at which samples were due. delivered: where the rounds did not count."""
    samples = [turn.samples if delivered is None else delivered * rate * turn.used.program_s
               for turn in turns]
    return Figures(
        median(n / turn.used.program_s for n, turn in zip(samples, turns)) / max(rate, 1),
        median(turn.used.program_s / turn.plain.program_s for turn in turns),
        median(turn.used.total_s / turn.plain.total_s for turn in turns),
        median((turn.used.total_s - turn.plain.total_s) / n * 1e6 if n else 0.0
               for n, turn in zip(samples, turns)))


def show(rate: int, name: str, row: Figures) -> None:
    if rate:
        print(f"    {rate:>6}  {name:<16} {row.delivered:>9.1%} {row.program:>12.3f} "
              f"{row.total:>9.3f} {row.sample_us:>12.1f}", flush=True)
    else:
        print(f"    {'':>6}  {name:<16} {'':>9} {row.program:>12.3f} {row.total:>9.3f}", flush=True)


def bounds(rate: int, rows: dict[str, Figures], noise: float, missed: Missed) -> None:
    at, part = f"at {rate} Hz", PERF_PART_MAX.get(rate, 1.0)
    if "isoscope" not in rows:
        missed.check(f"runs that end {at}", ", ".join(rows), "isoscope's", False)
        return
    ours, perf, gperftools = rows["isoscope"], rows.get("perf -g"), rows.get("gperftools")
    least = DELIVERED_MIN.get(rate, 0.95)
    missed.check(f"delivered {at}", f"{ours.delivered:.1%}", f"at least {least:.0%}",
                 ours.delivered >= least)
    if perf:
        missed.check(f"total overhead {at}", f"{ours.total - 1:+.3f}",
                     f"at most {part:.2f} of perf -g's {perf.total - 1:+.3f} (noise {noise:.3f})",
                     ours.total - 1 <= (perf.total - 1) * part + noise)
    if gperftools and rate <= GPERFTOOLS_RATE_MAX:
        against_gperftools(ours, gperftools, noise * 1e6 / (rate * gperftools.delivered), missed)


def against_gperftools(ours: Figures, theirs: Figures, noise_us: float, missed: Missed) -> None:
    """It has few samples, so the noise of their cost is large; more rounds make it small."""
    bound = f"at most {GPERFTOOLS_PART_MAX:.2f} of gperftools' {theirs.sample_us:.1f} us"
    told = theirs.sample_us > noise_us
    missed.check("cost of a sample", f"{ours.sample_us:.1f} us",
                 f"{bound} (noise {noise_us:.1f}{'' if told else ': no verdict'})",
                 not told or ours.sample_us <= theirs.sample_us * GPERFTOOLS_PART_MAX)


def bench(place: Place, program: Program, given: argparse.Namespace, missed: Missed) -> None:
    rates, options = [int(rate) for rate in given.rates.split(",")], given.isoscope.split()
    counts = {rate: counted(place, program, options, rate) for rate in rates}
    first = counts[rates[0]]
    every = that_work(place, ways(options, given.async_profiler, first.tick), rates[0])
    seen = measure(place, program, rates, given.rounds, every)
    plain = median(turn.plain.total_s for turn in seen[0, "none again"])
    print(f"{program.name}: {plain:.2f} CPU seconds, {given.rounds} rounds; isoscope's timer: "
          f"{first.timer}, at most {first.rate:.0f} a CPU second")
    print("      rate  way              delivered  program CPU total CPU  us a sample")
    again = seen[0, "none again"]
    show(0, "none again", figures(again, 0, None))
    noise = median(abs(turn.used.total_s / turn.plain.total_s - 1) for turn in again)
    rows: dict[int, dict[str, Figures]] = defaultdict(dict)
    for (rate, name), turns in seen.items():
        if rate and not turns:
            print(f"    {rate:>6}  {name:<16} does not end", flush=True)
        elif rate:
            count = counts[rate] if name == "isoscope" else None
            rows[rate][name] = (figures(turns, count.rate, count.delivered) if count
                                else figures(turns, rate, None))
            show(rate, name, rows[rate][name])
    for rate in rates:
        bounds(rate, rows[rate], noise, missed)


def handler(place: Place, program: Program, missed: Missed) -> None:
    """The mean of the whole handler, two clock reads and the store included, cold."""
    both = same_sample(place, program.command)
    if not both["libunwind_us"]:
        print(f"    {program.name}: no tick came to compare the unwinders by", flush=True)
        return
    ratio = both["tables_us"] / both["libunwind_us"]
    bound = LIBUNWIND_PART_MAX if program.name == "cc1plus" else 1.0
    missed.check(f"{program.name}: handler, {both['frames'] / both['samples']:.0f} frames deep",
                 f"{both['tables_us']:.2f} us",
                 f"at most {bound:.2f} of libunwind's {both['libunwind_us']:.2f} us; "
                 f"is {ratio:.3f}, 1/{1 / ratio:.1f}", ratio <= bound)


def floor(build: Path) -> None:
    print(subprocess.run([build / "tests/bench/tick_floor"], text=True, check=True,
                         stdout=subprocess.PIPE).stdout, end="", flush=True)


def tags(build: Path, missed: Missed) -> None:
    """Its status says whether a push and a pop took 10 ns at most."""
    done = subprocess.run([build / "bin/isoscope", "run", "--quiet", "--",
                           build / "tests/bench/tag_bench"], text=True, stdout=subprocess.PIPE)
    print("tags, under isoscope at 1 kHz")
    print(done.stdout, end="", flush=True)
    missed.check("push and pop", "above", "at most 10 ns", done.returncode == 0)


def machine() -> str:
    cpu = next((line.partition(":")[2].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    return (f"{os.cpu_count()} x {cpu}, Linux {platform.release()}, "
            f"load {os.getloadavg()[0]:.1f} at the start")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rates", default="1000,10000")
    parser.add_argument("--programs", default="")
    parser.add_argument("--isoscope", default="", help="options of isoscope run")
    parser.add_argument("--async-profiler", help="its library, to be preloaded")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    build = Path(given.build).resolve()
    os.environ["ISOSCOPE_BUILD"] = str(build)
    sys.path.insert(0, str(ROOT / "tests/live"))
    missed = Missed()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        place = place_of(build, Path(name))
        threads = Program("8 threads", [str(build / "tests/bench/eight_threads"), "45000"])
        chosen = [program for program in [*programs(place.folder), *jit_programs(), threads]
                  if not given.programs or program.name in given.programs.split(",")]
        for program in chosen:
            bench(place, program, given, missed)
        print("both unwinders on the same samples, 1000 Hz")
        for program in chosen:
            if program is not threads:
                handler(place, program, missed)
    floor(build)
    tags(build, missed)
    return 1 if missed.any else 0


if __name__ == "__main__":
    sys.exit(main())
