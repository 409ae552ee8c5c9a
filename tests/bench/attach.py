"""A running program sampled from outside, by each scheme, beside `isoscope run` and none: what it costs and what it gives.

Interleaved rounds, medians. Slower: CPU time that the same work takes, to none's; the second `none` is the noise. Own: CPU time of what
samples and serves, to the program's. Delivered: CPU time that samples stand for, to the program's. Whole: stacks that reach their thread's
start. Apart: total variation of functions' self CPU time from that of `run` (of perf, where run does not sample the program).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "tests/live")]

PYTHON = """
import time
def heavy(n): return sum(i * i for i in range(n))
def light(n): return sorted(str(i) for i in range(n))
print("ready", flush=True)
input()
wall, cpu = time.monotonic(), time.process_time()
for _ in range(60): heavy(200_000); light(20_000)
print(time.process_time() - cpu, time.monotonic() - wall, flush=True)
"""
WAYS = ("none", "run", "perf", "suspend", "none again")


class Seen(NamedTuple):
    cpu_s: float
    own_s: float
    told_s: float
    whole: float
    looks: int
    shares: dict[str, float]


def used_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


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
    return total, whole / samples if samples else 0, looks, {name: value / total for name, value in shares.items()}


def started(isoscope: str, way: str, command: list[str], info: str) -> tuple[subprocess.Popen, subprocess.Popen | None]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    if way == "run":
        run = subprocess.Popen([isoscope, "run", "--quiet", "--keep", "--no-runtimes", "--write-service-info", info, "--", *command],
                               **pipes)
        assert run.stdout.readline() == "ready\n"
        return run, run
    program = subprocess.Popen(command, **pipes)
    assert program.stdout.readline() == "ready\n"
    if way.startswith("none"):
        return program, None
    attach = subprocess.Popen([isoscope, "attach", "--quiet", "--keep", "--no-runtimes", "--via", way, "--write-service-info", info, str(program.pid)])
    while not os.path.exists(info):
        assert attach.poll() is None
        time.sleep(0.01)
    return program, attach


def measure(isoscope: str, way: str, command: list[str]) -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        info = os.path.join(folder, "service.json")
        program, sampler = started(isoscope, way, command, info)
        program.stdin.write("\n")
        program.stdin.flush()
        cpu_s = float(program.stdout.readline().split()[0])
        own_s, told, whole, looks, shares = 0.0, 0.0, 0.0, 0, {}
        if sampler:
            time.sleep(0.3)  # what was sampled last is on its way
            own_s = sum(used_s(pid) for pid in service_pids(sampler.pid, program.pid))
            told, whole, looks, shares = profile_of(json.loads(Path(info).read_text())["uri"])
        for process in {program, sampler} - {None}:
            process.terminate()
            process.wait()
    return Seen(cpu_s, own_s, told, whole, looks, shares)


def apart(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(abs(one.get(name, 0) - other.get(name, 0)) for name in {*one, *other}) / 2


def compare(isoscope: str, name: str, command: list[str], ways: tuple[str, ...], rounds: int) -> None:
    seen: dict[str, list[Seen]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            seen[way].append(measure(isoscope, way, command))
    base = median(one.cpu_s for one in seen["none"])
    print(name)
    for way, all_of in seen.items():
        cpu = median(one.cpu_s for one in all_of)
        line = f"    {way:12}{cpu / base - 1:9.1%}"
        if not way.startswith("none"):
            reference = seen["run" if "run" in seen else "perf"]
            far = median(apart(one.shares, other.shares) for one, other in zip(all_of, reference))
            line += (f"{median(one.own_s for one in all_of) / cpu:9.1%}{median(one.told_s for one in all_of) / cpu:11.1%}"
                     f"{median(one.whole for one in all_of):9.1%}{median(one.looks for one in all_of) / cpu:9.0f}{far:9.1%}")
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    words = parser.parse_args()
    isoscope, bench = str(words.build / "bin" / "isoscope"), words.build / "tests" / "bench"
    outside = tuple(way for way in WAYS if way != "run")
    print(f"medians of {words.rounds} rounds at 1 kHz, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors\n")
    print(f"    {'':12}{'slower':>9}{'own':>9}{'delivered':>11}{'whole':>9}{'looks/s':>9}{'apart':>9}")
    for name, command, ways in (
        ("C, one thread", [str(bench / "fixed_work"), "1"], WAYS),
        ("C, eight threads", [str(bench / "fixed_work"), "8"], WAYS),
        ("C, static", [str(bench / "fixed_work_static"), "1"], outside),
        ("python3", ["/usr/bin/python3", "-c", PYTHON], WAYS),
    ):
        compare(isoscope, name, command, ways, words.rounds)


if __name__ == "__main__":
    main()
