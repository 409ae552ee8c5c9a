"""How far are shares from the truth, for an ordinary user beside two busy processes?

    variation.py BUILD_FOLDER [PROGRAM...]

Twenty programs, with two processes that only burn running beside all of it. Total variation is half
the sum of the differences of all shares: 0 % is the same, 100 % has nothing in common.

  threads    isoscope's CPU time by thread, against the kernel's clocks of the threads (schedstat,
             read every 20 ms; a thread's last few milliseconds are missed there)
  time       the CPU time that isoscope tells, of that which the kernel's clocks tell
  functions  isoscope's self time by function, against `perf record` as root
  perf       the same between two runs of perf: what chance and the program itself make of it

isoscope runs as user 65534 where this runs as root. A program that is not here is left out, and
named. Ends with status 1 when threads are off by over 2 percentage points.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from isoscope import Client  # noqa: E402

from against_perf import busiest, kept_run, of_the_symbol, percent, perf_shares, wait_for  # noqa: E402
from real_programs import PYTHON, STDLIB_PARSE, Program, programs  # noqa: E402

THREADS_MAX = 2.0  # percentage points
NOBODY = 65534
BUSY = 2
POLL_S = 0.02

PYTHON_THREADS = """
import hashlib, threading, zlib
data = bytes(range(256)) * 40000
def work(n):
    for i in range(25 * n): zlib.crc32(data); hashlib.sha256(data).digest(); sum(range(20000))
threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
[t.start() for t in threads]; [t.join() for t in threads]
"""
NODE_HASHES = """
const crypto = require("crypto");
let left = 14;
for (let i = 0; i < left; i++) crypto.pbkdf2("secret", "salt" + i, 700000, 64, "sha512", () => {});
"""
PERL = 'my %c; for my $i (1..6000000) { $c{$i % 5000} .= "x" if $i % 3; } print scalar(keys %c), "\\n";'
AWK = 'BEGIN { for (i = 0; i < 9000000; i++) { c[i % 5000] += i % 7 } for (k in c) s += c[k]; print s }'
LUA = "local t = {} for i = 1, 3e7 do t[i % 5000] = (t[i % 5000] or 0) + i % 7 end print(#t)"
JQ = "[range(1500000) | {a: ., b: (. % 7)}] | group_by(.b) | map(length)"


def as_nobody(command: list[str]) -> list[str]:
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return [*words, *command] if os.geteuid() == 0 else command


def within_reach(build: Path, folder: Path) -> Path:
    """Of that user: a copy where the build lies in a folder that he may not pass."""
    probe = as_nobody([str(build / "bin/isoscope"), "run", "--quiet", "/bin/true"])
    if subprocess.run(probe, capture_output=True, env=environment(folder)).returncode == 0:
        return build
    copy = folder / "build"
    for part in ("bin/isoscope", "tests/bench/eight_threads", *libraries(build)):
        (copy / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / part, copy / part, follow_symlinks=False)
    return copy


def libraries(build: Path) -> list[str]:
    return [str(file.relative_to(build)) for file in (build / "lib").glob("libisoscope.so*")]


def environment(folder: Path) -> dict[str, str]:
    found = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}
    found.pop("XDG_RUNTIME_DIR", None)
    return found


def twenty(build: Path, folder: Path) -> list[Program]:
    words, compressed = folder / "words", folder / "words.xz"
    words.write_bytes(b"".join(b"%d word %d\n" % (i * 7919 % 1000003, i) for i in range(2500000)))
    with open(compressed, "wb") as out:
        subprocess.run(["xz", "-0", "-c", str(words)], check=True, stdout=out)
    bench = build / "tests/bench"
    text = str(words)
    return [
        *programs(folder),
        Program("python3, threads", [PYTHON, "-c", PYTHON_THREADS]),
        Program("python3, -X perf off", [PYTHON, "-c", STDLIB_PARSE.format(turns=4)]),
        Program("perl", ["perl", "-e", PERL]),
        Program("mawk", ["mawk", AWK]),
        Program("luajit, interpreter", ["luajit", "-j", "off", "-e", LUA]),
        Program("jq", ["jq", "-n", JQ]),
        Program("xz", ["xz", "-3", "-T1", "-c", text]),
        Program("xz, 4 threads", ["xz", "-2", "-T4", "--block-size=2MiB", "-c", text]),
        Program("xz, decompressing", ["xz", "-d", "-c", str(compressed)]),
        Program("zstd, 3 threads", ["zstd", "-q", "-15", "-T3", "-c", text]),
        Program("gzip", ["gzip", "-6", "-c", text]),
        Program("bzip2", ["bzip2", "-c", text]),
        Program("sort, 4 threads", ["sort", "--parallel=4", "-S", "200M", "-k2", text]),
        Program("openssl", ["openssl", "speed", "-seconds", "2", "-bytes", "4096", "sha512",
                            "sha3-256"]),
        Program("bc", ["bc", "-lq", str(folder / "pi.bc")]),
        Program("node, its threads", ["node", "-e", NODE_HASHES]),
        Program("eight threads", [str(bench / "eight_threads"), "24000"]),
    ]


class Told(NamedTuple):
    """Of the process that has most samples: CPU time in ns, and how its self time divides."""

    pid: int
    by_thread: dict[int, int]
    functions: dict[str, float]  # percent


class Clocks(threading.Thread):
    """Reads the clocks of all threads below a process, until it is stopped."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.ended = root, threading.Event()
        self.by_process: dict[int, dict[int, int]] = {}

    def run(self) -> None:
        while not self.ended.wait(POLL_S):
            for pid in below(self.root):
                self.by_process.setdefault(pid, {}).update(clocks_of(pid))


