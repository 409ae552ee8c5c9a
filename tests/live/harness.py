"""Programs under `isoscope run --keep`, and what their service has to say afterwards.

    with profiled([workload("forks")]) as service:      # the program has ended, its service has not
        tree = service.tree()

Waiting is for a condition with a deadline. Only processes started here are ended here.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ISOSCOPE_BUILD") or ROOT / "build").resolve()
ISOSCOPE = str(BUILD / "bin" / "isoscope")
DEADLINE_S = 60

sys.path[:0] = [str(ROOT / "clients" / "python" / "src"), str(ROOT / "tests" / "schemas")]

import isoscope  # noqa: E402
from isoscope import CallTree  # noqa: E402
from isoscope.client import TIMEOUT_S  # noqa: E402
from isoscope.transport import WebSocketTransport  # noqa: E402
from wire_schema import WireChecker  # noqa: E402


def workload(name: str) -> str:
    return str(BUILD / "tests" / "workloads" / name)


def until(condition, what: str, deadline_s=DEADLINE_S):
    """The condition's first true value."""
    deadline = time.monotonic() + deadline_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {deadline_s} s"
        time.sleep(0.01)
    return value


def measured(test):
    """Of a figure that chance and a busy machine are in: measured once more before it fails."""
    @functools.wraps(test)
    def twice(*words, **named):
        try:
            return test(*words, **named)
        except AssertionError as missed:
            print(f"measured again: {missed}")
            return test(*words, **named)

    return twice


