"""`isoscope attach --all`: every process of the machine, as it runs."""

from __future__ import annotations

import functools
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from accuracy import samples_of
from harness import ISOSCOPE, Client, end, listening_to_all, until, workload


@functools.cache
def refused() -> str:
    """The reason; "": it is not."""
    done = subprocess.run([ISOSCOPE, "attach", "--all", "--for", "1"], capture_output=True, text=True, timeout=60)
    return done.stderr.strip() if done.returncode else ""


@pytest.fixture
def allowed():
    if refused():
        pytest.skip(refused())


@contextmanager
def spinning(*command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        end(process)


def cpu_s(process: int) -> float:
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def seen(client, pid: int):
    """What is known of that process's samples; None: it has none."""
    for process in client.processes():
        isolate = client.call("getIsolate", isolateId=process.id)
        if isolate.get("_process", {}).get("pid") == pid:  # one that has gone meanwhile is a Sentinel
            return samples_of(client.call("_getCpuSamples", isolateId=process.id, timestamp=0))
    return None


def enough(client, pid: int, seconds: float) -> bool:
    return sum(sample.cpu_s for sample in seen(client, pid) or ()) >= seconds


def test_processes_of_before_and_of_later_are_groups_with_their_names(allowed):
    with spinning(workload("spin_two_to_one"), "600") as before, listening_to_all() as service, \
            spinning(workload("threads"), "2", "600") as later, Client(service.uri) as client:
        until(lambda: enough(client, before.pid, 0.3) and enough(client, later.pid, 0.3), "samples of both")
        until(lambda: any("spin_twice" in sample.stack for sample in seen(client, before.pid)), "its functions' names")
        samples = seen(client, before.pid)
        groups = client.call("getVM")["isolateGroups"]
        names = {process.name for process in client.processes()}
        own = seen(client, service.process.pid)
    whole = [sample for sample in samples if "main" in sample.stack]
    assert sum(sample.cpu_s for sample in whole) >= 0.9 * sum(sample.cpu_s for sample in samples)
    assert any("spin_two_to_one" in name for name in names) and any("threads" in name for name in names)
    assert len(groups) >= 2
    assert own is None  # isoscope leaves itself out


def test_a_process_that_began_since_has_all_of_its_time(allowed):
    with listening_to_all() as service, Client(service.uri) as client, \
            spinning(workload("spin_two_to_one"), "600") as later:
        until(lambda: enough(client, later.pid, 0.5), "samples")
        least = cpu_s(later.pid)
        until(lambda: enough(client, later.pid, 0.9 * least), "the time that it has used")
        told = sum(sample.cpu_s for sample in seen(client, later.pid))
        assert told <= cpu_s(later.pid) + 0.05


def test_many_short_processes_leave_nothing_behind(allowed):
    with listening_to_all() as service, Client(service.uri) as client:
        for _ in range(100):
            subprocess.run(["/bin/true"], check=True)
        with spinning(workload("spin_two_to_one"), "600") as process:
            until(lambda: enough(client, process.pid, 0.2), "samples of one that lives")
            until(lambda: open_feeds(service.process.pid) <= 2 * living() + 64, "feeds of those that ended are closed")


def open_feeds(pid: int) -> int:
    links = (os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink())
    return sum("memfd" in link for link in links)


def living() -> int:
    return sum(entry.name.isdigit() for entry in Path("/proc").iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_an_ordinary_user_is_told_to_be_root():
    done = subprocess.run([ISOSCOPE, "attach", "--all"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "run it as root" in done.stderr


@pytest.mark.parametrize("words", [("1",), ("--name", "x"), ("--via", "suspend"), ("--off-cpu",), ("--no-children",)])
def test_what_does_not_go_with_all_is_refused(words):
    done = subprocess.run([ISOSCOPE, "attach", "--all", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "exclude each other" in done.stderr
