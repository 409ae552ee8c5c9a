"""How far are shares from the truth, for an ordinary user beside two busy processes?

    variation.py BUILD_FOLDER [PROGRAM...]

Twenty programs, with two processes that only burn running beside all of it. Total variation is half
the sum of the differences of all shares: 0 % is the same, 100 % has nothing in common.

  threads    isoscope's CPU time by thread, against the kernel's clocks of the threads (schedstat,
             read every 20 ms; a thread's last few milliseconds are missed there)
  time       the CPU time that isoscope tells, of that which the kernel's clocks tell
  functions  isoscope's self time by function, against `perf record` as root of the same run: two
             runs of a program differ by far more (perl's modulo had 14 and 24 % of two)
  perf       the same between two events of perf in that run, of other frequencies: what chance makes
             of it

isoscope runs as user 65534 where this runs as root, else without perf. A program that is not here
is left out, and named. Ends with status 1 when threads are off by over 2 percentage points, when less
than 95 % of the time is told (or the program did not run), or when functions are off by over 3 points
and one and a half times what perf is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from isoscope import Client  # noqa: E402

from against_perf import (USER_STACKS, Functions, busiest, kept_run, of_the_symbol,  # noqa: E402
                          perf_samples, percent, user_leaves, wait_for)
from real_programs import PYTHON, STDLIB_PARSE, Program, programs  # noqa: E402

THREADS_MAX = 2.0  # percentage points
TIME_MIN = 95.0  # percent
FUNCTIONS_MORE_MAX, TIMES_CHANCE_MAX = 3.0, 1.5
FREQUENCIES = (997, 853)
NOBODY = 65534
BUSY = 2
POLL_S = 0.02
PATIENCE_S = 3600  # a busy machine gives a program of seconds little

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
        Program("zstd, 3 threads", ["zstd", "-q", "-12", "-T3", "-c", text]),
        Program("gzip", ["gzip", "-6", "-c", text]),
        Program("bzip2", ["bzip2", "-c", text]),
        Program("sort, 4 threads", ["sort", "--parallel=4", "-S", "200M", "-k2", text]),
        Program("openssl", ["openssl", "speed", "-seconds", "2", "-bytes", "4096", "sha512",
                            "sha256"]),
        Program("bc", ["bc", "-lq", str(folder / "pi.bc")]),
        Program("node, its threads", ["node", "-e", NODE_HASHES]),
        Program("eight threads", [str(bench / "eight_threads"), "24000"]),
    ]


class Told(NamedTuple):
    """Of the process that has most samples: CPU time in ns, and how its self time divides."""

    pid: int
    by_thread: dict[int, int]
    functions: dict[str, float]  # percent


class Seen(NamedTuple):
    """What isoscope tells, the kernel's clocks of the same threads, and each of perf's events."""

    told: Told
    clocks: Mapping[int, int]
    perf: list[dict[str, float]]


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
    for pid in numbers_in("/proc"):
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()  # a program's name may be any bytes
            parents[pid] = int(stat.rpartition(b")")[2].split()[1])
        except OSError:
            pass  # it has ended
    found, more = set(), {root}
    while more:
        found |= more
        more = {pid for pid, parent in parents.items() if parent in more} - found
    return found


def numbers_in(folder: str) -> list[int]:
    """Not by glob, which fails on what ends while it looks."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def clocks_of(pid: int) -> dict[int, int]:
    clocks = {}
    for tid in numbers_in(f"/proc/{pid}/task"):
        try:
            clocks[tid] = int(Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])
        except OSError:
            pass
    return clocks


def see(build: Path, program: Program, folder: Path) -> Seen:
    info, done, data = folder / "service.json", folder / "done", folder / "perf.data"
    for file in (info, done, data):
        file.unlink(missing_ok=True)
    command = beside_perf(as_nobody(kept_run(build, program, info, f": >{done}")), data)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment(folder)) as running:
        clocks = Clocks(running.pid)
        clocks.start()
        try:
            wait_for(done.exists, program.name, PATIENCE_S)
            with Client(json.loads(info.read_text())["uri"]) as client:
                told = tell(client, busiest(client))
        finally:
            clocks.ended.set()
            clocks.join()
            running.terminate()  # perf writes its file, and ends what it has started
    return Seen(told, clocks.by_process.get(told.pid, {}), by_perf(data, told.pid))


def beside_perf(command: list[str], data: Path) -> list[str]:
    if os.geteuid() != 0 or not shutil.which("perf"):
        return command
    events = [word for frequency in FREQUENCIES
              for word in ("-e", f"task-clock/freq={frequency}/")]
    return ["perf", "record", "-q", *USER_STACKS, *events, "-o", str(data), "--", *command]


def by_perf(data: Path, pid: int) -> list[dict[str, float]]:
    """Of each event, how the process's self time divides."""
    if not data.exists():
        return []
    seen, names = perf_samples(data, "pid,event,ip,sym,dso"), Functions()
    return [percent(Counter(names.name(*leaf) for leaf in user_leaves(of_event(seen, pid, frequency))))
            for frequency in FREQUENCIES]


def of_event(seen: list[str], pid: int, frequency: int) -> list[str]:
    first = re.compile(rf"\s*{pid}\b.*freq={frequency}/")
    return [one for one in seen if first.match(one) and not samples(one)]


def samples(sample: str) -> bool:
    """Sampling itself, down to the vdso's clock: that is nobody's function."""
    user = [line for line in sample.splitlines()[1:] if "([kernel" not in line]
    look_at = user[:3] if user and "([vdso])" in user[0] else user[:1]
    return any("/libisoscope.so" in line for line in look_at)


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


def row(build: Path, program: Program, folder: Path) -> bool:
    told, clocks, perf = see(build, program, folder)
    threads = variation(percent(told.by_thread), percent(clocks))
    time = 100 * sum(told.by_thread.values()) / (sum(clocks.values()) or 1)
    line = f"{program.name:24}{len(clocks):8}{threads:10.2f} %{time:9.1f} %"
    good = threads <= THREADS_MAX and time >= TIME_MIN
    if perf:
        functions, chance = variation(told.functions, perf[0]), variation(*perf)
        good &= functions <= TIMES_CHANCE_MAX * chance + FUNCTIONS_MORE_MAX
        line += f"{functions:10.1f} %{chance:8.1f} %"
    print(line if good else f"{line}   MISSED", flush=True)
    return good


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    chosen = set(sys.argv[2:])
    good = True
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
            good &= row(build, program, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
