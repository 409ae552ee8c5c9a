"""What the frames of interpreted programs cost beside plain sampling, and beside each language's own profilers.

    runtimes.py [BUILD_FOLDER] [--python PYTHON] [--async-profiler LIB] [--rbspy PROGRAM] [--rounds N] [--rates 1000,5000] [LANGUAGE...]

PYTHON: an interpreter beside which py-spy, austin, pyinstrument and scalene stand where they are installed (PyPI);
/usr/bin/python3 unless told. LIB: libasyncProfiler.so (Maven: tools.profiler:async-profiler). rbspy is a crate. node has a
profiler of its own. LANGUAGE: those alone (python, node, java, ruby, php, perl, lua).

In each round every way runs the same program once, one after the other. A figure is the
median over the rounds of that way's CPU time, the profiler's own processes included, by that round's plain run;
`none again` is a second plain run: the noise. delivered: samples of those due for the plain run's CPU time, where the peer says
how many it took (isoscope's: of its statistics); us a sample: what one costs, all in all, by those taken or else those due.
frames: what a sample of isoscope's costs more with them than without. cProfile takes no samples: it counts calls.

At the end of a language, one more run of each way that tells functions: own time of isoscope's top ten, side by side. cProfile's is in microseconds,
of what runs behind the start; the others sample that, too.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple, Optional

from peers import Place, Used, run, run_alone, shell
from runtime_programs import Language, Paths, Way, languages
from runtime_tops import beside, of_isoscope


class Cost(NamedTuple):
    total: float  # by the plain run's
    delivered: float  # of those due; 0: not counted
    sample_us: float


def stored(used: Used) -> int:
    """Of all processes, as `isoscope run --stats` says."""
    return sum(int(count) for count in re.findall(r"^isoscope: +delivered +(\d+) ", used.output, re.MULTILINE))


def ways(place: Place, language: Language, paths: Paths) -> list[Way]:
    isoscope = str(place.build / "bin" / "isoscope")

    def sampled(name: str, *options: str) -> Way:
        return Way(name, lambda program, rate: [isoscope, "run", "--quiet", "--stats", *options, "--period", str(1_000_000 // rate),
                                                "--", *shell(program)], stored)

    return [sampled("isoscope"), sampled("isoscope, no frames", "--no-runtimes"), *language.peers(place, paths)]


def attempt(place: Place, way: Way, program: list[str], rate: int) -> Optional[Used]:
    try:
        return run(place, way.command(program, rate), 300.0)
    except SystemExit as refusal:
        print(f"    {way.name} does not work here: {str(refusal)[:300]}", flush=True)
        return None


def costs(place: Place, program: list[str], rate: int, rounds: int, every: list[Way]) -> dict[str, Cost]:
    seen: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for _ in range(rounds):
        plain = run_alone(place, program)
        for way in list(every):
            used = attempt(place, way, program, rate)
            if not used:
                every.remove(way)
                continue
            samples = way.delivered(used) if way.delivered else 0
            due = plain.program_s * rate
            seen[way.name].append((used.total_s / plain.total_s, samples / due,
                                   (used.total_s - plain.total_s) * 1e6 / (samples or due)))
        again = run_alone(place, program)
        seen["none again"].append((again.total_s / plain.total_s, 0.0, 0.0))
    return {name: Cost(*(median(column) for column in zip(*rows))) for name, rows in seen.items()}


def top_tens(place: Place, program: list[str], peers: list[Way]) -> dict[str, Counter[str]]:
    """At 1 kHz."""
    out = place.file("isoscope.json")
    ours = Way("isoscope", lambda program, rate: [
        str(place.build / "bin" / "isoscope"), "export", "cpusamples", "-o", str(out), "--period", str(1_000_000 // rate),
        "--", *shell(program)], top=lambda: of_isoscope(out))
    return {way.name: way.top() for way in [ours, *peers] if way.top and attempt(place, way, program, 1000)}


def shown(name: str, cost: Cost) -> str:
    delivered = f"{cost.delivered:.1%}" if cost.delivered else ""
    return f"    {name:<22} {cost.total:>7.3f}   {delivered:>9}   {f'{cost.sample_us:.1f}' if cost.sample_us else '':>11}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--async-profiler", default="")
    parser.add_argument("--rbspy", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rates", default="1000,5000")
    parser.add_argument("--work", type=int, default=150)
    parser.add_argument("languages", nargs="*")
    options = parser.parse_intermixed_args()
    paths = Paths(options.python, options.async_profiler, options.rbspy)
    there = languages(paths)
    if unknown := set(options.languages) - {language.name for language in there}:
        sys.exit(f"runtimes: {', '.join(sorted(unknown))}: not known, or not here; there are {' '.join(l.name for l in there)}")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(options.build).resolve(), Path(folder))
        print(f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}; {options.python}; "
              f"{options.rounds} rounds", flush=True)
        for language in there:
            if options.languages and language.name not in options.languages:
                continue
            program = language.program(place, options.work)
            for rate in (int(word) for word in options.rates.split(",")):
                print(f"\n{language.name + f' at {rate} Hz':<26} total   delivered   us a sample", flush=True)
                found = costs(place, program, rate, options.rounds, ways(place, language, paths))
                for name, cost in found.items():
                    print(shown(name, cost), flush=True)
                if {"isoscope", "isoscope, no frames"} <= set(found):
                    extra = found["isoscope"].sample_us - found["isoscope, no frames"].sample_us
                    print(f"    frames: {extra:+.1f} us a sample", flush=True)
            tops = top_tens(place, program, language.peers(place, paths))
            if len(tops) > 1:
                print(f"\n{language.name}\n{beside(tops)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
