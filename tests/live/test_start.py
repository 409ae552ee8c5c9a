"""A program's start: as little as can be, and what was left for later is not too late."""

from __future__ import annotations

import os
import platform
import re

import pytest

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 20];

static void read_maps(int maps)
{
    ssize_t got, bytes = 0;
    lseek(maps, 0, SEEK_SET);
    while ((got = read(maps, text + bytes, sizeof text - 1 - bytes)) > 0)
        bytes += got;
    text[bytes] = 0;
}

static void work(void)
{
    static volatile unsigned long sum;
    struct timespec now;
    do {
        for (int i = 0; i < 10000; i++)
            sum += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 200);
}

int main(void)
{
    struct rlimit low = { 16, 16 };
    int maps = open("/proc/self/maps", O_RDONLY);
    (void)low;
    %s
    read_maps(maps);
    printf("%%s tables\n", strstr(text, "feed.tables") ? "has" : "lacks");
    work();
    read_maps(maps);
    puts(text);
    return 0;
}
"""


@pytest.fixture
def starts(run, compiled):
    """starts(C): what such a program says that does this first, and must be sampled after it."""

    def start(text: str, *options: str) -> str:
        ended = run([compiled("starts", PROGRAM % text)], "--quiet", "--stats", *options)
        assert ended.returncode == 0, ended.stderr
        assert int(re.search(r"delivered +(\d+)", ended.stderr).group(1)) > 5, ended.stderr
        return ended.stdout

    return start


def test_it_does_not_open_the_tables(starts):
    """A tick that falls into it opens them: seldom, and not each time."""
    assert any(starts("").startswith("lacks tables") for _ in range(20))


ROOT = pytest.mark.skipif(os.getuid() != 0, reason="nobody else may do that")


@pytest.mark.parametrize("call", [
    pytest.param('chroot("/")', marks=ROOT),
    pytest.param('syscall(SYS_chroot, "/")', marks=ROOT),
    pytest.param("unshare(CLONE_NEWNS)", marks=ROOT),
    pytest.param("setuid(65534)", marks=ROOT),
    pytest.param("setreuid(65534, 65534)", marks=ROOT),
    pytest.param("setresuid(65534, 65534, 65534)", marks=ROOT),
    pytest.param("seteuid(65534)", marks=ROOT),
    pytest.param("syscall(SYS_setuid, 65534)", marks=ROOT),
    "setrlimit(RLIMIT_NOFILE, &low)",
    "prlimit(0, RLIMIT_NOFILE, &low, NULL)",
    "syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &low, NULL)",
])
def test_a_program_that_could_not_open_the_tables_later_has_them_before(starts, call):
    assert starts(f"if ({call}) abort();").startswith("has tables")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other address spaces have other middles")
def test_what_a_small_program_needs_lies_next_to_its_libraries(starts):
    """What a fork copies: no piece of its own far from all others, but for the shared tables."""
    lines = [re.match(r"([0-9a-f]+)-[0-9a-f]+ (....) \S+ \S+ \d+ *(.*)", line) for line in starts("").splitlines()]
    far = [line.group(0) for line in lines
           if line and 1 << 40 < int(line.group(1), 16) < 5 << 44 and "s" not in line.group(2)]
    assert not far