def started_by(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_service(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "isoscope-serve\n"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_copy(child: int, parent: int) -> bool:
    """A child of isoscope's that has just been forked: the service, or a program to be."""
    try:
        return (Path(f"/proc/{parent}/comm").read_text() == "isoscope\n" and
                Path(f"/proc/{child}/cmdline").read_bytes()
                == Path(f"/proc/{parent}/cmdline").read_bytes())
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """What it has started, but for isoscope's own service."""
    return [child for child in started_by(pid)
            if not is_service(child) and not is_copy(child, pid)]


def cpu_s(pid: int) -> float:
    """Of the process, of all below it, and of those that were waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_s(child) for child in started_by(pid))


def until_ended(pid: int) -> None:
    """The programs that isoscope has started. A busy machine gives them little: the deadline is one
    of their CPU time, and of time in which they use none."""
    used, since = 0.0, time.monotonic()
    while programs := children(pid):
        now = max(used, sum(map(cpu_s, programs)))
        since = time.monotonic() if now > used else since
        used = now
        assert used < DEADLINE_S and time.monotonic() - since < DEADLINE_S, \
            f"the program's end: {used:.1f} s of CPU time, and it runs"
        time.sleep(0.01)


def service_pid(isoscope: int) -> int:
    """The process that serves, beside the program."""
    return until(lambda: [p for p in started_by(isoscope) if is_service(p)], "the service")[0]


def has_buried(pid: int) -> bool:
    """A child of its has ended, and was waited for: its page faults count as the parent's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[8]) > 0  # cminflt


class CheckedTransport(WebSocketTransport):
    """Raises on a reply or an event that breaks its schema."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri, TIMEOUT_S)
        self.checker = WireChecker()

    def send(self, text: str) -> None:
        self.checker.sent(text)
        super().send(text)

    def receive(self) -> bytes:
        text = super().receive()
        self.checker.received(text.decode())
        return text


class Client(isoscope.Client):
    """The Python client, on checked ground."""

    def __init__(self, uri: str) -> None:
        super().__init__(transport=CheckedTransport(uri))


class Service:
    """One `isoscope run`, seen from outside."""

    def __init__(self, process: subprocess.Popen, uri: str) -> None:
        self.process = process
        self.uri = uri

    def program(self) -> int:
        """The pid of the program that isoscope started."""
        return until(lambda: children(self.process.pid), "the program's start")[0]

    def wait_for_end(self) -> None:
        """Of the program; isoscope itself stays."""
        pid = self.process.pid
        until(lambda: children(pid) or has_buried(pid), "the program's start")
        until_ended(pid)

    def profile(self):
        with Client(self.uri) as client:
            profile = [(p, client.cpu_samples(p)) for p in client.processes()]
        return [(process, samples) for process, samples in profile if samples is not None]

    def tree(self) -> CallTree:
        return CallTree.build(self.profile())


@contextmanager
def _listening(before, after, popen):
    """`isoscope BEFORE --write-service-info FILE AFTER`, once clients can connect. Ends what is left of it."""
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / "service.json"
        words = [ISOSCOPE, *before, "--write-service-info", str(info), *after]
        popen = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **popen}
        process = subprocess.Popen(words, **popen)
        try:
            until(lambda: info.exists() or process.poll() is not None, "the service info")
            assert process.poll() is None, process.stderr.read()
            yield Service(process, json.loads(info.read_text())["uri"])
        finally:
            end(process)


def service_of(command, *options, **popen):
    return _listening(["run", "--keep"], [*options, "--", *command], popen)


@contextmanager
def profiled(command, *options, **popen):
    with service_of(command, *options, **popen) as service:
        service.wait_for_end()
        yield service


def serving(*words, **popen):
    """`isoscope serve`: session files, and no program."""
    return _listening(["serve"], map(str, words), popen)


def attached(pid, *options, **popen):
    """`isoscope attach`: a program that runs already."""
    return _listening(["attach", "--keep"], [*options, str(pid)], popen)


def listening_to_all(*options, **popen):
    """`isoscope attach --all`: every process of the machine."""
    return _listening(["attach", "--keep", "--all"], [*options], popen)


def record(file, command, *options, **popen) -> subprocess.CompletedProcess:
    words = [ISOSCOPE, "record", "-o", str(file), *options, "--", *command]
    return subprocess.run(words, **{"capture_output": True, "text": True, "timeout": 120, **popen})


NO_PERF_NOTICE = "isoscope: the kernel refused perf"
SWITCHES_NOTICE = "perf events would slow the program down"  # of programs that switch very often


class Timer(NamedTuple):
    """What this machine gives who asks for nothing special, at 1 kHz."""

    is_trap: bool  # the user clock ticks; else CPU-time timers alone do
    true_period_us: int

    @property
    def kept(self) -> float:
        """The share of the asked samples: 1, or a quarter where perf is refused (and the kernel's
        tick is 250 Hz)."""
        return min(1.0, 1000 / self.true_period_us)


@functools.cache
def default_timer() -> Timer:
    with profiled([workload("spin_two_to_one"), "0.1"]) as service:
        with Client(service.uri) as client:
            (process,) = client.processes()
            told = client.call("getIsolate", isolateId=process.id)["_process"]
        return Timer(told["timer"] == "sigtrap", service.tree().true_period_us)


def no_new_privs() -> bool:
    """Setuid bits count for nothing then."""
    return "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()


def no_injection() -> str:
    """Why nothing can be loaded into a program that is started here; "": it can."""
    if os.uname().machine != "x86_64":
        return "nothing is loaded into running programs on this processor"
    if "\nSeccomp:\t0\n" not in Path("/proc/self/status").read_text():
        return "a seccomp filter holds for all that is started here, and nothing is loaded behind one"
    return ""


def handles_below(pid: int) -> list[int]:
    """Of all that it has started and they have: what a shell leaves behind is nobody's child."""
    handles = []
    for child in started_by(pid):
        try:
            handles.append(os.pidfd_open(child))
        except ProcessLookupError:
            continue
        handles += handles_below(child)
    return handles


def end(process: subprocess.Popen) -> None:
    """As a user does: a signal is the program's while it runs, and then isoscope's."""
    below = handles_below(process.pid)
    try:
        until(lambda: ended_by_asking(process), "the service's end")
    finally:
        for handle in below + handles_below(process.pid):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        process.kill()  # nothing, where it has ended
        process.wait()
        if process.stderr:
            process.stderr.close()


def ended_by_asking(process: subprocess.Popen) -> bool:
    process.terminate()
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        return False
    return True
