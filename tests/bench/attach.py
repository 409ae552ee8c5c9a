"""Running programs sampled from outside, by each scheme, beside `isoscope run`, none, and peers: what it costs and what it gives.

Interleaved rounds, medians. Slower: CPU time that the same work takes, to none's; the second `none` is the noise. Own: CPU time of what
samples and serves, to the program's. Held: time that threads were stopped, to the program's CPU time; and the longest stop. Delivered: CPU
time that samples stand for, to the program's. Whole: stacks that reach their thread's start. Looks: a CPU second. Apart: total variation of
functions' self CPU time from that of `run` (of perf, where run does not sample the program).

Peers are told with what they are known for: slower, own, looks. py-spy and austin are used where their paths are given.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Callable, Iterator, NamedTuple

from attach_programs import Subject, subjects, until, used_s

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "tests/live")]

WAYS = ("none", "run", "perf", "suspend", "inject", "perf record -g", "perf record dwarf", "eu-stack", "py-spy", "austin", "none again")
OURS = ("run", "perf", "suspend", "inject")


class Refused(Exception):
    """It cannot sample that program; with its own words."""


class Seen(NamedTuple):
    cpu_s: float
    own_s: float = 0
    looks: float = 0
    held_s: float = 0
    held_most_us: float = 0
    told_s: float = 0
    whole: float = 0
    shares: dict[str, float] = {}


# ---- ours ----


def service_pids(isoscope: int, program: int) -> Iterator[int]:
    """All of isoscope's: itself, and `run`'s service."""
    yield isoscope
    for child in Path(f"/proc/{isoscope}/task/{isoscope}/children").read_text().split():
        if int(child) != program:
            yield int(child)


def profile_of(uri: str) -> tuple[float, float, int, dict[str, float]]:
    from isoscope import Client

    shares: dict[str, float] = defaultdict(float)
    whole = samples = looks = 0
    with Client(uri) as client:
        for process in client.processes():
            reply = client.call("_getCpuSamples", isolateId=process.id, timestamp=0)
            names = {function["id"]: function["name"] for function in reply["functions"]}
            looks += reply["_counters"]["ticks"]
            for sample in reply["samples"]:
                samples += 1
                whole += not sample.get("truncated", False)
                if sample["stack"]:
                    shares[names[sample["stack"][0]["function"]["id"]]] += sample["cpuNanos"] / 1e9
    total = sum(shares.values())
    return total, whole / samples if samples else 0, looks, {name: value / total for name, value in shares.items() if total}


def held(stats: str) -> tuple[float, float]:
    """Of --stats: seconds that threads were stopped, and microseconds of the longest time."""
    found = re.search(r"stops +(\d+)  of threads, of (\d+) us on average and (\d+) us at most", stats)
    return (int(found[1]) * int(found[2]) / 1e6, float(found[3])) if found else (0.0, 0.0)


def end(*processes: subprocess.Popen) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
        process.wait()


def by_isoscope(words: argparse.Namespace, way: str, subject: Subject, folder: str) -> Seen:
    isoscope, info = str(words.build / "bin" / "isoscope"), os.path.join(folder, "service.json")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    told = open(os.path.join(folder, "stderr"), "w+")
    options = ["--keep", "--no-runtimes", "--stats", "--quiet", "--write-service-info", info]
    if way == "run":
        sampler = program = subprocess.Popen([isoscope, "run", *options, "--", *subject.command], stderr=told, **pipes)
        subject.ready(program)
        until(lambda: os.path.exists(info), "the service")
        pid = program_of(info)
    else:
        program = subprocess.Popen(subject.command, stderr=subprocess.DEVNULL, **pipes)
        subject.ready(program)
        pid = program.pid
        sampler = subprocess.Popen([isoscope, "attach", *options, "--via", way, str(pid)], stderr=told)
        until(lambda: os.path.exists(info) or sampler.poll() is not None, "attaching")
        if sampler.poll() is not None:
            end(program)
            raise Refused(Path(told.name).read_text().strip().splitlines()[0])
    began = sum(used_s(one) for one in service_pids(sampler.pid, pid))
    cpu_s = subject.work(program, pid)
    time.sleep(0.3)  # what was sampled last is on its way
    own_s = sum(used_s(one) for one in service_pids(sampler.pid, pid)) - began
    told_s, whole, looks, shares = profile_of(json.loads(Path(info).read_text())["uri"])
    end(sampler, program)
    return Seen(cpu_s, own_s, looks, *held(Path(told.name).read_text()), told_s, whole, shares)


def program_of(info: str) -> int:
    """The process that `run` has started."""
    from isoscope import Client

    with Client(json.loads(Path(info).read_text())["uri"]) as client:
        until(client.processes, "the program's samples")
        (process,) = client.processes()
        return client.call("getIsolate", isolateId=process.id)["_process"]["pid"]


# ---- peers ----


def by_perf(way: str, subject: Subject, program: subprocess.Popen, folder: str) -> Seen:
    data = os.path.join(folder, "perf.data")
    graph = ["-g"] if way.endswith("-g") else ["--call-graph", "dwarf"]
    perf = subprocess.Popen(["perf", "record", "-q", *graph, "-F", "999", "-e", "task-clock", "-o", data, "-p", str(program.pid)],
                            stderr=subprocess.DEVNULL)
    until(lambda: os.path.exists(data) or perf.poll() is not None, "perf's beginning")
    if perf.poll() is not None:
        raise Refused("perf record: the kernel refuses it")
    cpu_s = subject.work(program, program.pid)
    perf.send_signal(2)
    until(lambda: Path(f"/proc/{perf.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z", "perf's end")
    own_s = used_s(perf.pid)
    perf.wait()
    told = subprocess.run(["perf", "report", "--stats", "-i", data], capture_output=True, text=True).stdout
    found = re.search(r"SAMPLE events: +(\d+)", told)
    return Seen(cpu_s, own_s, int(found[1]) if found else 0)


LOOP = """
import os, resource, subprocess, sys
looks = 0
print("ready", flush=True)
while os.path.exists(sys.argv[1]):
    looks += subprocess.run(["eu-stack", "-p", sys.argv[2]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(looks, used.ru_utime + used.ru_stime, flush=True)
"""


def by_stacks(subject: Subject, program: subprocess.Popen, folder: str) -> Seen:
    """As many stacks as eu-stack gives, one after the other."""
    flag = Path(folder) / "on"
    flag.touch()
    loop = subprocess.Popen([sys.executable, "-c", LOOP, str(flag), str(program.pid)], stdout=subprocess.PIPE, text=True)
    loop.stdout.readline()
    cpu_s = subject.work(program, program.pid)
    flag.unlink()
    looks, own_s = loop.stdout.readline().split()
    loop.wait()
    return Seen(cpu_s, float(own_s), float(looks))


def by_python_peer(command: list[str], output: str, subject: Subject, program: subprocess.Popen) -> Seen:
    peer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)  # neither says when it has begun
    if peer.poll() is not None:
        raise Refused(f"{command[0]}: status {peer.returncode}")
    cpu_s = subject.work(program, program.pid)
    own_s = used_s(peer.pid)
    peer.send_signal(2)
    peer.wait()
    looks = sum(int(line.rsplit(" ", 1)[1]) for line in Path(output).read_text().splitlines()
                if " " in line and line.rsplit(" ", 1)[1].isdigit()) if os.path.exists(output) else 0
    return Seen(cpu_s, own_s, looks if command[0].endswith("py-spy") else 0)


def by_peer(words: argparse.Namespace, way: str, subject: Subject, folder: str) -> Seen:
    program = subprocess.Popen(subject.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = os.path.join(folder, "peer.txt")
    try:
        subject.ready(program)
        if way.startswith("none"):
            return Seen(subject.work(program, program.pid))
        if way.startswith("perf"):
            return by_perf(way, subject, program, folder)
        if way == "eu-stack":
            return by_stacks(subject, program, folder)
        if way == "py-spy":
            return by_python_peer([words.py_spy, "record", "-r", "1000", "-d", "600", "-f", "raw", "-o", output, "-p", str(program.pid)],
                                  output, subject, program)
        return by_python_peer([words.austin, "-i", "1000", "-o", output, "-p", str(program.pid)], output, subject, program)
    finally:
        end(program)


def measure(words: argparse.Namespace, way: str, subject: Subject) -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        return by_isoscope(words, way, subject, folder) if way in OURS else by_peer(words, way, subject, folder)


# ---- the table ----


def ways_for(words: argparse.Namespace, subject: Subject) -> list[str]:
    there = {
        "run": subject.by_run,
        "perf record -g": bool(shutil.which("perf")),
        "perf record dwarf": bool(shutil.which("perf")),
        "eu-stack": bool(shutil.which("eu-stack")),
        "py-spy": subject.is_python and bool(words.py_spy),
        "austin": subject.is_python and bool(words.austin),
    }
    return [way for way in WAYS if there.get(way, True) and way in {"none", *words.ways}]


def apart(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(abs(one.get(name, 0) - other.get(name, 0)) for name in {*one, *other}) / 2


def row(way: str, of: list[Seen], base: float, reference: list[Seen]) -> str:
    def middle(figure: Callable[[Seen], float]) -> float:
        return median(figure(one) for one in of)

    cpu = middle(lambda one: one.cpu_s)
    line = f"    {way:18}{cpu / base - 1:9.1%}"
    if way.startswith("none"):
        return line
    line += f"{middle(lambda one: one.own_s) / cpu:9.1%}{middle(lambda one: one.looks) / cpu:9.0f}"
    if way not in OURS:
        return line
    line += f"{middle(lambda one: one.told_s) / cpu:11.1%}{middle(lambda one: one.whole):9.1%}"
    line += f"{median(apart(one.shares, other.shares) for one, other in zip(of, reference)):9.1%}" if reference else f"{'-':>9}"
    if way == "suspend":
        line += f"{middle(lambda one: one.held_s) / cpu:9.2%}{max(one.held_most_us for one in of):9.0f}"
    return line


def compare(words: argparse.Namespace, subject: Subject) -> None:
    seen: dict[str, list[Seen]] = {way: [] for way in ways_for(words, subject)}
    refused: dict[str, str] = {}
    for _ in range(words.rounds):
        for way in seen:
            if way not in refused:
                try:
                    seen[way].append(measure(words, way, subject))
                except Refused as why:
                    refused[way] = str(why)
    base = median(one.cpu_s for one in seen["none"])
    print(f"{subject.name} ({base:.2f} s)")
    for way, of in seen.items():
        print(f"    {way:18}{refused[way]}" if way in refused else row(way, of, base, seen.get("run") or seen.get("perf", [])), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", metavar="TEXT", default="", help="programs whose name has TEXT")
    parser.add_argument("--ways", metavar="LIST", type=lambda text: text.split(","), default=list(WAYS),
                        help=f"of {', '.join(WAYS)}; none is always one")
    parser.add_argument("--py-spy", metavar="PATH", help="the program py-spy")
    parser.add_argument("--austin", metavar="PATH", help="the program austin")
    words = parser.parse_args()
    print(f"medians of {words.rounds} rounds at 1 kHz, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors\n")
    print(f"    {'':18}{'slower':>9}{'own':>9}{'looks/s':>9}{'delivered':>11}{'whole':>9}{'apart':>9}{'held':>9}{'most us':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for subject in subjects(words.build / "tests" / "bench", Path(folder)):
            if words.only in subject.name:
                compare(words, subject)


if __name__ == "__main__":
    main()
