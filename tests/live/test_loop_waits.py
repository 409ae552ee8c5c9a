"""Calls that wait, in programs that the sampler is in: which of them are loops, and that nothing else changes."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

import pytest

from harness import BUILD, measured, workload

LOOPS_SEEN = str(BUILD / "tests/live/loops_seen")
LIBRARY = str(BUILD / "lib/libisoscope.so")


class Loop(NamedTuple):
    process: int
    kind: str
    thread: str
    end: str
    mark: int
    name: str


def loops_of(*command: str, status: int = 0, **environment: str) -> list[Loop]:
    """What the program and its children tell of their loops; it must end as it does without us."""
    seen = subprocess.run([LOOPS_SEEN, LIBRARY, *command], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    assert seen.returncode == status, seen.stderr
    return [Loop(int(process), kind, thread, end, int(mark), name)
            for process, kind, thread, end, mark, name in
            (line.split(" ", 5) for line in seen.stdout.splitlines())]


WAITS = workload("waits_in_loops")

# A loop is known from its third or eighth wait on; each one moves its mark on by two.
KNOWN_AFTER = {"epoll": 3, "poll": 8, "select": 8, "io_uring": 3}


@pytest.mark.parametrize("call, kind", [
    ("epoll_wait", "epoll"), ("epoll_pwait", "epoll"), ("epoll_pwait2", "epoll"), ("poll", "poll"),
    ("poll_chk", "poll"), ("ppoll", "poll"), ("ppoll_chk", "poll"), ("select", "select"),
    ("pselect", "select"), ("syscall_epoll_pwait", "epoll"), ("syscall_ppoll", "poll")])
def test_each_wait_of_libc_makes_a_loop(call, kind):
    mark = 2 * (100 - KNOWN_AFTER[kind]) + 1
    assert loops_of(WAITS, call, "100") == [Loop(0, kind, "main", "live", mark, "")]


def test_waits_for_one_descriptor_make_none():
    assert loops_of(WAITS, "poll_one", "1000") == []
    assert loops_of(WAITS, "syscall_ppoll_one", "1000") == []


@pytest.mark.parametrize("watch, loops", [("none", 0), ("all", 1), ("nonsense", 0), ("", 0)])
def test_the_environment_says_which_loops_are_marked(watch, loops):
    assert len(loops_of(WAITS, "poll_one", "10", ISOSCOPE_WATCH_LOOPS=watch)) == loops


def test_none_means_none():
    assert loops_of(WAITS, "epoll_wait", "1000", ISOSCOPE_WATCH_LOOPS="none") == []


@pytest.mark.parametrize("what", ["errors", "interrupted", "jumped"])
def test_waits_do_what_they_do_without_us(what):
    assert len(loops_of(WAITS, what)) == 1


def test_a_loop_ends_with_its_thread_that_was_cancelled_in_its_wait():
    loops = loops_of(WAITS, "cancelled")
    assert [(loop.kind, loop.thread, loop.end, loop.mark % 2) for loop in loops] == \
        [("epoll", "thread", "ended", 0), ("poll", "thread", "ended", 0)]


def test_a_forked_child_learns_its_own():
    """One of vfork's has its parent's memory: its wait counts as one of the parent's, which does nothing meanwhile."""
    parent, child = loops_of(WAITS, "forked")
    assert parent.process == 0 and parent.mark == 2 * (40 - 3 + 1) + 1
    assert child.process == 1 and child.mark == 2 * (20 - 3) + 1


URING = r"""
#include <liburing.h>
#include <stdio.h>
#include <string.h>

static struct io_uring ring;
static struct io_uring_cqe *entry;

static int wait_in(const char *call)
{
    struct __kernel_timespec minute = { 60, 0 }, moment = { 0, 3000000 };
    int error = -1;

    /* What is there already is found without a call. */
    io_uring_prep_timeout(io_uring_get_sqe(&ring), &moment, 0, 0);
    if (!strcmp(call, "submit_and_wait"))
        error = io_uring_submit_and_wait(&ring, 1) == 1 ? 0 : -1;
    else if (!strcmp(call, "submit_and_wait_timeout"))
        error = io_uring_submit_and_wait_timeout(&ring, &entry, 1, &minute, NULL) < 0;
    else if (io_uring_submit(&ring) != 1)
        return -1;
    else if (!strcmp(call, "wait_cqe"))
        error = io_uring_wait_cqe(&ring, &entry);
    else if (!strcmp(call, "wait_cqe_timeout"))
        error = io_uring_wait_cqe_timeout(&ring, &entry, &minute);
    else if (!strcmp(call, "wait_cqes"))
        error = io_uring_wait_cqes(&ring, &entry, 1, &minute, NULL);
    io_uring_peek_cqe(&ring, &entry);
    io_uring_cqe_seen(&ring, entry);
    return error;
}

int main(int count, char **words)
{
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 77; /* this kernel, or this container, has none */
    for (int i = 0; i < 50; i++)
        if (wait_in(words[count - 1]) != 0)
            return 1;
    return 0;
}
"""


@pytest.fixture
def uring(compiled):
    if not os.path.exists("/usr/include/liburing.h"):
        pytest.skip("liburing-dev is not here")
    program = compiled("uring", URING, "-Wl,--no-as-needed", "-luring")
    if subprocess.run([program, "wait_cqe"]).returncode == 77:
        pytest.skip("the kernel refuses io_uring")
    return program


@pytest.mark.parametrize("call", ["wait_cqe", "wait_cqes", "wait_cqe_timeout", "submit_and_wait",
                                  "submit_and_wait_timeout"])
@measured  # who is kept from the processor for that moment finds the entry there, and does not wait
def test_liburings_waits_make_a_loop(uring, call):
    [loop] = loops_of(uring, call)
    assert loop == Loop(0, "io_uring", "main", "live", 2 * (50 - KNOWN_AFTER["io_uring"]) + 1, "")


PLUGIN_WITH_RING_OF_ITS_OWN = r"""
int io_uring_submit_and_wait(void *ring, unsigned count) { return ring ? 0 : (int)count + 41; }
int plugin(void) { return io_uring_submit_and_wait(0, 1); }
"""

LOADS_PLUGIN = r"""
#include <dlfcn.h>
#include <stddef.h>
#include <errno.h>
int io_uring_submit_and_wait(void *ring, unsigned count) __attribute__((weak));
int main(int count, char **words)
{
    int (*plugin)(void) = (int (*)(void))dlsym(dlopen(words[count - 1], RTLD_NOW), "plugin");

    for (int i = 0; i < 10; i++)
        if (plugin() != 42)
            return 1;
    /* With us there is such a name, and nothing behind it. */
    return io_uring_submit_and_wait ? io_uring_submit_and_wait(NULL, 1) != -ENOSYS : 0;
}
"""


def test_a_library_with_a_liburing_of_its_own_goes_on_with_that(compiled):
    plugin = compiled("plugin.so", PLUGIN_WITH_RING_OF_ITS_OWN, "-shared", "-fPIC")
    program = compiled("loads_plugin", LOADS_PLUGIN, "-ldl")
    loops_of(program, plugin)
