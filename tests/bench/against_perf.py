"""Beside perf: are the hottest functions the same, are the stacks whole, is the rate the asked one?

    against_perf.py BUILD_FOLDER

Each program runs once under `isoscope run` at 1 kHz and once under `perf record -F 999`. Prints a
table; ends with status 1 when a bound is missed: 99 % whole stacks, 95 % of the asked rate, 3
percentage points for each of the five hottest functions.
"""

from __future__ import annotations

import bisect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from isoscope import Client, Sample  # noqa: E402

from real_programs import Program, programs  # noqa: E402

WHOLE_MIN, RATE_MIN, SHARE_DIFFERENCE_MAX = 0.99, 0.95, 3.0
HOTTEST = 5
USER_STACKS = ("-g", "--user-callchains")  # the kernel's part is its caller's


class Seen(NamedTuple):
    """What isoscope saw of one program."""

    samples: int
    whole: float  # share of stacks that reach the thread's start
    rate: float  # delivered, of those asked for the CPU time used
    shares: dict[str, float]  # self, in percent, by function


def wait_for(condition, what: str, seconds: float = 120.0):
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            sys.exit(f"against_perf: {what} did not happen within {seconds:.0f} s")
        time.sleep(0.02)
    return value


def cpu_seconds(times: str) -> float:
    """The second line of the shell's `times`: user and system time of its children."""
    minutes = re.findall(r"(\d+)m([\d.]+)s", times.strip().splitlines()[-1])
    return sum(int(m) * 60 + float(s) for m, s in minutes)


def kept_run(build: Path, program: Program, info: Path, at_end: str) -> list[str]:
    """Serves on after the program's end, when a shell has done what is to be done then."""
    return [str(build / "bin/isoscope"), "run", "--quiet", "--keep", "--period", "1000",
            "--write-service-info", str(info), "--", "/bin/sh", "-c",
            f'"$@" >/dev/null; {at_end}', "sh", *program.command]


def busiest(client: Client):
    return max(client.processes(), key=lambda one: stored(client, one.id))


def percent(counts: Mapping) -> dict:
    whole = sum(counts.values()) or 1
    return {name: 100.0 * count / whole for name, count in counts.items()}


def see(build: Path, program: Program, folder: Path) -> Seen:
    info, cpu = folder / "service.json", folder / "times"
    info.unlink(missing_ok=True)
    cpu.unlink(missing_ok=True)
    # The shell tells the program's CPU time when it has ended.
    command = kept_run(build, program, info, f"times >{cpu}")
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for(lambda: cpu.exists() and cpu.read_text().count("\n") == 2, program.name, 3600)
            return pull(json.loads(info.read_text())["uri"], cpu_seconds(cpu.read_text()))
        finally:
            running.terminate()


def pull(uri: str, seconds: float) -> Seen:
    with Client(uri) as client:
        process = busiest(client)
        counters = client.call("getIsolate", isolateId=process.id)["_process"]["counters"]
        samples = client.cpu_samples(process).samples
    counts = Counter(of_the_symbol(sample) for sample in samples)
    return Seen(len(samples), counters["end_root"] / counters["delivered"],
                counters["delivered"] / (seconds * 1000.0), percent(counts))


def of_the_symbol(sample: Sample) -> str:
    """perf names symbols: what was inlined into one is the symbol's time."""
    inlined = sample.inlined or (False,)
    return plain(sample.stack[inlined.index(False)].name)


def stored(client: Client, isolate: str) -> int:
    return client.call("getIsolate", isolateId=isolate)["_process"]["counters"]["stored"]


def perf_shares(program: Program, folder: Path) -> dict[str, float]:
    """Self shares by function; time in the kernel is its caller's, as it is isoscope's."""
    data, environment = folder / "perf.data", perf_environment()
    subprocess.run(["perf", "record", "-q", *USER_STACKS, "-F", "999", "-e", "task-clock", "-o",
                    str(data), "--", *program.command], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=environment)
    functions = Functions()
    leaves = user_leaves(perf_samples(data, "comm,ip,sym,dso"))
    return percent(Counter(functions.name(*frame) for frame in leaves))


