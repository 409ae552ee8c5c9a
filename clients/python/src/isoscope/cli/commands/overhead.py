"""`isoscope overhead -- COMMAND`: what sampling costs this command on this machine.

Each round runs it three times, in an order that changes: without, with, and without again. The second
run without tells how much two equal runs differ: an impact that is not larger was not measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import time
from dataclasses import dataclass
from statistics import median
from typing import Any, Sequence

from ...errors import IsoscopeError
from ...text import counted
from .. import options
from ..exits import DONE, UsageError
from ...command import isoscope
from ..terminal.progress import steps

_ROUNDS = 5
_NOT_STARTED = (125, 126, 127)
BASE, SAMPLED, AGAIN = "base", "sampled", "again"
_ORDERS = ((BASE, SAMPLED, AGAIN), (SAMPLED, AGAIN, BASE), (AGAIN, BASE, SAMPLED))


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "overhead",
        run,
        help="measure the overhead of sampling on a command",
        description="Run COMMAND repeatedly with and without sampling, and print the overhead in CPU time "
                    "(isoscope's own included) and in wall time. noise: the difference of two runs "
                    "without sampling. COMMAND gets no input, and its output is discarded.",
        examples=[
            "isoscope overhead -- gzip -k -f big.txt",
            "isoscope overhead --rounds 20 --period 200 -- ./bench",
        ],
    )
    options.add_run_options(parser)
    parser.add_argument("--rounds", metavar="N", type=options.positive, default=_ROUNDS,
                        help=f"number of rounds, each of three runs (default: {_ROUNDS})")
    parser.add_argument("--json", action="store_true", help="print every run's times as JSON")


@dataclass(frozen=True)
class Run:
    """One run of the command: of its processes, and isoscope's when it was sampled."""

    cpu_s: float
    wall_s: float
    status: int


@dataclass(frozen=True)
class Impact:
    """Of sampling on one of the times."""

    what: str
    base_s: float  # median of all runs without
    ratio: float  # sampled/base, the median of the rounds
    noise: float  # how far again/base was from 1: the farthest but the outermost twentieth

    @property
    def measured(self) -> bool:
        return abs(self.ratio - 1) > self.noise

    @classmethod
    def of(
        cls, what: str, base: Sequence[float], sampled: Sequence[float], again: Sequence[float]
    ) -> Impact:
        """One entry a round, in seconds."""
        means = [(b + a) / 2 for b, a in zip(base, again)]
        ratio = median([_over(s, m) for s, m in zip(sampled, means)])
        differences = sorted(abs(_over(a, b) - 1) for a, b in zip(again, base))
        noise = differences[math.ceil(0.95 * len(differences)) - 1]
        return cls(what, median([*base, *again]), ratio, noise)

    def text(self) -> str:
        verdict = "below the noise" if not self.measured else "above the noise"
        added_ms = (self.ratio - 1) * self.base_s * 1000
        return (
            f"{self.what:<10} {self.base_s * 1000:>10,.1f} ms  {100 * (self.ratio - 1):+8.1f} %  "
            f"{added_ms:+9.1f} ms  {100 * self.noise:7.1f} %  {verdict}"
        )


def run(args: argparse.Namespace) -> int:
    if args.command is None:
        raise UsageError("overhead needs `-- COMMAND`: it runs it itself")
    prefix = [isoscope(), "run", "--quiet", *options.run_options(args)]
    words = {BASE: args.command, AGAIN: args.command, SAMPLED: [*prefix, "--", *args.command]}
    runs: dict[str, list[Run]] = {BASE: [], SAMPLED: [], AGAIN: []}
    # The first run of all warms the caches, and tells whether the command runs at all.
    expected = _start(args.command).status
    if expected in _NOT_STARTED:
        raise IsoscopeError(f"{args.command[0]} ended with status {expected}; nothing to measure")
    for number in steps(range(args.rounds), "measuring"):
        for kind in _ORDERS[number % len(_ORDERS)]:
            runs[kind].append(_checked(_start(words[kind]), kind, expected))
    impacts = [
        Impact.of(what, *[[getattr(r, what_s) for r in runs[k]] for k in (BASE, SAMPLED, AGAIN)])
        for what, what_s in (("CPU time", "cpu_s"), ("wall time", "wall_s"))
    ]
    print(json.dumps(_json(args, runs, impacts)) if args.json else "\n".join(_text(args, impacts)))
    return DONE


def _start(words: Sequence[str]) -> Run:
    """CPU time is that of the process and of all that it has waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise IsoscopeError(f"cannot run {words[0]}: {os.strerror(error.errno or 0)}") from error
    wall_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Run(cpu_s, wall_s, done.returncode)


def _checked(done: Run, kind: str, expected: int) -> Run:
    if kind == SAMPLED and done.status in _NOT_STARTED and done.status != expected:
        raise IsoscopeError(
            f"isoscope run ended with status {done.status}; "
            "`isoscope run -- COMMAND` prints the reason"
        )
    if done.status != expected:
        how = "with sampling" if kind == SAMPLED else "without sampling"
        raise IsoscopeError(
            f"the command ended with status {done.status} {how}, and with {expected} before: "
            "different runs cannot be compared"
        )
    return done


def _text(args: argparse.Namespace, impacts: Sequence[Impact]) -> list[str]:
    lines = [
        f"{' '.join(args.command)}",
        f"{counted(args.rounds, 'round')} of three runs; one sample per {args.period or 1000} us of CPU "
        "time",
        "",
        f"{'':<10} {'without':>13}  {'sampling':>10}  {'that is':>12}  {'noise':>9}",
    ]
    lines += [impact.text() for impact in impacts]
    lines += ["", "noise: difference of two runs without sampling, in 19 of 20 rounds at most"]
    if any(impact.base_s < 0.2 for impact in impacts):
        lines.append("the command is short: most of the overhead is isoscope's start, once per run")
    if not all(impact.measured for impact in impacts):
        lines.append("below the noise: use more --rounds or a longer command")
    return lines


def _json(
    args: argparse.Namespace, runs: dict[str, list[Run]], impacts: Sequence[Impact]
) -> dict[str, Any]:
    return {
        "type": "isoscope.overhead",
        "command": args.command,
        "rounds": args.rounds,
        "runs": {kind: [vars(done) for done in done_runs] for kind, done_runs in runs.items()},
        "impacts": [{**vars(impact), "measured": impact.measured} for impact in impacts],
    }


def _over(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
