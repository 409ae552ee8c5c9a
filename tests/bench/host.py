"""The host service with 500 programs at 100 Hz: what it costs them, what it takes itself, and memory.

    host.py [BUILD_FOLDER] [--programs N] [--pairs N] [--slice SECONDS]

All programs are busy. Slices with sampling on and off take turns (`_enableProfiler`), and the ratio is of turns that all of them did for
each second of CPU time that they got; off/off, of neighbouring slices without sampling, is the noise. Service: CPU time of the host and its
rooms in slices with sampling, of all processors' time. Memory: PSS of the service, and of the programs with and without the
preload. Aims: 1 % of the programs' work, 2 % of the machine for the service, 64 MiB beside the history.
"""

from __future__ import annotations

import argparse
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from isoscope.cli.host import rooms  # noqa: E402
from isoscope.client import Client  # noqa: E402

SLOT_BYTES, SLOTS = 64, 4096


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(fields[0]) / 1e9


def tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += tree(int(child))
    return found


def all_threads_cpu_s(pids: list[int]) -> float:
    total = 0.0
    for pid in pids:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0]) / 1e9
    return total


def pss_mib(pids: list[int]) -> float:
    kib = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                kib += int(line.split()[1])
    return kib / 1024


class Programs:
    def __init__(self, build: Path, folder: Path, count: int, environment: list[str]) -> None:
        path = folder / "words"
        path.write_bytes(bytes(SLOT_BYTES * SLOTS))
        self.file = open(path, "r+b")
        self.words = mmap.mmap(self.file.fileno(), SLOT_BYTES * SLOTS)
        worker = str(build / "tests/bench/host_worker")
        # The rest of the machine goes first, the bench itself, too.
        self.list = [subprocess.Popen(["/usr/bin/nice", "-n", "19", "/usr/bin/env", *environment, worker, str(path),
                                       str(number)]) for number in range(1, count + 1)]
        self.pids = [program.pid for program in self.list]
        until(lambda: all(Path(f"/proc/{pid}/comm").read_text() == "host_worker\n" for pid in self.pids), 120, "all programs")
        struct.pack_into("Q", self.words, 16, 1)

    def turns(self) -> int:
        return sum(struct.unpack_from("Q", self.words, SLOT_BYTES * number)[0]
                   for number in range(1, len(self.list) + 1))

    def work(self, seconds: float) -> tuple[float, float]:
        """Turns for each second of their CPU time, and these seconds."""
        turns, cpu = self.turns(), sum(map(cpu_s, self.pids))
        time.sleep(seconds)
        got = sum(map(cpu_s, self.pids)) - cpu
        return (self.turns() - turns) / got, got

    def end(self) -> None:
        struct.pack_into("Q", self.words, 8, 1)
        for program in self.list:
            program.wait()


def until(condition, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {seconds:g} s")
        time.sleep(0.2)


def measure(words: argparse.Namespace, folder: Path) -> None:
    build, path = words.build.resolve(), str(folder / "iso.sock")
    bare = Programs(build, folder, words.programs, [])
    time.sleep(5)
    bare_mib = pss_mib(bare.pids)
    bare.end()
    host = subprocess.Popen([str(build / "bin/isoscope"), "serve", "--quiet", "--socket", path,
                             "--state", str(folder / "state")])
    until(lambda: os.path.exists(path), 30, "the service")
    programs = Programs(build, folder, words.programs, [
        f"LD_PRELOAD={build / 'lib/libisoscope.so.0'}", f"ISOSCOPE_SOCKET={path}"])
    try:
        with Client(rooms(path)[0].uri) as client:
            def sampled() -> int:
                return sum(1 for one in client.methods.private_get_process_list()["processes"] if one["samples"])

            until(lambda: sampled() == words.programs, 600, "samples of all programs")
            on, off, noise, service, spent = [], [], [], 0.0, 0.0
            for _ in range(words.pairs):
                slices = []
                for wanted in (True, False, False):
                    client.methods.private_enable_profiler(enable=wanted)
                    before, began = all_threads_cpu_s(tree(host.pid)), time.monotonic()
                    rate, _ = programs.work(words.slice)
                    if wanted:
                        service += all_threads_cpu_s(tree(host.pid)) - before
                        spent += time.monotonic() - began
                    slices.append(rate)
                on.append(slices[0] / slices[1])
                noise.append(slices[2] / slices[1])
            client.methods.private_enable_profiler(enable=True)
            listed = client.methods.private_get_process_list()["processes"]
            began = time.monotonic()
            client.methods.private_get_process_list()
            asked_ms = (time.monotonic() - began) * 1000
        own = pss_mib(tree(host.pid))
        preloaded = pss_mib(programs.pids)
    finally:
        programs.end()
        host.terminate()
        host.wait()
    processors = os.cpu_count() or 1
    print(f"{words.programs} programs at 100 Hz, {words.pairs} pairs of slices of {words.slice:g} s, {processors} processors, "
          f"load {os.getloadavg()[0]:.0f}")
    print(f"work, sampled/not    {median(on):.4f}   ({min(on):.4f} to {max(on):.4f})")
    print(f"work, not/not        {median(noise):.4f}   ({min(noise):.4f} to {max(noise):.4f})")
    print(f"service              {100 * service / spent / processors:.2f} % of all processors")
    print(f"service's memory     {own:.1f} MiB (PSS), {sum(one['samples'] for one in listed)} samples stored")
    print(f"a program's memory   {bare_mib / words.programs:.3f} MiB, preloaded {preloaded / words.programs:.3f} MiB (PSS)")
    print(f"list of processes    {asked_ms:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--slice", type=float, default=2)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iso-host-") as folder:
        measure(words, Path(folder))


if __name__ == "__main__":
    main()