def below(root: int) -> set[int]:
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has ended
    found, more = set(), {root}
    while more:
        found |= more
        more = {pid for pid, parent in parents.items() if parent in more} - found
    return found


def clocks_of(pid: int) -> dict[int, int]:
    clocks = {}
    for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            clocks[int(stat.parent.name)] = int(stat.read_text().split()[0])
        except OSError:
            pass
    return clocks


def see(build: Path, program: Program, folder: Path) -> tuple[Told, Mapping[int, int]]:
    """What isoscope tells, and the kernel's clocks of the same threads."""
    info, done = folder / "service.json", folder / "done"
    for file in (info, done):
        file.unlink(missing_ok=True)
    command = as_nobody(kept_run(build, program, info, f": >{done}"))
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment(folder)) as running:
        clocks = Clocks(running.pid)
        clocks.start()
        try:
            wait_for(done.exists, program.name, 300)
            with Client(json.loads(info.read_text())["uri"]) as client:
                process = busiest(client)
                told = tell(client, process)
        finally:
            clocks.ended.set()
            clocks.join()
            running.terminate()
    return told, clocks.by_process.get(told.pid, {})


def tell(client: Client, process) -> Told:
    by_thread: Counter[int] = Counter()
    functions: Counter[str] = Counter()
    told = client.cpu_samples(process)
    for sample in told.samples:
        by_thread[sample.tid] += sample.cpu_ns or 0
        functions[of_the_symbol(sample)] += sample.cpu_ns or 0
    return Told(told.pid or 0, by_thread, percent(functions))


def variation(ours: Mapping, theirs: Mapping) -> float:
    return sum(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in {*ours, *theirs}) / 2


@contextmanager
def busy() -> Iterator[None]:
    burning = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for one in burning:
            one.kill()
            one.wait()


def by_perf(program: Program, folder: Path) -> Optional[dict[str, float]]:
    try:
        return perf_shares(program, folder)
    except (OSError, subprocess.CalledProcessError):
        return None  # no perf, or not for this user


def row(build: Path, program: Program, folder: Path) -> float:
    told, clocks = see(build, program, folder)
    first, second = by_perf(program, folder), by_perf(program, folder)
    threads = variation(percent(told.by_thread), percent(clocks))
    functions = [f"{variation(told.functions, first):8.1f} %", f"{variation(first, second):6.1f} %"] \
        if first and second else ["       -", "     -"]
    print(f"{program.name:24}{len(clocks):8}{threads:10.2f} %"
          f"{100 * sum(told.by_thread.values()) / (sum(clocks.values()) or 1):9.1f} %"
          f"{functions[0]:>12}{functions[1]:>10}", flush=True)
    return threads


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    chosen = set(sys.argv[2:])
    worst = 0.0
    with tempfile.TemporaryDirectory() as name, busy():
        folder = Path(name)
        folder.chmod(0o777)
        build = within_reach(build, folder)
        (folder / "pi.bc").write_text("scale=2600; 4*a(1)\nscale=2000; e(1.5)\n")
        print(f"{'program':24}{'threads':>8}{'variation':>12}{'time':>11}{'functions':>12}{'perf':>10}")
        for program in twenty(build, folder):
            if chosen and program.name not in chosen:
                continue
            if not shutil.which(program.command[0]):
                print(f"{program.name}: left out, {program.command[0]} is not here")
                continue
            worst = max(worst, row(build, program, folder))
    return 1 if worst > THREADS_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
