"""A service that goes away and comes again at the same address: the program's feed goes on.

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
SLOT_BYTES, HEAD_AT = 128, 40  # struct feed_thread
DEADLINE_S = 20


class Hello(NamedTuple):
    connection: socket.socket
    pid: int
    feed: mmap.mmap
    inode: int  # of the memory: the same feed has the same

    def written(self) -> int:
        """Bytes of samples that the main thread ever wrote: its slot is the first after ours."""
        threads_at, = struct.unpack_from("<Q", self.feed, 48)
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
    inode = os.fstat(fds[0]).st_ino
    os.close(fds[0])
    assert struct.unpack_from("<Q", feed)[0] == MAGIC
    return Hello(connection, pid, feed, inode)


@pytest.fixture
def spinner(tmp_path: Path) -> Iterator[tuple[Path, socket.socket, subprocess.Popen]]:
    """A program that spins, fed to a socket of ours."""
    path = tmp_path / "feed"
    listener = listen(path)
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libisoscope.so"),
                   "ISOSCOPE_SOCKET": str(path), "ISOSCOPE_PERIOD_US": "5000"}
    process = subprocess.Popen(["/usr/bin/python3", "-S", "-c", "while True: pass"],
                               env=environment)
    yield path, listener, process
    end(process)
    listener.close()


def test_a_feed_goes_on_with_the_service_that_comes_after(spinner):
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
    assert (second.pid, second.inode) == (process.pid, first.inode)
    before = second.written()
    until(lambda: second.written() > before, "samples go on")
    second.connection.close()
    again.close()


def has_stopped(hello: Hello) -> bool:
    """No sample for a hundred periods of the time that the program uses."""
    before, used = hello.written(), cpu_ticks(hello.pid)
    until(lambda: cpu_ticks(hello.pid) >= used + 50, "the program runs on")
    return hello.written() == before


def cpu_ticks(pid: int) -> int:
    """Hundredths of a second of CPU time."""
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])
