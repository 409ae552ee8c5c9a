"""What sampling allocations costs: a malloc and its free, and real programs; beside none, `isoscope run` without, and other tools.

Interleaved rounds. A pair's figure is the best of all; a program's the median. `bare again` and `none again` are the noise. Bounds: a pair costs at
most 2 ns more than bare where it is not sampled itself (small ones); python3, cc1plus and a C++ program at most 1 % more CPU time than under
`isoscope run`, whose share is not this one's. A sample itself costs some microseconds, once in 512 KiB: large blocks show it.

Peers are those that are here: jemalloc, tcmalloc and their profilers, heaptrack and massif of Debian; --async-profiler and --memray say
where the other two are. redis-server's figure is the CPU time that it tells of the same requests.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Iterator, NamedTuple, Optional

from real_programs import programs as real_programs

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path()
ISOSCOPE = str(BUILD / "bin/isoscope")
LIBRARIES = f"/usr/lib/{os.uname().machine}-linux-gnu"
MEAN = 524288  # bytes of which one is sampled, by us and by those that can be told
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


class Way(NamedTuple):
    words: tuple[str, ...] = ()  # before the program
    environment: dict[str, str] = {}
    slower: int = 1  # so many pairs less


def preloaded(library: str, **environment: str) -> Optional[Way]:
    path = library if "/" in library else f"{LIBRARIES}/{library}"
    return Way((), {"LD_PRELOAD": path, **environment}) if os.path.exists(path) else None


def isoscope(*options: str) -> Way:
    return Way((ISOSCOPE, "run", "--quiet", *options, "--"))


def peers(folder: Path, async_profiler: str) -> dict[str, Way]:
    found = {
        "jemalloc": preloaded("libjemalloc.so.2"),
        "jemalloc prof": preloaded("libjemalloc.so.2", MALLOC_CONF=f"prof:true,lg_prof_sample:19,prof_prefix:{folder}/je"),
        "tcmalloc": preloaded("libtcmalloc.so.4"),
        "tcmalloc sampling": preloaded("libtcmalloc.so.4", TCMALLOC_SAMPLE_PARAMETER="524288"),
        "gperftools heap": preloaded("libtcmalloc.so.4", HEAPPROFILE=f"{folder}/gperf"),
        # It samples each so many bytes, as we do, and writes down each free. Without them it knows nothing of what lives.
        "nativemem": nativemem(async_profiler, folder, ""),
        "nativemem, nofree": nativemem(async_profiler, folder, "nofree,"),
        "heaptrack": Way(("heaptrack", "-o", f"{folder}/heaptrack")) if shutil.which("heaptrack") else None,
        "massif": Way(("valgrind", "--tool=massif", "-q", "--massif-out-file=/dev/null")) if shutil.which("valgrind") else None,
    }
    slow = {"gperftools heap": 50, "heaptrack": 10, "massif": 50, "nativemem": 10}
    return {name: way._replace(slower=slow.get(name, 1)) for name, way in found.items() if way}


def nativemem(library: str, folder: Path, options: str) -> Optional[Way]:
    if not library:
        return None
    return preloaded(library, ASPROF_COMMAND=f"start,nativemem={MEAN},{options}file={folder}/native.jfr")


def number_at(written: bytes, at: int) -> tuple[int, int]:
    """Of seven bits a byte; and where it ends."""
    value = shift = 0
    while written[at] & 0x80:
        value |= (written[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | written[at] << shift, at + 1


def jfr_numbers(written: bytes) -> dict[str, int]:
    """Of the types of events, by name: metadata stands behind the header, strings and then a tree of them."""
    def element(at: int) -> int:
        _, at = number_at(written, at)
        count, at = number_at(written, at)
        told: dict[str, str] = {}
        for _ in range(count):
            key, at = number_at(written, at)
            value, at = number_at(written, at)
            told[strings[key]] = strings[value]
        if "id" in told and "name" in told:
            found[told["name"]] = int(told["id"])
        count, at = number_at(written, at)
        for _ in range(count):
            at = element(at)
        return at

    at, strings, found = 68, [], {}
    for _ in range(5):  # size, type, time, duration, number
        _, at = number_at(written, at)
    count, at = number_at(written, at)
    for _ in range(count):
        length, at = number_at(written, at + 1)
        strings.append(written[at:at + length].decode(errors="replace"))
        at += length
    element(at)
    return found


def jfr_events(written: bytes, name: str) -> int:
    """By their look, a size, the type's number and a time: the file of a program whose threads log while it ends is not whole."""
    number = jfr_numbers(written).get(name, 0)
    return len(re.findall(b"[\x0e-\x30]" + re.escape(bytes([number])) + b"[\x80-\xff]{6,7}[\x00-\x7f]", written)) if number else 0


PROOF_BYTES, PROOF_PAIRS, PROOF_ROUNDS = 65536, 20000, 5  # malloc_pairs runs five rounds


