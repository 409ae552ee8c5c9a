"""What ends the Dart VM's service, and what hostile or broken clients do: all others go on.

Each test has an innocent client that was there before; it is answered afterwards, on its old socket.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time

import pytest
import websocket
from conftest import Running
from harness import ISOSCOPE, end, service_pid, until
from test_wire import SPIN, get, program_of, token, upgrade_status

ABNF = websocket.ABNF


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One service for all: what one test breaks, the next ones would see."""
    info = tmp_path_factory.mktemp("abuse") / "service.json"
    words = [ISOSCOPE, "run", "--client-patience", "2", "--write-service-info", str(info), "--",
             sys.executable, "-c", SPIN]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    running = Running(process, info)
    yield running
    for client in running.sockets:
        client.close()
    end(process)


@pytest.fixture
def innocent(service):
    client = service.connect()
    assert client.rpc("getVersion")["type"] == "Version"
    yield client
    assert client.rpc("getVersion")["type"] == "Version"
    assert client.rpc("getVM")["type"] == "VM"
    assert upgrade_status(service, f"/{token(service)}/ws") == 101
    service.sockets.remove(client)
    client.close()


@contextlib.contextmanager
def client_of(service, **options):
    client = websocket.create_connection(
        service.uri.replace("http:", "ws:") + "ws", timeout=30, skip_utf8_validation=True, **options
    )
    try:
        yield client
    finally:
        client.shutdown()


def ended(client) -> int:
    """Reads to the end: the close code, 0 when there was none."""
    try:
        while True:
            frame = client.recv_frame()
            if frame.opcode == ABNF.OPCODE_CLOSE:
                return int.from_bytes(frame.data[:2], "big")
    except websocket.WebSocketTimeoutException:
        raise
    except (OSError, websocket.WebSocketException):
        return 0


# All whose replies are composed while they are sent.
STREAMED = ["getCpuSamples", "_getCpuSamples", "getPerfettoCpuSamples", "_getCpuProfile",
            "_getCpuProfileTimeline"]
streamed = pytest.mark.parametrize("method", STREAMED)


def streamed_request(method, isolate, request="1") -> str:
    params = {"isolateId": isolate, "tags": "UserVM"}
    if method.endswith("CpuSamples") and not method.startswith("_"):
        params = {"isolateId": isolate, "timeOriginMicros": 0, "timeExtentMicros": 2**53}
    return json.dumps({"id": request, "method": method, "params": params})


def sample_count(client, isolate, since_us: int = 0) -> int:
    """At most 1000."""
    reply = client.rpc("_getCpuSamples", isolateId=isolate, timestamp=since_us, count=1000)
    return reply["sampleCount"]


# The frames and handshakes that end the VM's service


@pytest.mark.parametrize(
    "text, code",
    [
        ("{}", -32600),
        ('{"id":"1"}', -32600),
        ('{"id":true,"method":"getVersion"}', -32600),
        ('{"id":{},"method":"getVersion"}', -32600),
        ('{"id":[],"method":"getVersion"}', -32600),
        ('{"id":"1","method":5}', -32600),
        ('{"id":"1","method":{}}', -32600),
        ('{"id":"1","method":"getVersion","params":[]}', -32602),
        ('{"id":"1","method":"getVersion","params":["isolates/1"]}', -32602),
        ('{"id":"1","method":"getVersion","params":"text"}', -32602),
        ('{"id":"1","result":5}', -32600),
    ],
)
def test_the_frames_that_end_the_vm_are_answered(service, innocent, text, code):
    with client_of(service) as client:
        client.send(text)
        assert json.loads(client.recv())["error"]["code"] == code
        client.send('{"id":"after","method":"getVersion"}')
        assert json.loads(client.recv())["id"] == "after"


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": "x" * 22 + "=="}


