"""What sampling waits costs: a lock and its unlock, of one thread, and of several at one lock; beside none, `isoscope run` without, and
async-profiler's nativelock.

Interleaved rounds; a figure is the best of all. `bare again` is the noise. A lock that nobody else has costs a look at its word. Locks that
threads fight for are dearer by two looks at the clock for each wait, and vary: which thread comes next is the kernel's affair.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
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


def samples(way: tuple[list[str], dict[str, str]]) -> bool:
    """Whether the peer does: an option that it does not know costs nothing. It sees waits of a microsecond and more."""
    words, environment = way
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stacks"
        pairs, threads = CASES["8 threads"]
        asked = environment["ASPROF_COMMAND"].replace("file=/dev/null", f"collapsed,file={file}")
        told = subprocess.run([*words, str(BUILD / "tests/bench/lock_pairs"), str(pairs // 10), str(threads)],
                              env={**os.environ, **environment, "ASPROF_COMMAND": asked}, capture_output=True, check=True, text=True)
        text = file.read_text(errors="replace") if file.exists() else ""
    seen = sum(int(count) for count in re.findall(r"(?m)^.*;.* (\d+)$", text))
    problem = next((line for line in (told.stdout + told.stderr + text).splitlines() if "WARN" in line or "ERROR" in line), "")
    print(f"async-profiler: {seen:,} waits sampled" if seen else f"async-profiler samples no waits, and is left out: {problem or text[:80]}")
    return seen > 0


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
    chosen = ways(args.async_profiler)
    if "async-profiler" in chosen and not samples(chosen["async-profiler"]):
        del chosen["async-profiler"]
    print(f"ns for a lock and its unlock: {', '.join(CASES)}")
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
