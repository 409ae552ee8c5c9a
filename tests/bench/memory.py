"""What sampling allocations costs: a malloc and its free, and real programs; beside none, `isoscope run` without, and other tools.

Interleaved rounds. A pair's figure is the best of all; a program's the median. `bare again` and `none again` are the noise. Bounds: a pair costs at
most 2 ns more than bare where it is not sampled itself (small ones); python3, cc1plus and a C++ program at most 1 % more CPU time than under
`isoscope run`, whose share is not this one's. A sample itself costs some microseconds, once in 512 KiB: large blocks show it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path()
ISOSCOPE = str(BUILD / "bin/isoscope")
LIBRARIES = f"/usr/lib/{os.uname().machine}-linux-gnu"
SIZES = ((16, 6_000_000), (64, 6_000_000), (1024, 4_000_000), (65536, 400_000))

PYTHON = "import json\nfor i in range(30): json.loads(json.dumps([{'a': [j] * 20, 'b': str(j)} for j in range(6000)]))"
CXX = r"""
#include <map>
#include <string>
#include <vector>
int main()
{
    unsigned long sum = 0;
    for (int round = 0; round < 12; round++) {
        std::map<std::string, std::vector<int>> map;
        for (int i = 0; i < 60000; i++)
            map["a key that is long enough for the heap " + std::to_string(i)].assign(i % 50, i);
        for (auto &entry : map)
            sum += entry.second.size();
    }
    return sum == 1;
}
"""


def pair_ways() -> dict[str, tuple[list[str], dict[str, str]]]:
    ways: dict[str, tuple[list[str], dict[str, str]]] = {
        "bare": ([], {}),
        "run": ([ISOSCOPE, "run", "--quiet", "--"], {}),
        "run --alloc": ([ISOSCOPE, "run", "--quiet", "--alloc", "--"], {}),
        # Wrapped, and nothing sampled.
        "off": ([ISOSCOPE, "run", "--quiet", "--alloc", "--paused", "--"], {}),
        "bare again": ([], {}),
    }
    for name, library, more in (
        ("jemalloc", "libjemalloc.so.2", {}),
        ("jemalloc prof", "libjemalloc.so.2", {"MALLOC_CONF": "prof:true,lg_prof_sample:19,prof_prefix:/tmp/jeprof"}),
        ("tcmalloc", "libtcmalloc.so.4", {}),
        ("tcmalloc sampling", "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
    ):
        if os.path.exists(f"{LIBRARIES}/{library}"):
            ways[name] = ([], {"LD_PRELOAD": f"{LIBRARIES}/{library}", **more})
    return ways


def pair_ns(way: tuple[list[str], dict[str, str]], size: int, pairs: int, threads: int) -> float:
    words, environment = way
    program = str(BUILD / "tests/bench/malloc_pairs")
    told = subprocess.run([*words, program, str(size), str(pairs), str(threads)], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, check=True, text=True)
    return float(told.stdout)


def show_pairs(rounds: int) -> None:
    ways = pair_ways()
    for threads in (1, 8):
        print(f"\nns for a malloc and its free, {threads} thread{'s' * (threads > 1)}: {', '.join(str(s) for s, _ in SIZES)} bytes")
        seen = {(way, size): [] for way in ways for size, _ in SIZES}
        for _ in range(rounds):
            for size, pairs in SIZES:
                for way, words in ways.items():
                    seen[way, size].append(pair_ns(words, size, pairs // threads, threads))
        for way in ways:
            print(f"  {way:18}" + "".join(f"{min(seen[way, size]):10.2f}" for size, _ in SIZES), flush=True)


TIMER = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
         "u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime, file=open({!r}, 'w'))")


def program_s(words: list[str], program: list[str], told: str) -> float:
    """Of the program alone: it is started, below the tool, by what tells its CPU time."""
    timer = ["/usr/bin/python3", "-S", "-c", TIMER.format(told)]
    subprocess.run([*words, *timer, *program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return float(Path(told).read_text())


def show_programs(rounds: int, folder: Path) -> None:
    (folder / "heavy.cc").write_text(CXX)
    heavy, told = str(folder / "heavy"), str(folder / "told")
    subprocess.run(["g++", "-O2", "-o", heavy, str(folder / "heavy.cc")], check=True)
    programs = {
        "python3": ["/usr/bin/python3", "-c", PYTHON],
        "cc1plus": ["g++", "-O1", "-S", "-o", str(folder / "heavy.s"), str(folder / "heavy.cc")],
        "C++ map": [heavy],
    }
    ways = {
        "none": [],
        "run": [ISOSCOPE, "run", "--quiet", "--"],
        "run --alloc": [ISOSCOPE, "run", "--quiet", "--alloc", "--"],
        "none again": [],
    }
    if shutil.which("heaptrack"):
        ways["heaptrack"] = ["heaptrack", "-o", str(folder / "trace")]
    print("\nCPU time of the program, to none's")
    for name, program in programs.items():
        seen: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, words in ways.items():
                try:
                    seen[way].append(program_s(words, program, told))
                except subprocess.CalledProcessError:
                    pass
        base = median(seen["none"])
        shares = "".join(f"  {way} {median(times) / base - 1:+.1%}" for way, times in seen.items() if times and way != "none")
        print(f"  {name:9}{base:6.2f} s{shares}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    args = parser.parse_args()
    print(f"{os.cpu_count()} processors, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}; {args.rounds} rounds")
    show_pairs(args.rounds)
    with tempfile.TemporaryDirectory() as folder:
        show_programs(args.rounds, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
