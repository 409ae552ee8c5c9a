"""Real programs under load, with isoscope at 1 kHz and without: what it costs them, and no harm.

    servers.py [--rounds 5] [--seconds 4] [--period US] [--timer KIND] [WORD...]
    servers.py --once PROGRAM                                      (rows.py: once, as it is)

WORD: programs whose name holds it. Each round runs a program alone, under isoscope, and alone again;
the ratios are the rounds' medians, and alone/alone beside them is the noise. "CPU" is the CPU time of a
unit of work, of everything that was started: the program, its start, and isoscope with its service.
Ends with status 1 when a request failed, an answer was wrong or a program did not end well.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

from server_programs import PROGRAMS, Done, Program, Wrong

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ISOSCOPE_BUILD") or ROOT / "build").resolve()
STATUS_NOT_HERE = 77
COLUMNS = ["program", "alone", "isoscope", "rate", "alone/alone", "CPU", "alone/alone", "samples",
           "lost", "whole", "errors"]


class Round(NamedTuple):
    before: Done
    sampled: Done
    after: Done


class Figures:
    """Of one program, over its rounds."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rounds: list[Round] = []
        self.errors = 0
        self.stats: Counter[str] = Counter()

    def add(self, done: Round) -> None:
        self.rounds.append(done)
        self.stats += stats(done.sampled.errors)

    def row(self) -> list[str]:
        alone = [rate(r.before) for r in self.rounds] + [rate(r.after) for r in self.rounds]
        ticks = self.stats["delivered"] + self.stats["lost"]
        return [
            self.program.name,
            f"{statistics.median(alone):,.4g} {self.program.unit}/s",
            f"{statistics.median(rate(r.sampled) for r in self.rounds):,.4g}",
            *self.ratios(rate), *self.ratios(cost),
            f"{self.stats['delivered']:,}",
            f"{100 * self.stats['lost'] / max(1, ticks):.2f} %",
            f"{100 * self.stats['whole'] / max(1, self.stats['delivered']):.2f} %",
            str(self.errors),
        ]

    def ratios(self, figure: Callable[[Done], float]) -> Iterator[str]:
        """Of the sampled run to the mean of its two neighbours, and of those to each other."""
        rounds = [tuple(map(figure, done)) for done in self.rounds]
        for ratios in ([2 * sampled / (before + after) for before, sampled, after in rounds],
                       [after / before for before, _, after in rounds]):
            yield f"{statistics.median(ratios):.3f}"


def rate(done: Done) -> float:
    return done.work / done.seconds


def cost(done: Done) -> float:
    return done.cpu_s / done.work


def stats(said: str) -> Counter[str]:
    """What --stats has printed."""
    found: Counter[str] = Counter()
    for kind, count, words in re.findall(r"^isoscope:   (delivered|lost|stacks)\s+(\d+)(.*)$", said,
                                         re.MULTILINE):
        found["whole" if "reach the thread's start" in words else kind] += int(count)
    return found


def measure(program: Program, under: list[str], rounds: int) -> Figures:
    figures = Figures(program)
    for _ in range(rounds):
        try:
            figures.add(Round(program.run([]), program.run(under), program.run([])))
        except Wrong as wrong:
            figures.errors += 1
            print(f"FAIL  {program.name}: {wrong}", flush=True)
    if figures.rounds:
        print("  ".join(figures.row()), flush=True)
    return figures


def table(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def once(name: str) -> int:
    """For a row of the torture: whoever starts us watches the whole family."""
    (kind,) = [kind for kind in PROGRAMS if name in kind.name]
    if not kind.is_here():
        print(f"not here: there is no {kind.name}; ./dev torture servers installs it")
        return STATUS_NOT_HERE
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        done = kind(Path(folder), 0.5).run([])
    print(f"{rate(done):,.4g} {kind.unit}/s\nfine")
    return 0


def all_of(options: argparse.Namespace) -> int:
    under = [str(BUILD / "bin" / "isoscope"), "run", "--quiet", "--stats", "--period",
             str(options.period), "--timer", options.timer, "--"]
    rows, failures = [COLUMNS], 0
    for kind in PROGRAMS:
        if not all(word in kind.name for word in options.words):
            continue
        if not kind.is_here():
            print(f"{kind.name}: not here; its package is {kind.package}")
            failures += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # for those that give up root
            figures = measure(kind(Path(folder), options.seconds), under, options.rounds)
        failures += figures.errors
        if figures.rounds:
            rows.append(figures.row())
    print(f"\n{options.rounds} rounds at a period of {options.period} us\n\n{table(rows)}")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="servers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of load, about, in each run")
    parser.add_argument("--period", type=int, default=1000)
    parser.add_argument("--timer", default="auto", help="as of isoscope run")
    parser.add_argument("--once", metavar="PROGRAM", help="run that one, once, without isoscope")
    parser.add_argument("words", nargs="*", metavar="WORD", help="programs whose name holds it")
    options = parser.parse_args()
    return once(options.once) if options.once else all_of(options)


if __name__ == "__main__":
    sys.exit(main())
