"""The one port: who may come in, and what clients of every kind get and cannot break."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import sys
import time
from pathlib import Path

import pytest
import websocket
from harness import children, until

SPIN = "import sys\nprint('ready', flush=True)\nwhile True: sum(range(1000))"


@pytest.fixture
def idle(start):
    running = start(["sleep", "1000"])
    assert running.uri
    return running


@pytest.fixture
def busy(start):
    running = start([sys.executable, "-c", SPIN])
    assert running.line() == "ready"
    return running


def get(running, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response, body


def token(running) -> str:
    return running.uri.split("/")[3]


def upgrade_status(running, path, **options) -> int:
    """101, or the status the upgrade was refused with."""
    try:
        websocket.create_connection(
            f"ws://127.0.0.1:{running.port}{path}", timeout=30, **options
        ).close()
    except websocket.WebSocketBadStatusException as refusal:
        return refusal.status_code
    return 101


# Who may come in


def test_the_token_has_128_bits_and_padding(idle):
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}==", token(idle))


@pytest.mark.parametrize("path", ["/", "/ws", "/x=/", "/getVM"])
def test_a_missing_or_wrong_token_is_forbidden(idle, path):
    response, body = get(idle, path)
    assert (response.status, body) == (403, "missing or invalid authentication code")
    assert response.headers["Content-Type"].startswith("text/plain")


def test_a_token_without_its_padding_is_forbidden(idle):
    assert get(idle, f"/{token(idle).rstrip('=')}/")[0].status == 403


def test_an_upgrade_without_the_token_is_forbidden(idle):
    assert upgrade_status(idle, "/ws") == 403
    assert upgrade_status(idle, "/AAAAAAAAAAAAAAAAAAAAAA==/ws") == 403
    assert upgrade_status(idle, f"/{token(idle)}/ws") == 101


def test_the_padding_may_be_percent_encoded(idle):
    assert get(idle, f"/{token(idle).replace('=', '%3D')}/")[0].status == 200
    assert upgrade_status(idle, f"/{token(idle).replace('=', '%3D')}/ws") == 101


def test_the_page_says_what_this_is(idle):
    response, body = get(idle, f"/{token(idle)}/")
    assert response.status == 200
    assert idle.uri.replace("http:", "ws:") + "ws" in body
    assert response.headers["Referrer-Policy"] == "no-referrer"


def test_the_protocol_is_there_to_read_and_rpc_discover_gives_the_same(idle):
    response, body = get(idle, f"/{token(idle)}/openrpc.json")
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(body) == idle.connect().rpc("rpc.discover")
    assert get(idle, "/openrpc.json")[0].status == 403


def test_a_slow_reader_gets_the_whole_protocol(idle):
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        raw.settimeout(30)
        raw.connect(("127.0.0.1", idle.port))
        raw.sendall(f"GET /{token(idle)}/openrpc.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert get_status(idle) == 200  # by then our buffer is full
        reply = b"".join(iter(lambda: raw.recv(1000), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert json.loads(body)["openrpc"] == "1.3.2"


def test_the_page_without_its_slash_is_elsewhere(idle):
    response, _ = get(idle, f"/{token(idle)}")
    assert response.status == 302
    assert response.headers["Location"] == f"{token(idle)}/"


def test_other_paths_and_methods(idle):
    assert get(idle, f"/{token(idle)}/ws")[0].status == 400
    assert get(idle, f"/{token(idle)}/", method="POST")[0].status == 405
    assert get(idle, f"/{token(idle)}/", method="DELETE")[0].status == 405


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "[::1]:80", "127.0.0.1"])
def test_hosts_of_this_machine_may_come_in(idle, host):
    assert get(idle, f"/{token(idle)}/", Host=host)[0].status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_a_rebound_name_is_forbidden(idle, host):
    assert get(idle, f"/{token(idle)}/", Host=host)[0].status == 403
    if host:
        assert upgrade_status(idle, f"/{token(idle)}/ws", host=host) == 403


@pytest.mark.parametrize("origin", ["http://localhost:9100", "http://127.0.0.1", "http://[::1]:1"])
def test_pages_of_this_machine_may_come_in(idle, origin):
    assert get(idle, f"/{token(idle)}/", Origin=origin)[0].status == 200
    assert upgrade_status(idle, f"/{token(idle)}/ws", origin=origin) == 101


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "file://", "vscode-webview://x"])
def test_pages_of_other_sites_are_forbidden(idle, origin):
    response, body = get(idle, f"/{token(idle)}/", Origin=origin)
    assert (response.status, body) == (403, "forbidden origin")
    assert upgrade_status(idle, f"/{token(idle)}/ws", origin=origin) == 403
    assert get(idle, f"/{token(idle)}/", Sec_WebSocket_Origin=origin)[0].status == 403


def test_only_the_loopback_address_listens(idle):
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    port = f":{idle.port:04X}"
    fields = [line.split() for line in table.splitlines()]
    listening = [f[1] for f in fields if f[1].endswith(port) and f[3] == "0A"]
    assert listening == [f"0100007F{port}"]


# Handshakes


@pytest.mark.parametrize(
    "offered, agreed",
    [
        (["implicit-redirect"], "implicit-redirect"),
        (["chat", "implicit-redirect"], "implicit-redirect"),
        (["chat"], "chat"),
        (["json.v1", "other"], "json.v1"),
    ],
)
def test_a_client_that_offers_subprotocols_hears_one_of_them(idle, offered, agreed):
    client = idle.connect(subprotocols=offered)
    assert client.socket.subprotocol == agreed
    assert client.rpc("getVersion")["type"] == "Version"


def test_a_client_that_offers_nothing_hears_nothing(idle):
    client = idle.connect()
    assert "sec-websocket-protocol" not in client.socket.headers
    assert client.rpc("getVersion")["type"] == "Version"


def test_odd_handshakes_are_answered_and_break_nothing(idle):
    path = f"/{token(idle)}/ws"
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": "x" * 24}
    assert get(idle, path, **upgrade, Sec_WebSocket_Version="8")[0].status == 426
    assert get(idle, path, **upgrade)[0].status == 426
    assert get(idle, path, Connection="Upgrade", Upgrade="websocket",
               Sec_WebSocket_Version="13")[0].status == 400
    long = {"Sec_WebSocket_Version": "13", "Sec_WebSocket_Protocol": "x" * 500}
    assert get(idle, path, **upgrade, **long)[0].status == 400
    assert get(idle, f"/{token(idle)}/", Connection="Upgrade, HTTP2-Settings", Upgrade="h2c",
               HTTP2_Settings="AAMAAABkAAQCAAAAAAIAAAAA")[0].status == 200
    assert idle.connect().rpc("getVersion")["type"] == "Version"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0" * 100,
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01",
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000,
    ],
)
def test_what_is_no_http_breaks_nothing(idle, text):
    with socket.create_connection(("127.0.0.1", idle.port), timeout=30) as raw:
        try:
            raw.sendall(text)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(65536):
                pass
        except OSError:
            pass
    assert idle.connect().rpc("getVersion")["type"] == "Version"


# Messages


@pytest.mark.parametrize("text, code", [("{", 4000), ("nonsense", 4000), ("[]", 4002), ("5", 4002)])
def test_malformed_text_closes_its_client_and_no_other(idle, text, code):
    other, client = idle.connect(), idle.connect()
    client.socket.send(text)
    assert client.close_code() == code
    assert other.rpc("getVersion")["type"] == "Version"


def test_a_binary_message_closes_its_client(idle):
    client = idle.connect()
    client.socket.send_binary(b"{}")
    assert client.close_code() == 4001


@pytest.mark.parametrize(
    "request_text", ["{}", '{"id":true,"method":"getVM"}', '{"method":5,"id":1}']
)
def test_what_kills_the_real_vm_does_not_kill_this_one(idle, request_text):
    client = idle.connect()
    client.socket.send(request_text)
    assert idle.connect().rpc("getVersion")["type"] == "Version"


def test_text_that_is_not_utf8_closes_with_1007(idle):
    client = idle.connect()
    client.socket.send(b"\xff\xfe", opcode=websocket.ABNF.OPCODE_TEXT)
    assert client.close_code() == 1007


def test_a_request_in_fragments_is_one_request(idle):
    client = idle.connect()
    text = json.dumps({"jsonrpc": "2.0", "id": "f", "method": "getVersion"})
    client.checker.sent(text)
    parts = [text[i : i + 7] for i in range(0, len(text), 7)]
    for i, part in enumerate(parts):
        opcode = websocket.ABNF.OPCODE_TEXT if i == 0 else websocket.ABNF.OPCODE_CONT
        frame = websocket.ABNF.create_frame(part, opcode, int(i == len(parts) - 1))
        client.socket.send_frame(frame)
        if i == 3:
            client.socket.ping("between")
    assert client.receive("f")["result"]["type"] == "Version"


def test_a_long_request_is_taken_and_a_too_long_one_closes_with_1009(idle):
    client = idle.connect()
    assert client.rpc("getVersion", padding="x" * (4 * 1024 * 1024))["type"] == "Version"
    try:
        client.send("getVersion", padding="x" * (9 * 1024 * 1024))
    except OSError:
        pass  # closed while we were still sending
    assert client.close_code() == 1009


# Many, slow and hostile


def test_64_clients_are_answered(idle):
    clients = [idle.connect() for _ in range(64)]
    sent = [client.send("getVM") for client in clients]
    for client, request in zip(clients, sent):
        assert client.receive(request)["result"]["type"] == "VM"


def test_too_many_clients_are_told_so_and_places_come_free(idle):
    clients = [idle.connect() for _ in range(128)]
    assert upgrade_status(idle, f"/{token(idle)}/ws") == 503
    clients[0].close()
    until(lambda: upgrade_status(idle, f"/{token(idle)}/ws") == 101, "a free place")


def test_connections_that_say_nothing_do_not_use_up_the_places(idle):
    silent = [socket.create_connection(("127.0.0.1", idle.port), timeout=30) for _ in range(300)]
    for one in silent:
        one.close()
    until(lambda: get_status(idle) == 200, "an answer")


def get_status(running):
    try:
        return get(running, f"/{token(running)}/")[0].status
    except (OSError, http.client.HTTPException):
        return None


def program_of(client) -> str:
    """The program's isolate: its hello may be on its way still."""
    return until(lambda: client.rpc("getVM")["isolates"], "the hello")[0]["id"]


