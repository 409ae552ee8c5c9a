"""`isoscope dump PID` beside eu-stack and gdb: time, how long the program is held, and how many stacks are whole.

Interleaved rounds, medians. CPU: what the tool used; its time is that and more where the machine is busy. Held: what a thread that looks
at the clock all the time was kept from it (tests/bench/held.c); `none` is the same for as long without a tool. Stopped: how long isoscope
itself says that this thread was. Whole: stacks whose last frame is a thread's first. Bound: 200 ms for 100 threads, of CPU time where
more wants to run than there are processors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
THREADS, BOUND_S = 100, 0.2
ROOTS = ("_start", "clone", "clone3", "__clone", "__clone3", "main", "_start_c",
         "runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.mcall", "runtime.goexit.abi0", "runtime.mstart.abi0",
         "runtime.rt0_go.abi0")
GO = """
package main
import ("sync"; "time")
func spin() { for i := 0; ; i++ { } }
func main() { var m sync.Mutex; m.Lock(); go spin(); go m.Lock(); time.Sleep(time.Hour) }
"""


class Tool(NamedTuple):
    name: str
    command: Callable[[int], list[str]]
    whole: Callable[[str], tuple[int, int]]  # stacks that are whole, all stacks
    stopped_us: Callable[[str], float] | None = None  # of the thread that was stopped longest, as it says itself


class Took(NamedTuple):
    seconds: float
    cpu_seconds: float
    stopped_us: float
    held_us: float
    longest_us: float
    whole: int
    stacks: int


def whole_of_json(text: str) -> tuple[int, int]:
    threads = json.loads(text)["threads"]
    return sum(thread["whole"] for thread in threads), len(threads)


def stopped_of_json(text: str) -> float:
    return max(thread.get("stoppedMicros", 0) for thread in json.loads(text)["threads"])


def whole_of_text(head: str, frame: str) -> Callable[[str], tuple[int, int]]:
    """head: a line that begins a thread; frame: one of its frames, with the function as its group."""
    def count(text: str) -> tuple[int, int]:
        last: list[str] = []
        for line in text.splitlines():
            if re.match(head, line):
                last.append("")
            elif last and (found := re.match(frame, line)):
                last[-1] = found.group(1)
        return sum(name in ROOTS for name in last), len(last)

    return count


def tools(isoscope: str) -> list[Tool]:
    every = [
        Tool("isoscope", lambda pid: [isoscope, "dump", "--json", str(pid)], whole_of_json, stopped_of_json),
        Tool("... --no-lines", lambda pid: [isoscope, "dump", "--json", "--no-lines", str(pid)], whole_of_json, stopped_of_json),
        Tool("eu-stack", lambda pid: ["eu-stack", "-n", "0", "-p", str(pid)],
             whole_of_text(r"TID ", r"#\d+\s+0x\w+(?: - \d+)?\s+(\S+)")),
        Tool("eu-stack -is", lambda pid: ["eu-stack", "-i", "-s", "-n", "0", "-p", str(pid)],
             whole_of_text(r"TID ", r"#\d+\s+0x\w+(?: - \d+)?\s+(\S+)")),
        Tool("gdb", lambda pid: ["gdb", "-q", "-batch", "-nx", "-p", str(pid), "-ex", "thread apply all bt"],
             whole_of_text(r"Thread \d", r"#\d+\s+(?:0x\w+ in )?(\S+) \(")),
    ]
    return [tool for tool in every if shutil.which(tool.command(0)[0])]


def ask(program: subprocess.Popen) -> tuple[float, float]:
    program.stdin.write("\n")
    program.stdin.flush()
    held, longest = program.stdout.readline().split()
    return float(held), float(longest)


def ran(tool: Tool, pid: int, program: subprocess.Popen | None) -> Took:
    if program:
        ask(program)
    began, before = time.monotonic(), children_s()
    done = subprocess.run(tool.command(pid), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "DEBUGINFOD_URLS": ""})
    seconds = time.monotonic() - began
    used = children_s() - before
    held = ask(program) if program else (0.0, 0.0)
    stopped_us = tool.stopped_us(done.stdout) if tool.stopped_us else 0.0
    return Took(seconds, used, stopped_us, *held, *tool.whole(done.stdout))


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(name: str, took: list[Took], held: bool) -> None:
    def of(field: str) -> float:
        return median(getattr(one, field) for one in took)

    stopped = f"{of('held_us') / 1000:12.2f}{of('longest_us') / 1000:12.2f}" if held else ""
    said = f"{of('stopped_us') / 1000:12.2f}" if of("stopped_us") else ""
    print(f"    {name:14}{of('seconds') * 1000:10.0f}{of('cpu_seconds') * 1000:8.0f}{of('whole'):9.0f}/{of('stacks'):<5.0f}"
          f"{stopped or ' ' * 24 * bool(said)}{said}")


def compare(every: list[Tool], pid: int, rounds: int, program: subprocess.Popen | None = None) -> dict[str, list[Took]]:
    took: dict[str, list[Took]] = {tool.name: [] for tool in every}
    for tool in every:
        ran(tool, pid, program)  # what is read from the disk is in memory from here on
    for _ in range(rounds):
        for tool in every:
            took[tool.name].append(ran(tool, pid, program))
    for name, one in took.items():
        row(name, one, bool(program))
    return took


def hundred_threads(build: Path, every: list[Tool], rounds: int) -> bool:
    program = subprocess.Popen([build / "tests" / "bench" / "held", str(THREADS)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    none = []
    for _ in range(rounds):
        ask(program)
        time.sleep(0.15)
        none.append(ask(program))
    print(f"{THREADS} threads that sleep, one that looks at the clock")
    took = compare(every, program.pid, rounds, program)
    print(f"    {'none':14}{150:10}{'':23}{median(n[0] for n in none) / 1000:12.2f}"
          f"{median(n[1] for n in none) / 1000:12.2f}")
    program.kill()
    program.wait()
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return median(one.cpu_seconds if busy else one.seconds for one in took["isoscope"]) <= BOUND_S


def programs(build: Path, folder: Path) -> list[tuple[str, list[str]]]:
    deadlock = str(build / "tests" / "workloads" / "deadlock")
    every = [("C", [deadlock]), ("C, static", [f"{deadlock}_static"]),
             ("python3", ["/usr/bin/python3", "-c", "import time; time.sleep(1000)"]),
             ("node", ["node", "-e", "setTimeout(() => { for (;;); }, 10)"]),
             ("redis", ["redis-server", "--port", "0", "--unixsocket", str(folder / "redis")])]
    if shutil.which("go"):
        (folder / "main.go").write_text(GO)
        subprocess.run(["go", "build", "-o", "spins", "main.go"], cwd=folder, check=True,
                       env={**os.environ, "GOFLAGS": "-mod=mod"})
        every.append(("Go", [str(folder / "spins")]))
    if shutil.which("musl-gcc"):
        source = ROOT / "tests" / "workloads" / "deadlock.c"
        subprocess.run(["musl-gcc", "-O2", "-static", "-D_GNU_SOURCE", "-idirafter", "/usr/include", "-idirafter",
                        "/usr/include/x86_64-linux-gnu", "-o", folder / "musl", source], check=True)
        every.append(("musl, static", [str(folder / "musl")]))
    return [(name, command) for name, command in every if shutil.which(command[0])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=9)
    words = parser.parse_args()
    every = tools(str(words.build / "bin" / "isoscope"))
    print(f"medians of {words.rounds} rounds, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; milliseconds\n")
    print(f"    {'':14}{'time':>10}{'cpu':>8}{'whole':>11}{'held':>16}{'longest':>12}{'stopped':>12}")
    good = hundred_threads(words.build, every, words.rounds)
    with tempfile.TemporaryDirectory() as name:
        for program, command in programs(words.build, Path(name)):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(1)  # it has begun
            print(program)
            compare(every, process.pid, max(words.rounds // 3, 1))
            process.kill()
            process.wait()
    print("bound kept" if good else f"BOUND MISSED: {BOUND_S * 1000:.0f} ms for {THREADS} threads")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