def show_that_peers_sample(others: dict[str, Way], folder: Path) -> None:
    """One that preloads well and samples nothing costs little, and is no peer: it is left out."""
    right = PROOF_BYTES * PROOF_PAIRS * PROOF_ROUNDS / MEAN
    for name in [name for name in others if name.startswith("nativemem")]:
        file = folder / "native.jfr"
        file.unlink(missing_ok=True)
        pair_ns(others[name]._replace(slower=1), PROOF_BYTES, PROOF_PAIRS, 1)
        written = file.read_bytes() if file.exists() else b""
        seen, frees = (jfr_events(written, kind) if written else 0 for kind in ("profiler.Malloc", "profiler.Free"))
        samples = abs(seen - right) < 5 * right**0.5
        print(f"{name}: {seen:,} samples where {right:,.0f} are due, {frees:,} frees written, in {len(written) / 1e6:.1f} MB"
              + ("" if samples else ": it does not sample as it should, and is left out"))
        if not samples:
            del others[name]


def pair_ns(way: Way, size: int, pairs: int, threads: int) -> float:
    program = [str(BUILD / "tests/bench/malloc_pairs"), str(size), str(pairs // way.slower), str(threads)]
    told = subprocess.run([*way.words, *program], env={**os.environ, **way.environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, text=True)
    # Some tools talk on the program's standard output.
    return float(next(line for line in told.stdout.splitlines() if re.fullmatch(r"[\d.]+", line)))


def show_pairs(rounds: int, others: dict[str, Way]) -> None:
    ways = {
        "bare": Way(),
        "run": isoscope(),
        "run --alloc": isoscope("--alloc"),
        "off": isoscope("--alloc", "--paused"),  # wrapped, and nothing sampled
        "bare again": Way(),
        **others,
    }
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


def program_s(way: Way, program: list[str], told: str) -> float:
    """Of the program alone, without isoscope's service; heaptrack's own processes count."""
    timer = ["/usr/bin/python3", "-S", "-c", TIMER.format(told)]
    if way.words[:1] == (ISOSCOPE,):  # which sees what is started below
        words = [*way.words, *timer, *program]
    else:
        words = [*timer, "env", *(f"{name}={value}" for name, value in way.environment.items()), *way.words, *program]
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return float(Path(told).read_text())


@contextmanager
def redis(way: Way, folder: Path) -> Iterator[str]:
    """Yields its socket."""
    socket = f"{folder}/redis.sock"
    words = [*way.words, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(words, env={**os.environ, **way.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while redis_says(socket, "ping") != "PONG" and time.monotonic() < deadline:
            time.sleep(0.01)
        yield socket
    finally:
        redis_says(socket, "shutdown", "nosave")
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def redis_says(socket: str, *words: str) -> str:
    return subprocess.run(["redis-cli", "-s", socket, *words], capture_output=True, text=True).stdout.strip()


def redis_s(way: Way, folder: Path) -> float:
    """CPU time of the server, as it tells it, for the same requests."""
    with redis(way, folder) as socket:
        for test in ("set,get", "lpush,lpop,hset"):
            subprocess.run(["redis-benchmark", "-s", socket, "-q", "-t", test, "-n", "200000", "-P", "8", "-r", "100000", "-d", "100"],
                           stdout=subprocess.DEVNULL, check=True)
        used = dict(line.split(":") for line in redis_says(socket, "info", "cpu").splitlines() if ":" in line)
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def show_programs(rounds: int, folder: Path, others: dict[str, Way], memray: str) -> None:
    (folder / "heavy.cc").write_text(CXX)
    heavy, told = str(folder / "heavy"), str(folder / "told")
    subprocess.run(["g++", "-O2", "-o", heavy, str(folder / "heavy.cc")], check=True)
    programs = {
        "python3": ["/usr/bin/python3", str(script_in(folder))],
        "cc1plus": next(one.command for one in real_programs(folder) if one.name == "cc1plus"),
        "C++ map": [heavy],
        **({"redis": []} if shutil.which("redis-server") and shutil.which("redis-benchmark") else {}),
    }
    ways = {"none": Way(), "run": isoscope(), "run --alloc": isoscope("--alloc"), "none again": Way(), **others}
    print("\nCPU time of the program, to none's")
    for name, program in programs.items():
        mine = dict(ways)
        if memray and name == "python3":
            mine["memray's python3"] = Way((memray,))
            mine["memray"] = Way((memray, "-m", "memray", "run", "--native", "-f", "-q", "-o", f"{folder}/memray.bin"))
        seen: dict[str, list[float]] = {way: [] for way in mine}
        for turn in range(rounds):
            for way, words in mine.items():
                if words.slower > 1 and turn:
                    continue  # once: it takes minutes, and shows in one
                try:
                    own = program[1:] if words.words[:1] == (memray,) else program
                    seen[way].append(redis_s(words, folder) if name == "redis" else program_s(words, own, told))
                except subprocess.CalledProcessError:
                    pass
        base = median(seen["none"])
        shares = "".join(f"  {way} {median(times) / base - 1:+.1%}" for way, times in seen.items() if times and way != "none")
        print(f"  {name:9}{base:6.2f} s{shares}", flush=True)


def script_in(folder: Path) -> Path:
    script = folder / "work.py"
    script.write_text(PYTHON)
    return script


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--async-profiler", metavar="LIBRARY", default="", help="its libasyncProfiler.so")
    parser.add_argument("--memray", metavar="PYTHON", default="", help="a python3 that has it")
    args = parser.parse_args()
    print(f"{os.cpu_count()} processors, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}; {args.rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        others = peers(folder, args.async_profiler)
        show_that_peers_sample(others, folder)
        show_pairs(args.rounds, others)
        show_programs(args.rounds, folder, others, args.memray)
    return 0


if __name__ == "__main__":
    sys.exit(main())