def samples(client, isolate):
    return client.rpc("_getCpuSamples", isolateId=isolate, timestamp=0, count=1_000_000)


def test_a_slow_reader_holds_up_nobody_and_gets_everything(busy):
    quick = busy.connect()
    isolate = program_of(quick)
    until(lambda: samples(quick, isolate)["sampleCount"] > 1000, "a thousand samples")

    slow = busy.connect(sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)])
    sent = [slow.send("_getCpuSamples", isolateId=isolate, timestamp=0, count=1_000_000)
            for _ in range(5)]
    for _ in range(20):
        assert quick.rpc("getVersion")["type"] == "Version"
    # In any order: one whose names are still being read waits, and lets others by.
    replies = slow.receive_all(sent)
    for reply in (replies[request]["result"] for request in sent):
        assert reply["sampleCount"] == len(reply["samples"]) > 1000


def test_a_client_that_floods_without_reading_is_closed_not_fed(idle):
    flood = idle.connect(sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)])
    flood.socket.settimeout(10)
    deadline = time.monotonic() + 60  # it is told so first, and has some seconds to hear it
    with pytest.raises((OSError, websocket.WebSocketException)):
        while time.monotonic() < deadline:
            flood.send("getFlagList")
        pytest.fail("was never closed")
    assert idle.connect().rpc("getVersion")["type"] == "Version"