@pytest.mark.parametrize(
    "headers, status",
    [
        ({**UPGRADE, "Sec_WebSocket_Version": "8"}, 426),
        ({**UPGRADE, "Sec_WebSocket_Version": "13", "Sec_WebSocket_Protocol": "chat"}, 101),
        ({}, 400),
    ],
    ids=["old version", "unknown subprotocol", "no upgrade"],
)
def test_the_handshakes_that_end_the_vm_are_answered(service, innocent, headers, status):
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as raw:
        raw.sendall(f"GET /{token(service)}/ws HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        assert raw.recv(12) == f"HTTP/1.1 {status}".encode()


def test_the_profiler_is_toggled_while_a_client_follows_its_stream(service, innocent):
    follower, toggler = service.connect(), service.connect()
    follower.rpc("streamListen", streamId="Profiler")
    isolate = program_of(toggler)
    for _ in range(50):
        for value in ("false", "true"):
            assert toggler.rpc("setFlag", name="profiler", value=value)["type"] == "Success"
    latest = toggler.rpc("getVMTimelineMicros")["timestamp"]
    until(lambda: sample_count(toggler, isolate, latest), "a sample after the last toggle")
    assert follower.rpc("getVersion")["type"] == "Version"


@streamed
def test_a_reader_that_never_reads_is_dropped_and_all_others_are_served(service, innocent, method):
    isolate = program_of(innocent)
    until(lambda: sample_count(innocent, isolate) == 1000, "a thousand samples")
    # The kernel holds little for it: what it does not read need not be megabytes first.
    with client_of(service, sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)]) as deaf:
        with contextlib.suppress(OSError):
            for i in range(64):
                deaf.send(streamed_request(method, isolate, str(i)))
        for _ in range(50):
            assert innocent.rpc("getVersion")["type"] == "Version"
        until(lambda: not is_connected(service, deaf), "the deaf client's end")


def is_connected(service, client) -> bool:
    """Seen from the service's side of the connection, for the deaf must not read."""
    ours = "%08X:%04X" % (0x0100007F, client.sock.getsockname()[1])
    with open("/proc/net/tcp") as table:
        lines = [line.split() for line in table]
    return any(line[2] == ours and line[3] == "01" for line in lines)


# Frames


MASK = b"\0\0\0\0"


@pytest.mark.parametrize(
    "frame",
    [
        b"\xf1\x80" + MASK,
        b"\x83\x80" + MASK,
        b"\x8b\x80" + MASK,
        b"\x80\x82" + MASK + b"ab",
        b"\x09\x80" + MASK,
        b"\x89\xfe\x00\x7e" + MASK + b"x" * 126,
        b"\x88\x81" + MASK + b"x",
        b"\x01\x82" + MASK + b"ab" + b"\x01\x82" + MASK + b"ab",
        b"\x81\xff" + b"\xff" * 8 + MASK + b"ab",
    ],
    ids=["reserved bits", "unknown opcode", "unknown control", "continues nothing",
         "fragmented ping", "long ping", "close of one byte", "text within text",
         "longer than there is"],
)
def test_frames_that_break_the_protocol_end_their_client_alone(service, innocent, frame):
    with client_of(service) as client:
        client.sock.sendall(frame)
        assert ended(client) in (0, 1002, 1009)


def test_a_frame_without_a_mask_breaks_nothing(service, innocent):
    with client_of(service) as client:
        client.sock.sendall(b"\x81\x02{}" + b"\x81\x26" + b'{"id":"1","method":"getVersion"} plain')
        client.sock.shutdown(socket.SHUT_WR)
        ended(client)


def test_a_giant_frame_is_not_kept(service, innocent):
    before = resident_kib(service)
    with client_of(service) as client:
        size = 48 * 1024 * 1024
        client.sock.sendall(b"\x81\xff" + size.to_bytes(8, "big") + MASK)
        with contextlib.suppress(OSError):
            for _ in range(48):
                client.sock.sendall(b" " * (1024 * 1024))
        assert ended(client) in (0, 1009)
        assert resident_kib(service) - before < 40 * 1024


