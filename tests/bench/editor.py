#!/usr/bin/env python3
"""How long an editor waits for what `isoscope lsp` shows in a large file.

    ./dev bench editor [--lines N] [--rounds N]

A C++ file of 50,000 lines, 2,500 functions of 20 lines that all run, is built and recorded; a raw client asks as editors do. Each
row is the time from a request (and what is sent before it) to its answer, in milliseconds: median, 95th percentile, most.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/editor"))

FUNCTION_LINES = 20


def source(lines: int) -> str:
    """Functions that differ in every line that is not a bracket."""
    count = lines // FUNCTION_LINES
    parts = ["static volatile double sink;"]
    for number in range(count):
        steps = "\n".join(f"        sink = sink + {number * 20 + step}.5 / (i + 1);" for step in range(FUNCTION_LINES - 6))
        parts.append(f"__attribute__((noinline)) static void part_{number}(int count)\n{{\n    for (int i = 0; i < count; i++) {{\n"
                     f"{steps}\n    }}\n}}\n")
    calls = "\n".join(f"        part_{number}(count);" for number in range(count))
    parts.append(f"int main()\n{{\n    int count = 30;\n    for (int round = 0; round < 2500; round++) {{\n{calls}\n    }}\n}}\n")
    return "\n".join(parts)


def measured(rounds: int, each: Callable[[int], None]) -> list[float]:
    times = []
    for round in range(rounds):
        start = time.perf_counter()
        each(round)
        times.append(1000 * (time.perf_counter() - start))
    return times


def row(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(f"{name:44} {statistics.median(ordered):8.1f} {p95:8.1f} {ordered[-1]:8.1f}   {len(ordered)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=100)
    args = parser.parse_args()
    os.environ["ISOSCOPE_BUILD"] = str(args.build)
    from lsp_client import ISOSCOPE, Lsp, until

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        file = folder / "large.cpp"
        file.write_text(source(args.lines))
        subprocess.run(["c++", "-g", "-O1", "-o", folder / "large", file], check=True)
        session = folder / "large.isoscope"
        subprocess.run([ISOSCOPE, "record", "-o", session, "--", folder / "large"], check=True, capture_output=True)
        text = file.read_text()
        start = time.perf_counter()
        with Lsp(folder, str(session)) as lsp:
            uri = lsp.open(file)
            first = until(lambda: lsp.lenses(uri), "lenses")
            print(f"{text.count(chr(10)):,} lines, {len(first):,} lenses, {lsp.status()['samples']:,} samples; "
                  f"the first lenses {time.perf_counter() - start:.1f} s after the start")
            print(f"{'milliseconds':44} {'median':>8} {'p95':>8} {'most':>8}   rounds")
            row("lenses", measured(args.rounds, lambda _: void(lsp.lenses(uri))))
            row("hints of 60 lines", measured(args.rounds, lambda _: void(lsp.hints(uri, 60))))
            row("hover", measured(args.rounds, lambda n: void(lsp.hover(uri, 2 + FUNCTION_LINES * (n % 100), 45))))
            row("symbols", measured(args.rounds, lambda n: void(lsp.ask("workspace/symbol", query=f"part_{n}"))))
            row("a line is typed in the middle, then lenses", measured(args.rounds, lambda n: typed(lsp, uri, args.lines // 2, n)))
            row("other samples (a window), then lenses", measured(args.rounds, lambda n: windowed(lsp, uri, n)))


def void(_: object) -> None:
    """Only the time counts."""


def typed(lsp, uri: str, line: int, number: int) -> None:
    at = {"line": line, "character": 0}
    lsp.edit(uri, {"start": at, "end": at}, f"// {number}\n")
    assert lsp.lenses(uri)


def windowed(lsp, uri: str, number: int) -> None:
    lsp.do("window", 0, 0.5 + 0.001 * number)
    assert lsp.lenses(uri)


if __name__ == "__main__":
    main()
