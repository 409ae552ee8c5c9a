"""What strangers may do at a host service's socket: nothing grows, nobody else notices."""

from __future__ import annotations

import os
import random
import re
import socket
import struct
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from harness import ROOT, is_service, started_by, until
from host_service import hello, host_service

MAGIC, HELLO, ASK = 0x6D6F7369, 1, 2
VERSION = int(re.search(r"FEED_VERSION = (\d+)", (ROOT / "sampler/feed/layout.h").read_text())[1])
SILENT = 1000
GROWN_KIB_MAX = 8 * 1024  # what an allocator may keep of a thousand callers


def message(kind: int = HELLO, version: int = VERSION, events: int = 0, exe: bytes = b"/bin/stranger") -> bytes:
    return struct.pack("=IHHiiII512s", MAGIC, version, kind, os.getpid(), os.getppid(), 1, events, exe)


def descriptors(pid: int) -> int:
    """Those of the process that holds the sockets, and no user may look into, are for root to count: else 0."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        assert os.geteuid()
        return 0


def resident_kib(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


@contextmanager
def a_service_that_does_not_notice():
    """With one program that is sampled on, in processes that have as many descriptors afterwards as before."""
    with host_service() as host:
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid)
            room = [child for child in started_by(host.process.pid) if is_service(child)][0]
            held = {one: descriptors(one) for one in (host.process.pid, room)}
            memory = {one: resident_kib(one) for one in held}
            yield host
            before = host.listed(client)[pid]["samples"]
            host.until_sampled(client, pid, before + 5)
            assert set(host.listed(client)) == {pid}
            for one, count in held.items():
                until(lambda one=one, count=count: descriptors(one) <= count, f"{count} descriptors of {one} again")
                assert resident_kib(one) - memory[one] < GROWN_KIB_MAX
            assert room in started_by(host.process.pid), host.errors()


def is_closed(call: socket.socket) -> bool:
    with call:
        return call.recv(100) == b""


def test_random_bytes_are_closed():
    chance = random.Random(26)
    with a_service_that_does_not_notice() as host:
        for _ in range(300):
            assert is_closed(hello(host.socket, chance.randbytes(chance.choice((1, 7, 8, 9, 100, 536, 2000))), []))


def test_half_a_hello_is_closed_at_each_length():
    with a_service_that_does_not_notice() as host, open("/dev/null", "rb") as null:
        whole = message()
        for length in range(1, len(whole), 11):
            assert is_closed(hello(host.socket, whole[:length], [null.fileno()]))


def test_descriptors_that_are_no_feed_are_closed():
    with ExitStack() as stack:
        empty, odd = os.memfd_create("empty"), os.memfd_create("odd")
        os.write(odd, random.Random(27).randbytes(1 << 20))
        reader, writer = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        folder = os.open("/", os.O_RDONLY)
        for one in (empty, odd, reader, writer, null, folder):
            stack.callback(os.close, one)
        with a_service_that_does_not_notice() as host:
            for _ in range(20):
                for given in ([], [null], [reader], [writer], [folder], [empty], [odd], [null, null, null]):
                    for events in (0, 1, 3, 0xFFFFFFFF):
                        assert is_closed(hello(host.socket, message(events=events), given))
            assert is_closed(hello(host.socket, message(version=VERSION + 1), [odd]))
            assert is_closed(hello(host.socket, message(exe=512 * b"x"), [odd]))


def test_a_thousand_that_say_nothing_hold_nobody_up_and_are_let_go():
    with a_service_that_does_not_notice() as host, ExitStack() as stack:
        silent = []
        for _ in range(SILENT):
            call = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            call.settimeout(60)
            call.connect(host.socket)
            silent.append(call)
        pid = host.start("import time\nwhile True: time.sleep(0.01)\n")
        with host.client() as client:
            until(lambda: pid in host.listed(client), "a program that came among them")
        host.programs[-1].kill()
        host.programs[-1].wait()
        assert all(call.recv(1) == b"" for call in silent), "each is closed after its ten seconds"


@pytest.mark.parametrize("answer_is_read", [True, False], ids=["read", "unread"])
def test_asking_many_times_leaves_nothing(answer_is_read):
    with a_service_that_does_not_notice() as host:
        for _ in range(200):
            with hello(host.socket, struct.pack("=IHH", MAGIC, 1, ASK), []) as call:
                assert not answer_is_read or call.recv(1 << 16).startswith(str(os.geteuid()).encode())
