"""A service that goes away and comes again at the same address: the program feeds the new one.

The service here is a socket of the test's own, which takes the feed in and looks into its memory.
"""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from harness import BUILD, end, until

MAGIC = 0x31646565466F7349  # layout.h
THREADS_AT = 88  # struct feed_header: threads_offset
SLOT_BYTES, HEAD_AT = 128, 40  # struct feed_thread
DEADLINE_S = 20


class Hello(NamedTuple):
    connection: socket.socket
    pid: int
    feed: mmap.mmap

    def written(self) -> int:
        """Bytes of samples that the main thread ever wrote: its slot is the first after ours."""
        threads_at, = struct.unpack_from("<Q", self.feed, THREADS_AT)
        return struct.unpack_from("<Q", self.feed, threads_at + SLOT_BYTES + HEAD_AT)[0]


def listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen(4)
    listener.settimeout(DEADLINE_S)
    return listener


def take_in(listener: socket.socket) -> Hello:
    connection, _ = listener.accept()
    connection.settimeout(DEADLINE_S)
    bytes_, control, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(4))
    fds = array.array("i")
    fds.frombytes(control[0][2][:4])
    (magic, _, kind, pid) = struct.unpack_from("<IHHi", bytes_)
    assert (magic, kind) == (0x6D6F7369, 1)  # message.h
    feed = mmap.mmap(fds[0], 0)
    os.close(fds[0])
    assert struct.unpack_from("<Q", feed)[0] == MAGIC
    return Hello(connection, pid, feed)


def started(path: Path, *command: str) -> subprocess.Popen:
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libisoscope.so"),
                   "ISOSCOPE_SOCKET": str(path), "ISOSCOPE_PERIOD_US": "5000"}
    return subprocess.Popen(command, env=environment)


@pytest.fixture
def spinner(tmp_path: Path) -> Iterator[tuple[Path, socket.socket, subprocess.Popen]]:
    """A program that spins, fed to a socket of ours."""
    path = tmp_path / "feed"
    listener = listen(path)
    process = started(path, "/usr/bin/python3", "-S", "-c", "while True: pass")
    yield path, listener, process
    end(process)
    listener.close()


def test_a_program_feeds_the_service_that_comes_after(spinner):
    path, listener, process = spinner
    first = take_in(listener)
    assert first.pid == process.pid
    until(lambda: first.written() > 0, "a first sample")

    listener.close()
    first.connection.close()
    path.unlink()
    until(lambda: has_stopped(first), "samples end when nobody takes them")

    again = listen(path)
    second = take_in(again)
    assert second.pid == process.pid
    until(lambda: second.written() > 0, "samples go on")
    second.connection.close()
    again.close()


# Spins until it is told to fork. The child uses memory where the parent has its feeds, as any may.
FILLS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct { unsigned long low, high; } feeds[8];
static int count;
static void find_feeds(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (count < 8 && fgets(line, sizeof line, maps))
        if (strstr(line, "isoscope-feed"))
            count += sscanf(line, "%lx-%lx", &feeds[count].low, &feeds[count].high) == 2;
    fclose(maps);
}
int main(int argc, char **argv)
{
    while (access(argv[argc - 1], F_OK)) ;
    find_feeds();
    if (fork())
        return wait(NULL) < 0;
    for (int i = 0; i < count; i++)
        if (mmap((void *)feeds[i].low, feeds[i].high - feeds[i].low, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
            feeds[i].low = 0; /* a tick came first, and the child's own feed is there */
    while (getppid() != 1)
        for (int i = 0; i < count; i++)
            if (feeds[i].low)
                *(volatile char *)feeds[i].low = 1;
}
"""


def test_a_child_of_a_program_that_changed_its_service_keeps_its_memory(compiled, tmp_path):
    """The parent's feeds are not in the child: what is at their places is the child's own."""
    path, forks = tmp_path / "feed", tmp_path / "forks"
    listener = listen(path)
    process = started(path, str(compiled("fills", FILLS)), str(forks))
    try:
        # Nobody reads: each says hello again after some seconds, with a feed made anew.
        assert take_in(listener).pid == take_in(listener).pid == process.pid
        forks.touch()
        child = next(hello.pid for hello in iter(lambda: take_in(listener), None)
                     if hello.pid != process.pid)
        assert take_in(listener).pid == child
        used = cpu_ticks(child)
        until(lambda: cpu_ticks(child) >= used + 20, "the child runs on")
    finally:
        end(process)
        listener.close()


def has_stopped(hello: Hello) -> bool:
    """No sample for a hundred periods of the time that the program uses."""
    before, used = hello.written(), cpu_ticks(hello.pid)
    until(lambda: cpu_ticks(hello.pid) >= used + 50, "the program runs on")
    return hello.written() == before


def cpu_ticks(pid: int) -> int:
    """Hundredths of a second of CPU time."""
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])