def feed_socket(running) -> str:
    def variables():
        program = children(running.process.pid)
        text = Path(f"/proc/{program[0]}/environ").read_bytes().decode() if program else ""
        return dict(line.split("=", 1) for line in text.split("\0") if "=" in line)

    return until(lambda: variables().get("ISOSCOPE_SOCKET"), "the program's environment")


def test_strangers_at_the_feeds_socket_are_closed_and_break_nothing(idle):
    path = feed_socket(idle)
    head = b"\x69\x73\x6f\x6d\x01\0\x01\0"  # of a hello, without memory
    for text in (b"x", b"\0" * 1000, os.urandom(548), head + b"\0" * 540):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            stranger.settimeout(30)
            stranger.connect(path)
            stranger.send(text)
            try:
                assert stranger.recv(100) == b""
            except ConnectionResetError:
                pass
    assert idle.connect().rpc("getVersion")["type"] == "Version"


def test_nobody_else_can_reach_the_feeds_socket(idle):
    folder = Path(feed_socket(idle)).parent
    assert folder.stat().st_mode & 0o777 == 0o700


def test_paused_takes_no_samples_until_it_is_enabled(start):
    running = start([sys.executable, "-c", SPIN], "--paused")
    assert running.line() == "ready"
    client = running.connect()
    isolate = program_of(client)
    enabled_us = time.monotonic_ns() // 1000
    client.rpc("_enableProfiler")
    until(lambda: samples(client, isolate)["sampleCount"] > 0, "samples")
    first = min(sample["timestamp"] for sample in samples(client, isolate)["samples"])
    assert first >= enabled_us
