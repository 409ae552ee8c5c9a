"""Places and patience: nobody can lock the others out, and nobody who goes on is cut off."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import socket
import sys
import time
from pathlib import Path

import pytest
import websocket
from harness import children, service_pid, until
from test_wire import SPIN, get, get_status, token, upgrade_status

CLIENTS_MAX, STRANGERS_MAX, SOCKETS_MAX, CALLS_MAX = 640, 320, 128, 64


@pytest.fixture
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("needs 2,048 descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def connections(port: int, count: int, text: bytes):
    """So many that have said this; one after the other, so their order is ours."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            opened.append(stack.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=30)))
            with contextlib.suppress(ConnectionError):
                opened[-1].sendall(text)
        yield opened


def is_over(one: socket.socket) -> bool:
    """The service has closed it; nothing is waited for."""
    readable, _, _ = select.select([one], [], [], 0)
    if not readable:
        return False
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except ConnectionResetError:
        return True


def said(running, words: str) -> int:
    """How many lines of stderr hold these words, when the service has ended."""
    if running.process.poll() is None:
        running.process.terminate()
    running.process.wait(30)
    return sum(words in line for line in running.process.stderr)


@pytest.mark.parametrize(
    "text",
    [b"", b"GET / HTTP/1.1\r\nHost: loc", b"CONNECT x:1 HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ids=["silent", "half a request", "CONNECT", "no token"],
)
def test_700_connections_without_the_token_lock_nobody_out(start, many_files, text):
    running = start(["sleep", "1000"])
    innocent = running.connect()
    with connections(running.port, 700, text) as opened:
        assert get(running, f"/{token(running)}/getVersion")[0].status == 200
        assert upgrade_status(running, f"/{token(running)}/ws") == 101
        assert innocent.rpc("getVersion")["type"] == "Version"
        if not text:  # the oldest went first
            until(lambda: all(is_over(one) for one in opened[: 700 - STRANGERS_MAX]), "their end")
            assert not is_over(opened[-1])


def test_that_the_oldest_strangers_were_closed_is_said_once(start, many_files):
    running = start(["sleep", "1000"])
    with connections(running.port, 500, b""):
        assert get_status(running) == 200
    assert said(running, "have not sent the token") == 1


def slow_reader(port: int) -> socket.socket:
    """Small buffers here and there: most of a page cannot be sent before it is read."""
    one = socket.socket()
    one.settimeout(30)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    one.connect(("127.0.0.1", port))
    return one


def test_that_no_more_clients_are_accepted_is_said_once(start, many_files):
    """Each has shown the token and reads its page: none is sent away for another."""
    running = start(["sleep", "1000"], "--client-patience", "60")
    text = f"GET /{token(running)}/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(CLIENTS_MAX):
            one = stack.enter_context(slow_reader(running.port))
            one.sendall(text)
            assert one.recv(12) == b"HTTP/1.1 200"
        with connections(running.port, 2, b"") as beyond:
            for one in beyond:
                with contextlib.suppress(ConnectionResetError):
                    assert one.recv(1) == b""
    assert said(running, f"{CLIENTS_MAX} clients are connected; no more are accepted") == 1


def test_a_method_that_makes_a_tunnel_elsewhere_is_refused_and_closed(start):
    running = start(["sleep", "1000"])
    with connections(running.port, 1, b"CONNECT x:1 HTTP/1.1\r\n\r\n") as (one,):
        assert b"".join(iter(lambda: one.recv(4096), b"")).startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize("text", [b"", b"GET / HTTP/1.1\r\n", b"\r\n\r\n\r\n"])
def test_who_does_not_say_what_he_wants_is_closed_in_his_time(start, text):
    running = start(["sleep", "1000"], "--client-patience", "1")
    with connections(running.port, 1, text) as (one,):
        assert one.recv(100) == b""


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


def test_without_descriptors_it_waits_and_recovers_and_ends_when_told(start):
    running = start(["sleep", "1000"], preexec_fn=few_files)
    port = running.port
    with connections(port, 60, b""):
        assert until(lambda: get_status(running) == 200, "an answer beside those who wait")
        spent = cpu_ticks(service_pid(running.process.pid))
        assert until(lambda: get_status(running) == 200, "another one")
        assert cpu_ticks(service_pid(running.process.pid)) - spent < 5 * os.sysconf("SC_CLK_TCK")
    assert until(lambda: get_status(running) == 200, "an answer when they are gone")
    with connections(port, 60, b""):
        running.process.terminate()
        running.process.wait(30)
    assert said(running, "file descriptors are in use") == 1


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_children_beyond_the_descriptors_do_not_stop_the_service(start):
    """Each is a feed with descriptors of its own, at the same service; some are left for clients."""
    many = "for i in $(seq 60); do sleep 1000 & done; echo ready; wait"
    running = start(["sh", "-c", many], preexec_fn=few_files)
    assert running.line() == "ready"
    assert until(lambda: get_status(running) == 200, "an answer")
    (shell,) = children(running.process.pid)
    for pid in children(shell):
        os.kill(pid, 9)
    running.process.wait(30)
    assert said(running, "no file descriptor is left after") == 1


# Sessions


def test_full_of_websockets_a_get_is_still_answered(start):
    running = start(["sleep", "1000"])
    for _ in range(SOCKETS_MAX):
        running.connect()
    assert upgrade_status(running, f"/{token(running)}/ws") == 503
    assert get(running, f"/{token(running)}/getVersion")[0].status == 200
    running.sockets[0].rpc("getVersion")
    for one in running.sockets:
        one.socket.shutdown()
    assert said(running, "further clients get status 503") == 1


def test_when_all_places_are_taken_the_one_that_was_silent_for_longest_gives_its_own(start):
    running = start(["sleep", "1000"], "--client-patience", "1")
    clients = [running.connect() for _ in range(SOCKETS_MAX)]
    clients[0].rpc("streamListen", streamId="VM")  # it has reason to be silent
    late = until(lambda: accepted(running), "a place")
    assert late.rpc("getVersion")["type"] == "Version"
    assert clients[1].close_code() == 1008
    for one in (clients[0], clients[-1]):
        assert one.rpc("getVersion")["type"] == "Version"


def accepted(running):
    try:
        return running.connect()
    except websocket.WebSocketBadStatusException:
        return None


# Patience


@pytest.fixture
def path(short_path):
    """Of a unix socket: its buffers are small, and do not grow."""
    return short_path / "s"


PATIENCE_S = 2
WHOLE = 1_500_000  # bytes of a reply that no socket takes at once


@pytest.fixture
def large(start, path):
    """A service with a reply of more than WHOLE, and its target."""
    running = start([sys.executable, "-c", SPIN], "--period", "200", "--client-patience",
                    str(PATIENCE_S), "--socket", str(path))
    assert running.uri
    target = "/_getCpuSamples?timestamp=0&count=1000000"

    def length() -> int:
        with asking(path, target) as raw:
            return len(b"".join(iter(lambda: raw.recv(65536), b"")))

    until(lambda: length() > WHOLE, "enough samples")
    return target


@contextlib.contextmanager
def asking(path, target):
    """A connection that has asked, with as little room as there can be."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(30)
        raw.connect(str(path))
        raw.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield raw


def body_of(answer: bytes) -> bytes | None:
    """None: it has no last chunk."""
    at, body = answer.index(b"\r\n\r\n") + 4, []
    while at < len(answer):
        begin = answer.find(b"\r\n", at) + 2
        if begin < 2:
            break
        end = begin + int(answer[at:begin], 16)
        if begin == end:
            return b"".join(body)
        body.append(answer[begin:end])
        at = end + 2
    return None


def test_a_reader_that_goes_on_gets_everything_however_long_it_takes(large, path):
    """Longer than its patience in all, and always less than that from one piece to the next."""
    with asking(path, large) as raw:
        answer, end_s = b"", time.monotonic() + 2 * PATIENCE_S
        while time.monotonic() < end_s:
            answer += raw.recv(65536)
            select.select([], [], [], PATIENCE_S / 8)
        assert len(answer) < WHOLE
        answer += b"".join(iter(lambda: raw.recv(65536), b""))
    result = json.loads(body_of(answer) or b"")["result"]
    assert result["sampleCount"] == len(result["samples"])


def test_a_reader_that_stands_still_is_cut_off_and_can_tell(large, path):
    with asking(path, large) as raw:
        poll = select.poll()
        poll.register(raw, select.POLLRDHUP)
        assert poll.poll(30_000), "it was not closed"
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ") and body_of(answer) is None