def resident_kib(service) -> int:
    with open(f"/proc/{service_pid(service.process.pid)}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_fragments_without_end_are_ended(service, innocent):
    with client_of(service) as client:
        client.send_frame(ABNF.create_frame("{", ABNF.OPCODE_TEXT, 0))
        with contextlib.suppress(OSError, websocket.WebSocketException):
            for _ in range(100):
                client.send_frame(ABNF.create_frame(b" " * (1024 * 1024), ABNF.OPCODE_CONT, 0))
            pytest.fail("was never ended")


def test_an_unfinished_message_ends_its_client_after_its_patience(service, innocent):
    with client_of(service) as client:
        client.send_frame(ABNF.create_frame('{"id":', ABNF.OPCODE_TEXT, 0))
        assert ended(client) == 0


def test_a_flood_of_pings_holds_up_nobody(service, innocent):
    with client_of(service) as client:
        frame = b"\x89\xfd" + MASK + b"x" * 125
        client.sock.settimeout(0.2)
        with contextlib.suppress(OSError):
            for _ in range(2000):
                client.sock.sendall(frame * 100)
                innocent.rpc("getVersion")


def test_only_the_pongs_of_others_are_ignored(service, innocent):
    with client_of(service) as client:
        for _ in range(1000):
            client.pong(b"x")
        client.send('{"id":"after","method":"getVersion"}')
        assert json.loads(client.recv())["id"] == "after"


# Connections


def test_500_connections_that_say_half_a_request_leave_room(service, innocent):
    half = f"GET /{token(service)}/ws HTTP/1.1\r\nHost: loc".encode()
    with contextlib.ExitStack() as stack:
        for i in range(500):
            raw = stack.enter_context(
                socket.create_connection(("127.0.0.1", service.port), timeout=30))
            raw.sendall(half[: i % len(half)])
        assert upgrade_status(service, f"/{token(service)}/ws") == 101
        assert innocent.rpc("getVersion")["type"] == "Version"


def test_connections_that_say_half_a_request_are_closed(service, innocent):
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert raw.recv(100) == b""


@streamed
def test_connections_that_are_reset_in_the_middle_of_a_reply_break_nothing(
    service, innocent, method
):
    isolate = program_of(innocent)
    for _ in range(50):
        with client_of(service) as client:
            client.send(streamed_request(method, isolate))
            client.recv_frame()
            linger = (1).to_bytes(4, sys.byteorder) + bytes(4)  # close resets
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def test_a_reader_of_one_kibibyte_a_second_holds_up_nobody(service, innocent):
    """One for each kind of reply, all at once."""
    isolate = program_of(innocent)
    until(lambda: sample_count(innocent, isolate) == 1000, "a thousand samples")
    with contextlib.ExitStack() as stack:
        readers = {method: stack.enter_context(client_of(service)) for method in STREAMED}
        for method, slow in readers.items():
            slow.send(streamed_request(method, isolate))
        for _ in range(5):
            for slow in readers.values():
                slow.sock.settimeout(0.05)
                with contextlib.suppress(TimeoutError):  # a short reply has been read whole
                    assert slow.sock.recv(1024)
            next_s = time.monotonic() + 1
            for _ in range(25):
                assert innocent.rpc("getVersion")["type"] == "Version"
            while time.monotonic() < next_s:
                assert innocent.rpc("getVersion")["type"] == "Version"


def test_a_client_that_asks_too_fast_is_told_so(start):
    running = start(["sleep", "1000"], "--client-rate", "5")
    hasty, other = running.connect(), running.connect()
    sent = [hasty.send("getVersion") for _ in range(20)]
    replies = [hasty.receive(request) for request in sent]
    refused = [r["error"] for r in replies if "error" in r]
    assert refused and all(error["code"] == -32000 for error in refused)
    assert "5 requests" in refused[0]["data"]["details"]
    assert other.rpc("getVersion")["type"] == "Version"
    until(lambda: "result" in hasty.receive(hasty.send("getVersion")), "the next second")


# Strangers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "127.0.0.1@evil.example",
     "[::1].evil.example", "2130706433", "0x7f.1", "0.0.0.0", "localhost:80:80", "", "localhost,x"],
)
def test_names_bound_to_this_machine_by_strangers_stay_outside(service, innocent, host):
    path = f"/{token(service)}"
    assert get(service, f"{path}/", Host=host)[0].status == 403
    assert get(service, f"{path}/getVM", Host=host)[0].status == 403
    assert upgrade_status(service, f"{path}/ws", host=host or " ") == 403


def test_a_request_without_a_host_stays_outside(service, innocent):
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as raw:
        raw.sendall(f"GET /{token(service)}/getVM HTTP/1.1\r\n\r\n".encode())
        assert b"400" in raw.recv(100)


def test_wrong_tokens_of_every_kind_stay_outside(service, innocent):
    right = token(service)
    wrong = {right[:-1], right + "=", right.swapcase(), right[::-1], os.urandom(12).hex() + "==",
             "A" + right[1:], right[:-3] + "A==", "%00" + right, right.replace("=", "%00"), "."}
    for text in wrong - {right}:
        # A byte of zero in a path is no HTTP: that connection just ends.
        with contextlib.suppress(http.client.RemoteDisconnected):
            assert get(service, f"/{text}/getVM")[0].status == 403, text
        with contextlib.suppress(websocket.WebSocketException, OSError):
            assert upgrade_status(service, f"/{text}/ws") == 403, text
