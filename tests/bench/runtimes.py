"""What Python's frames cost beside plain sampling, and beside Python's other profilers.

    runtimes.py [BUILD_FOLDER] [--python PYTHON] [--rounds N] [--rates 1000,5000]

PYTHON: an interpreter beside which py-spy, austin, pyinstrument and scalene stand where they are installed (PyPI);
/usr/bin/python3 unless told. In each round every way runs the same program once, one after the other. A figure is the
median over the rounds of that way's CPU time, the profiler's own processes included, by that round's plain run;
`none again` is a second plain run: the noise. delivered: samples of those due for the plain run's CPU time, where the peer says
how many it took (capture.py has isoscope's); us a sample: what one costs, all in all, by those taken or else those due. cProfile
takes none: it counts calls.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Callable, NamedTuple, Optional

from peers import Place, Used, run, run_alone, shell

PROGRAM = """
import ast, json, sys
def parses(text):
    return sum(1 for _ in ast.walk(ast.parse(text)))
class Table:
    def __init__(self, rows):
        self.rows = rows
    def sums(self):
        return {key: sum(row[key] for row in self.rows) for key in self.rows[0]}
def recurses(n):
    return n if n < 2 else recurses(n - 1) + recurses(n - 2)
def main(rounds):
    text = open(ast.__file__).read()[:20000]
    table = Table([{"a": i, "b": i * 2, "c": -i} for i in range(300)])
    for _ in range(rounds):
        parses("x = 1\\n" + "y = [x + i for i in range(3) if i]\\n" * 60)
        table.sums()
        recurses(15)
        json.loads(json.dumps(table.rows, indent=1))
main(int(sys.argv[1]))
"""


class Way(NamedTuple):
    name: str
    command: Callable[[list[str], int], list[str]]
    delivered: Optional[Callable[[Used], int]] = None


class Cost(NamedTuple):
    total: float  # by the plain run's
    delivered: float  # of those due; 0: not counted
    sample_us: float


def folded(path: Path) -> int:
    """Lines of a stack and its count."""
    lines = path.read_text(errors="replace").splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line and line[0] != "#")


def ways(place: Place, python: str) -> list[Way]:
    beside = Path(python).parent
    isoscope = str(place.build / "bin" / "isoscope")

    def sampled(*options: str) -> Callable[[list[str], int], list[str]]:
        return lambda program, rate: [isoscope, "run", "--quiet", *options, "--period", str(1_000_000 // rate), "--",
                                      *shell(program)]

    found = [Way("isoscope", sampled()), Way("isoscope, no frames", sampled("--no-runtimes"))]
    out = place.file("peer.out")
    if (beside / "py-spy").exists():
        found.append(Way("py-spy", lambda program, rate: [
            *shell([str(beside / "py-spy"), "record", "-r", str(rate), "-f", "raw", "-o", str(out), "--", *program])],
            lambda used: folded(out)))
    if (beside / "austin").exists():
        found.append(Way("austin", lambda program, rate: [
            str(beside / "austin"), "-C", "-i", str(1_000_000 // rate), "-o", str(out), *shell(program)]))
    if (beside / "pyinstrument").exists():
        found.append(Way("pyinstrument", lambda program, rate: shell(
            [python, "-m", "pyinstrument", "-i", str(1 / rate), "-r", "json", "-o", str(out), *program[1:]])))
    if (beside / "scalene").exists():
        found.append(Way("scalene, CPU", lambda program, rate: shell(
            [python, "-m", "scalene", "run", "--cpu-only", "--cpu-sampling-rate", str(1 / rate), "-o", str(out),
             *program[1:2], "---", *program[2:]])))
    found.append(Way("cProfile", lambda program, rate: shell([python, "-m", "cProfile", "-o", str(out), *program[1:]])))
    return found


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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rates", default="1000,5000")
    parser.add_argument("--work", type=int, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(options.build).resolve(), Path(folder))
        place.file("program.py").write_text(PROGRAM)
        program = [options.python, str(place.file("program.py")), str(options.work)]
        print(f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}; {options.python}; "
              f"{options.rounds} rounds", flush=True)
        for rate in (int(word) for word in options.rates.split(",")):
            print(f"\nat {rate} Hz{'':<18} total   delivered   us a sample", flush=True)
            for name, cost in costs(place, program, rate, options.rounds, ways(place, options.python)).items():
                print(f"    {name:<22} {cost.total:>7.3f}   {f'{cost.delivered:.1%}' if cost.delivered else '':>9}   "
                      f"{f'{cost.sample_us:.1f}' if cost.sample_us else '':>11}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
