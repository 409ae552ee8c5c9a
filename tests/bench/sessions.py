"""Session files: bytes per sample beside pprof's and perf's, what writing costs, how large ones open.

    sessions.py BUILD_FOLDER [SECONDS]      ./dev bench sessions [SECONDS]; 60 unless told

python3, cc1plus and a program of 16 threads use that much CPU time under `isoscope record` at 1 kHz, and under `perf record`
where there is perf. The share of writing is that of the recorder's thread in the CPU time of all threads of
the service, without the symbol worker, which reads debug data and would do so for any client. Then a session of 10
million samples is made by the recorder's own writer and opened.
"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from real_programs import PYTHON, STDLIB_PARSE, programs  # noqa: E402

LARGE, OPENINGS = 10_000_000, 5
AIMED_AT = {"python3": 6.0, "cc1plus": 12.0}  # bytes per sample that are aimed at
SHARE = 0.20


class Recorded(NamedTuple):
    samples: int
    bytes: int
    pprof: Optional[int]
    share: float  # of writing, in the service's CPU time
    seconds: float  # of the service's CPU


def commands_of(build: Path, folder: Path, seconds: int) -> dict[str, list[str]]:
    """Each uses so many seconds of CPU time, however busy the machine is: at 1 kHz that is how many samples there are."""
    compiler = next(program for program in programs(folder) if program.name == "cc1plus")
    limited = ["/bin/sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh"]
    return {
        "python3": [*limited, PYTHON, "-c", STDLIB_PARSE.format(turns=1_000_000)],
        "cc1plus": ["/bin/sh", "-c", f'while [ "$(cut -d" " -f16 /proc/$$/stat)" -lt {seconds}00 ]; do "$@"; done', "sh",
                    *compiler.command],
        "16 threads": [*limited, str(build / "tests/bench/many_paths"), "16"],
    }


def children(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def thread_times(pid: int) -> dict[str, float]:
    """CPU seconds by the names of a process's threads."""
    times: dict[str, float] = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        times[name] = times.get(name, 0.0) + used
    return times


class Watch(threading.Thread):
    """The service of an `isoscope run`: the child, or itself, that has a recorder."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.times, self.ended = pid, {}, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.1):
            for pid in [self.pid, *children(self.pid)]:
                try:
                    times = thread_times(pid)
                except OSError:
                    continue
                if "iso-recorder" in times:
                    self.times = times


def record(build: Path, command: list[str], file: Path) -> Recorded:
    isoscope = str(build / "bin/isoscope")
    process = subprocess.Popen([isoscope, "record", "--period", "1000", "-o", str(file), "--", *command],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    watch = Watch(process.pid)
    watch.start()
    words = process.stderr.read()
    process.wait()
    watch.ended.set()
    watch.join()
    if not file.exists():
        sys.exit(f"sessions: {' '.join(command)}: {words}")
    told = dict(line.split() for line in bench(build, "open", str(file)).splitlines())
    served = {name: used for name, used in watch.times.items() if name != "iso-symbols"}
    whole = sum(served.values())
    return Recorded(int(told["samples"]), file.stat().st_size, exported(isoscope, file),
                    served.get("iso-recorder", 0.0) / whole if whole else 0.0, whole)


def exported(isoscope: str, file: Path) -> Optional[int]:
    """Bytes of the same samples as pprof's."""
    out = file.with_suffix(".pb.gz")
    made = subprocess.run([isoscope, "export", "-o", str(out), "pprof", str(file)],
                          capture_output=True, text=True)
    return out.stat().st_size if made.returncode == 0 else None


def perf_bytes(command: list[str], folder: Path) -> Optional[tuple[int, int]]:
    """Samples and bytes of perf.data with call chains by frame pointers: its smallest."""
    data = folder / "perf.data"
    perf = shutil.which("perf")
    if not perf:
        return None
    subprocess.run([perf, "record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", str(data), "--", *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not data.exists():
        return None
    told = subprocess.run([perf, "report", "-i", str(data), "--stdio", "--no-children", "-g", "none", "-n"],
                          capture_output=True, text=True).stdout
    counts = [line.rpartition(":")[2].split()[0] for line in told.splitlines() if line.startswith("# Samples:")]
    number = counts[0] if counts else "0"
    samples = int(float(number.rstrip("KM")) * {"K": 1e3, "M": 1e6}.get(number[-1], 1))
    return samples, data.stat().st_size


def bench(build: Path, *words: str) -> str:
    return subprocess.run([str(build / "tests/bench/sessions_bench"), *words], check=True,
                          capture_output=True, text=True).stdout


def each(bytes_: Optional[int], samples: int) -> str:
    return f"{bytes_ / samples:8.2f}" if bytes_ and samples else "       -"


def programs_table(build: Path, folder: Path, seconds: int) -> bool:
    commands = commands_of(build, folder, seconds)
    good = True
    print(f"{'program':12} {'samples':>8} {'session':>8} {'pprof':>8} {'perf.data':>9} {'of':>8}   bytes/sample; writing")
    for name, command in commands.items():
        one = record(build, command, folder / f"{name.split()[-1]}.isoscope")
        perf = perf_bytes(command, folder)
        per_sample = one.bytes / max(one.samples, 1)
        good &= per_sample <= AIMED_AT.get(name, 1e9) and one.share <= SHARE
        print(f"{name:12} {one.samples:8} {per_sample:8.2f} {each(one.pprof, one.samples)} "
              f" {each(perf[1], perf[0]) if perf else '       -'} {perf[0] if perf else '-':>8}   "
              f"{one.share:6.1%} of the service's {one.seconds:.2f} s",
              flush=True)
    return good


def large(build: Path, folder: Path) -> bool:
    file = folder / "large.isoscope"
    made = dict(line.split() for line in bench(build, "make", str(file), str(LARGE)).splitlines())
    runs = [dict(line.split() for line in bench(build, "open", str(file)).splitlines())
            for _ in range(OPENINGS)]
    middle = {name: statistics.median(float(run[name]) for run in runs) for name in runs[0]}
    print(f"\n{LARGE:,} samples: {file.stat().st_size / 1e6:.1f} MB, {float(made['bytes_per_sample']):.2f} bytes "
          f"and {float(made['writing_ns_per_sample']):.0f} ns of writing each")
    print(f"opened in {middle['open_seconds']:.2f} s, with {middle['open_mib']:.0f} MiB; first window of 10 s "
          f"({middle['window_samples']:.0f} samples) {middle['window_seconds']:.3f} s, {middle['window_mib']:.0f} MiB")
    print(f"all of them in one snapshot {middle['all_seconds']:.2f} s, {middle['all_mib']:.0f} MiB; afterwards "
          f"{middle['after_mib']:.0f} MiB")
    return middle["open_seconds"] <= LARGE / 1e7


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, seconds = Path(sys.argv[1]), int(sys.argv[2] if len(sys.argv) == 3 else 60)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as name:
        small = programs_table(build, Path(name), seconds)
        many = large(build, Path(name))
    if not small or not many:
        sys.exit("sessions: a bound is missed")


if __name__ == "__main__":
    main()
