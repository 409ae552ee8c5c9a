"""`isoscope attach --kernel`: what the kernel does for a program, above the function that asked for it."""

from __future__ import annotations

import functools
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import BUILD, ISOSCOPE, Client, attached, end, listening_to_all, measured, serving, until

REFUSE = str(BUILD / "tests" / "torture" / "refuse")
READS = """
#include <fcntl.h>
#include <unistd.h>
static char bytes[1 << 20];
__attribute__((noinline)) void reads_zeros(int file) { while (read(file, bytes, sizeof(bytes)) > 0) ; }
int main(void) { alarm(600); reads_zeros(open("/dev/zero", O_RDONLY)); return 0; }
"""
NAPS = """
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void naps(void) { const struct timespec time = { 0, 20000000 }; nanosleep(&time, 0); }
int main(void) { alarm(600); for (;;) naps(); }
"""
RAN_IN_KERNEL = {"read_zero", "read_iter_zero", "vfs_read", "ksys_read", "__x64_sys_read", "do_syscall_64", "clear_user",
                 "iov_iter_zero", "rep_stos_alternative"}


@contextmanager
def program(folder: Path, text: str = READS):
    source, binary = folder / "reads.c", folder / "reads"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-o", binary, source], check=True)
    process = subprocess.Popen([binary])
    try:
        yield process
    finally:
        end(process)


def attach(*words, before=()):
    return subprocess.run([*before, ISOSCOPE, "attach", *map(str, words)], capture_output=True, text=True, timeout=60)


@functools.cache
def refused() -> str:
    """The reason; "": it is not."""
    process = subprocess.Popen(["sleep", "60"])
    try:
        done = attach("--kernel", "--for", "1", process.pid)
    finally:
        end(process)
    return done.stderr.strip() if done.returncode else ""


@functools.cache
def are_hidden() -> bool:
    return all(int(line.split()[0], 16) == 0 for line in Path("/proc/kallsyms").read_text().splitlines()[:100])


@pytest.fixture
def allowed():
    if refused():
        pytest.skip(refused())


@pytest.fixture
def named(allowed):
    if are_hidden():
        pytest.skip("the kernel hides its names from this user")


def stacks(client, kind="time", pid=None) -> list:
    """Frames of each sample, leaf first, and its weight."""
    processes = [process for process in client.processes() if pid is None or process.number == str(pid)]
    profile = client.profile(kind=kind, processes=processes)
    return [(profile.stack(row.node), row.weight_us) for row in profile.samples()]


def libraries(stack) -> list[str]:
    return [frame.function.library.name for frame in stack]


def in_kernel(stack) -> bool:
    return "[kernel]" in libraries(stack)


def seen(service, least_us: int, **which):
    """All stacks, when so much time is in them."""
    with Client(service.uri) as client:
        until(lambda: sum(weight for _, weight in stacks(client, **which)) >= least_us, f"{least_us} µs in samples")
        return stacks(client, **which)


def check(found) -> None:
    """Nearly all of it in the kernel, whose frames are the leaf's side of the function that asks."""
    total = sum(weight for _, weight in found)
    kernel = [(stack, weight) for stack, weight in found if in_kernel(stack)]
    assert sum(weight for _, weight in kernel) >= 0.9 * total
    for stack, _ in kernel:
        places = [place for place, library in enumerate(libraries(stack)) if library == "[kernel]"]
        assert places == list(range(len(places)))
    callers = sum(weight for stack, weight in kernel if "reads_zeros" in [frame.function.name for frame in stack])
    assert callers >= 0.9 * total


@measured
def test_the_kernels_frames_stand_above_the_programs(named, tmp_path):
    with program(tmp_path) as process, attached(process.pid, "--kernel") as service:
        found = seen(service, 300_000)
    check(found)
    names = {frame.function.name for stack, _ in found for frame in stack if frame.function.library.name == "[kernel]"}
    assert names & RAN_IN_KERNEL
    kinds = {frame.function.kind for stack, _ in found for frame in stack if frame.function.library.name == "[kernel]"}
    assert kinds == {"Native"}
    assert all(frame.function.library.system for stack, _ in found for frame in stack
               if frame.function.library.name == "[kernel]")


def test_without_it_there_are_none(allowed, tmp_path):
    with program(tmp_path) as process, attached(process.pid, "--via", "perf") as service:
        assert not any(in_kernel(stack) for stack, _ in seen(service, 100_000))


@measured
def test_a_session_keeps_them_with_their_names(named, tmp_path):
    file = tmp_path / "kernel.isoscope"
    with program(tmp_path) as process:
        done = attach("--kernel", "--for", 2, "-o", file, process.pid)
    assert done.returncode == 0, done.stderr
    with serving(file) as service, Client(service.uri) as client:
        check(stacks(client))
    read = subprocess.run([ISOSCOPE, "tree", file], capture_output=True, text=True, timeout=60)
    assert "reads_zeros" in read.stdout and any(name in read.stdout for name in RAN_IN_KERNEL)
    flame = tmp_path / "kernel.svg"
    subprocess.run([ISOSCOPE, "flame", "-o", flame, file], check=True, timeout=60)
    assert any(name in flame.read_text() for name in RAN_IN_KERNEL)


@measured
def test_commands_show_them_of_a_process(named, tmp_path):
    with program(tmp_path) as process:
        done = subprocess.run([ISOSCOPE, "tree", "-p", str(process.pid), "--kernel", "--last", "1s"],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert any(name in done.stdout for name in RAN_IN_KERNEL)


def test_a_command_needs_a_process_for_it():
    done = subprocess.run([ISOSCOPE, "tree", "--kernel", "--", "true"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--kernel needs `-p PID`" in done.stderr


@measured
@pytest.mark.skipif(os.geteuid() != 0, reason="only root samples all processes")
def test_of_all_processes_too(named, tmp_path):
    with program(tmp_path) as process, listening_to_all("--kernel") as service:
        with Client(service.uri) as client:
            until(lambda: any(one.number == str(process.pid) for one in client.processes()), "the program")
        check(seen(service, 300_000, pid=process.pid))


@measured
def test_where_a_thread_waits_is_told_too(named, tmp_path):
    with program(tmp_path, NAPS) as process, attached(process.pid, "--kernel", "--off-cpu") as service:
        found = seen(service, 500_000, kind="wait")
    naps = [(stack, waited) for stack, waited in found if "naps" in [frame.function.name for frame in stack]]
    asleep = sum(waited for stack, waited in naps
                 if any("nanosleep" in frame.function.name for frame in stack if frame.function.library.name == "[kernel]"))
    # Else it waits for a processor: on a busy machine longer than it sleeps.
    assert naps and asleep > 0.2 * sum(waited for _, waited in naps)


def test_other_ways_do_not_see_the_kernel():
    for via in ("suspend", "inject"):
        done = attach("--kernel", "--via", via, 1)
        assert done.returncode == 2 and "--kernel goes with --via perf only" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_an_ordinary_user_is_told_what_to_change(tmp_path):
    if not refused():
        pytest.skip("this kernel lets everybody sample it")
    assert "kernel.perf_event_paranoid" in refused() and "run isoscope as root" in refused()
    assert len(refused().splitlines()) == 1


def test_where_perf_is_refused_it_is_said_once_and_nothing_else_is_taken(tmp_path):
    with program(tmp_path) as process:
        done = attach("--kernel", "--for", 1, process.pid, before=(REFUSE, "perf", "/usr/bin/env"))
    assert done.returncode != 0
    assert "a seccomp filter forbids them" in done.stderr and len(done.stderr.splitlines()) == 1
