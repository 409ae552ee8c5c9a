"""The programs of ./dev bench attach: how each is started, and made to do the same work each time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Optional

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 120
PYTHON = """
import time
def heavy(n): return sum(i * i for i in range(n))
def light(n): return sorted(str(i) for i in range(n))
print("ready", flush=True)
input()
cpu = time.process_time()
for _ in range(60): heavy(200_000); light(20_000)
print(time.process_time() - cpu, flush=True)
input()
"""
GO = """
package main

import ("bufio"; "fmt"; "os"; "syscall")

var sink uint64

//go:noinline
func steps(n int) { sum := uint64(0); for i := 0; i < n; i++ { sum = sum*6364136223846793005 + uint64(i) }; sink += sum }

//go:noinline
func deep(depth, n int) { if depth > 0 { deep(depth-1, n) } else { steps(n) }; sink++ }

//go:noinline
func heavy() { deep(20, 30000) }

//go:noinline
func light() { deep(20, 10000) }

func used() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func main() {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	in.ReadString('\\n')
	before := used()
	for i := 0; i < 40000; i++ { heavy(); light() }
	fmt.Println(used() - before)
	in.ReadString('\\n')
}
"""


class Subject(NamedTuple):
    name: str
    command: list[str]
    # Does the work of a program that is there; returns the CPU time that it took.
    work: Callable[[subprocess.Popen, int], float]
    ready: Callable[[subprocess.Popen], None]
    is_python: bool = False
    by_run: bool = True


def used_s(pid: int) -> float:
    """CPU time of a process, to the nanosecond; it may be one that has ended, and nobody has waited for."""
    return time.clock_gettime((~pid << 3) | 2)


def until(done: Callable[[], object], what: str) -> None:
    end = time.monotonic() + DEADLINE_S
    while not done():
        if time.monotonic() > end:
            sys.exit(f"attach: {what} did not happen within {DEADLINE_S} s")
        time.sleep(0.01)


# ---- programs that take a line for a beginning, and say what they have used ----


def line_ready(process: subprocess.Popen) -> None:
    assert process.stdout.readline() == "ready\n"


def line_work(process: subprocess.Popen, pid: int) -> float:
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline().split()[0])


# ---- the compiler: it reads what it compiles from its standard input ----


def compiler(folder: Path) -> Optional[Subject]:
    path = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(path):
        return None
    source = folder / "source.ii"
    text = "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\nint f(const std::string &s)" \
           "{ std::map<std::string, std::regex> m; m[s] = std::regex(s); return std::regex_match(s, m[s]); }\n"
    made = subprocess.run(["g++", "-E", "-x", "c++", "-", "-o", str(source)], input=text, text=True)
    assert made.returncode == 0

    def work(process: subprocess.Popen, pid: int) -> float:
        before = last = used_s(pid)
        process.stdin.write(source.read_text())
        process.stdin.close()
        while True:  # under `run` it is nobody's child here: what it had used is asked while it is there
            try:
                last = used_s(pid)
            except OSError:
                return last - before
            state = Path(f"/proc/{pid}/stat")
            if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
                return last - before
            time.sleep(0.002)

    return Subject("cc1plus", [path, "-quiet", "-O2", "-fpreprocessed", "-", "-o", "/dev/null"], work, lambda process: time.sleep(0.2))


def redis(folder: Path) -> Optional[Subject]:
    server, client = shutil.which("redis-server"), shutil.which("redis-benchmark")
    if not server or not client:
        return None
    socket = folder / "redis.socket"

    def ready(process: subprocess.Popen) -> None:
        until(socket.exists, "redis' socket")

    def work(process: subprocess.Popen, pid: int) -> float:
        before = used_s(pid)
        subprocess.run([client, "-s", str(socket), "-q", "-n", "200000", "-c", "20", "-P", "8", "-t", "set,get,lpush,lrange_100"],
                       stdout=subprocess.DEVNULL, check=True)
        return used_s(pid) - before

    command = [server, "--port", "0", "--unixsocket", str(socket), "--save", "", "--daemonize", "no", "--logfile", "/dev/null"]
    return Subject("redis", command, work, ready)


def go(folder: Path) -> Optional[Subject]:
    compiler_path = shutil.which("go") or ("/usr/local/go/bin/go" if os.path.exists("/usr/local/go/bin/go") else None)
    if not compiler_path:
        return None
    (folder / "main.go").write_text(GO)
    environment = {**os.environ, "GO111MODULE": "off", "CGO_ENABLED": "0"}
    made = subprocess.run([compiler_path, "build", "-o", str(folder / "go"), str(folder / "main.go")], env=environment)
    return Subject("Go", [str(folder / "go")], line_work, line_ready, by_run=False) if made.returncode == 0 else None


def musl(folder: Path) -> Optional[Subject]:
    if not shutil.which("musl-gcc"):
        return None
    program = folder / "musl"
    made = subprocess.run(["musl-gcc", "-O2", "-g", "-static", "-pthread", "-o", str(program), str(ROOT / "tests/bench/fixed_work.c")])
    return Subject("C, static, musl", [str(program), "1"], line_work, line_ready, by_run=False) if made.returncode == 0 else None


def subjects(bench: Path, folder: Path) -> Iterator[Subject]:
    def lines(name: str, *command: str, **more) -> Subject:
        return Subject(name, list(command), line_work, line_ready, **more)

    yield lines("C, one thread", str(bench / "fixed_work"), "1")
    yield lines("C, 8 threads", str(bench / "fixed_work"), "8")
    yield lines("C, 1,000 threads", str(bench / "fixed_work"), "1000")
    yield lines("C, static", str(bench / "fixed_work_static"), "1", by_run=False)
    yield lines("python3", "/usr/bin/python3", "-c", PYTHON, is_python=True)
    for name, make in (("cc1plus", compiler), ("redis", redis), ("Go", go), ("musl", musl)):
        subject = make(folder)
        if subject:
            yield subject
        else:
            print(f"{name}: not on this machine")