def perf_samples(data: Path, fields: str) -> list[str]:
    """Each sample as `perf script` shows it: a head, then a line a frame. perf drops a stack to the
    leaf where a number of it can be no address (found by %rbp in code that computes with it): of
    these the leaf alone, which is the register's."""
    whole, leaves = shown(data, fields), shown(data, fields, "--max-stack=1")
    assert len(whole) == len(leaves), data
    return [leaf if "\n" not in sample else sample for sample, leaf in zip(whole, leaves)]


def shown(data: Path, fields: str, *options: str) -> list[str]:
    script = output("perf", "script", "-i", str(data), "-F", fields, *options)
    return [sample.rstrip() for sample in re.split(r"\n\s*\n", script) if sample.strip()]


def user_leaves(samples: list[str]) -> Iterator[tuple[int, str, str]]:
    """Of each sample the innermost frame outside the kernel: offset in the file, symbol, file."""
    for sample in samples:
        for line in sample.splitlines():
            match = re.match(r"\s*([0-9a-f]+) (.+) \(([^()]*)\)$", line)
            if match and not match.group(3).startswith("[kernel"):
                yield int(match.group(1), 16), match.group(2), match.group(3)
                break


class Functions:
    """Names code that has no symbol: perf shows it as offsets in the file, one a pc; here they
    become the functions that the module's unwind data tells of."""

    def __init__(self) -> None:
        self.starts: dict[str, list[int]] = {}
        self.loads: dict[str, list[tuple[int, ...]]] = {}

    def name(self, offset: int, symbol: str, file: str) -> str:
        if symbol != "[unknown]" or not os.path.isfile(file):
            return plain(symbol)
        if file not in self.starts:
            self.read(file)
        at = bisect.bisect_right(self.starts[file], self.address(file, offset))
        return f"{Path(file).name}+0x{self.starts[file][at - 1]:x}" if at else hex(offset)

    def read(self, file: str) -> None:
        frames = output("readelf", "--debug-dump=frames", file)
        self.starts[file] = sorted({int(pc, 16)
                                    for pc in re.findall(r"FDE .* pc=([0-9a-f]+)\.\.", frames)})
        self.loads[file] = [tuple(int(field, 16) for field in fields) for fields in re.findall(
            r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", output("readelf", "-lW", file))]

    def address(self, file: str, offset: int) -> int:
        for start, address, size in self.loads[file]:
            if start <= offset < start + size:
                return offset - start + address
        return offset


def perf_environment() -> dict[str, str]:
    return {**os.environ, "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": ""}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env=perf_environment()).stdout


def plain(name: str) -> str:
    """Demangling differs in spaces, and in how it shows what the compiler made of a function (a part,
    a clone); memcpy and memmove are two names of one code in glibc, as write, __write and
    __GI___libc_write are, of which each has the one it finds first."""
    name = re.sub(r"\(.*| \[[^]]*\]|\.(lto_priv|constprop|isra|part|cold)\b.*", "", name)
    name = name.replace(" ", "").split("@")[0]
    name = name.replace("__memmove_", "__memcpy_")
    return re.sub(r"^(__GI_)?_+(libc_)?(?=[a-z])", "", name)


def compare(seen: Seen, theirs: dict[str, float]) -> list[tuple[str, float, float]]:
    hottest = sorted(seen.shares.items(), key=lambda item: -item[1])[:HOTTEST]
    return [(name, share, theirs.get(name, 0.0)) for name, share in hottest]


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in programs(folder):
            seen = see(build, program, folder)
            rows = compare(seen, perf_shares(program, folder))
            fine = (seen.whole >= WHOLE_MIN and seen.rate >= RATE_MIN and
                    all(abs(ours - theirs) <= SHARE_DIFFERENCE_MAX for _, ours, theirs in rows))
            good &= fine
            print(f"{program.name}: {seen.samples} samples, {100 * seen.whole:.2f} % whole, "
                  f"{100 * seen.rate:.1f} % of the asked rate{'' if fine else '   MISSED'}")
            for function, ours, theirs in rows:
                print(f"    {ours:5.1f} %  perf {theirs:5.1f} %  {ours - theirs:+5.1f}  "
                      f"{function[:70]}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
