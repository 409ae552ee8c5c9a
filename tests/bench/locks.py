"""What sampling waits costs: a lock and its unlock, of one thread, and of several at one lock; beside none, `isoscope run` without, and
async-profiler's nativelock.

Interleaved rounds; a figure is the best of all. `bare again` is the noise. A lock that nobody else has costs a look at its word. Locks that
threads fight for are dearer by two looks at the clock for each wait, and vary: which thread comes next is the kernel's affair.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path()
ISOSCOPE = str(BUILD / "bin/isoscope")
CASES = {"alone": (20_000_000, 1), "2 threads": (2_000_000, 2), "8 threads": (2_000_000, 8)}


def ways(peer: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    found: dict[str, tuple[list[str], dict[str, str]]] = {
        "bare": ([], {}),
        "run": ([ISOSCOPE, "run", "--quiet", "--"], {}),
        "run --lock": ([ISOSCOPE, "run", "--quiet", "--lock", "--"], {}),
        # Wrapped, and nothing sampled.
        "off": ([ISOSCOPE, "run", "--quiet", "--lock", "--paused", "--"], {}),
        "bare again": ([], {}),
    }
    if peer:
        found["async-profiler"] = ([], {"LD_PRELOAD": peer, "ASPROF_COMMAND": "start,nativelock,file=/dev/null"})
    return found


def pair_ns(way: tuple[list[str], dict[str, str]], pairs: int, threads: int) -> float:
    words, environment = way
    program = str(BUILD / "tests/bench/lock_pairs")
    told = subprocess.run([*words, program, str(pairs), str(threads)], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, check=True, text=True)
    return float(told.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--async-profiler", metavar="LIBRARY", default="", help="its libasyncProfiler.so")
    args = parser.parse_args()
    print(f"{os.cpu_count()} processors, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}; {args.rounds} rounds")
    print(f"ns for a lock and its unlock: {', '.join(CASES)}")
    chosen = ways(args.async_profiler)
    seen: dict[tuple[str, str], list[float]] = {(way, case): [] for way in chosen for case in CASES}
    for _ in range(args.rounds):
        for case, (pairs, threads) in CASES.items():
            for way, words in chosen.items():
                seen[way, case].append(pair_ns(words, pairs, threads))
    for way in chosen:
        print(f"  {way:16}" + "".join(f"{min(seen[way, case]):10.2f}" for case in CASES), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
