"""The WebSocket, against a server that sends exactly the bytes of the test."""

import base64
import hashlib
import re
import socket
import struct
import threading
from contextlib import contextmanager

import pytest
from isoscope import transport as transport_module
from isoscope.errors import CannotConnect, ProtocolError, ServiceEnded, TimedOut
from isoscope.transport import WebSocketTransport, websocket_uri

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


@pytest.mark.parametrize(
    "uri, expected",
    [
        ("http://127.0.0.1:8181/ab-_=/", "ws://127.0.0.1:8181/ab-_=/ws"),
        ("http://127.0.0.1:8181/ab=", "ws://127.0.0.1:8181/ab=/ws"),
        ("ws://127.0.0.1:8181/ab=/ws", "ws://127.0.0.1:8181/ab=/ws"),
        ("http://127.0.0.1:8181", "ws://127.0.0.1:8181/ws"),
        (" https://[::1]:8181/ab=/?x#y\n", "wss://[::1]:8181/ab=/ws"),
    ],
)
def test_the_address_follows_devtools_rule(uri, expected):
    assert websocket_uri(uri) == expected


@pytest.mark.parametrize("uri", ["", "127.0.0.1:8181", "ftp://x/", "http:///x", "http://x:99999/"])
def test_what_is_no_uri_says_so(uri):
    with pytest.raises(ValueError):
        websocket_uri(uri)


def frame(opcode, payload=b"", fin=True):
    head = bytes([opcode | (0x80 if fin else 0)])
    if len(payload) < 126:
        return head + bytes([len(payload)]) + payload
    return head + b"\x7f" + struct.pack("!Q", len(payload)) + payload


def accept(request):
    key = re.search(rb"Sec-WebSocket-Key: (\S+)", request).group(1)
    digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
    )


@contextmanager
def server(answer, frames=b"", hold=False):
    """Serves one connection: answer(request), then the frames; hold: keeps it open after."""
    seen, done = [], threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        with connection:
            seen.append(connection.recv(4096))
            connection.sendall(answer(seen[0]) + frames)
            if hold:
                done.wait(10)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/token=/", seen
    finally:
        done.set()
        thread.join()
        listener.close()


def received(frames, count=1):
    with server(accept, frames, hold=True) as (uri, _):
        transport = WebSocketTransport(uri, timeout_s=5)
        messages = [transport.receive() for _ in range(count)]
        transport.close()
        return messages


def test_fragments_with_a_ping_between_them_are_one_message():
    frames = frame(TEXT, b"{", fin=False) + frame(PING, b"x") + frame(CONTINUATION, b"}")
    assert received(frames) == [b"{}"]


def test_messages_larger_than_any_buffer_come_whole():
    assert received(frame(TEXT, b"a" * 3_000_000) + frame(TEXT, b"b"), 2) == [
        b"a" * 3_000_000,
        b"b",
    ]


def test_the_request_asks_for_the_token_and_names_no_origin():
    with server(accept, hold=True) as (uri, seen):
        WebSocketTransport(uri, timeout_s=5).close()
    assert seen[0].startswith(b"GET /token=/ws HTTP/1.1\r\n")
    assert b"Origin:" not in seen[0]


def refusal(status):
    with server(lambda request: f"HTTP/1.1 {status} No\r\n\r\n".encode()) as (uri, _):
        with pytest.raises(CannotConnect) as raised:
            WebSocketTransport(uri, timeout_s=5)
    return str(raised.value)


def test_a_wrong_token_is_told_apart_from_a_wrong_server():
    assert "refuses the token" in refusal(403)
    assert "not as a VM service (HTTP status 404)" in refusal(404)


def test_why_a_service_lets_nobody_in_is_the_cause():
    assert "has no place for one more client" in refusal(503)
    assert "--allow-host" in transport_module.refusal("box:8181", 403)
    assert "--allow-host" not in transport_module.refusal("localhost:8181", 403)
    assert "--allow-host" not in transport_module.refusal("/run/iso.sock", 403)


@pytest.mark.parametrize(
    "error, hint",
    [
        (ConnectionRefusedError(111, "Connection refused"), "unless it was started with --keep"),
        (FileNotFoundError(2, "No such file or directory"), "unless it was started with --keep"),
        (PermissionError(13, "Permission denied"), "for the user who started its service"),
        (socket.gaierror(-2, "Name or service not known"), "(Name or service not known)."),
    ],
)
def test_a_hint_is_for_its_own_error_alone(error, hint):
    assert transport_module.no_service("box:1", error).endswith(hint + ("" if hint[-1] == "." else "."))


def test_a_service_that_closes_one_client_has_not_ended():
    policy, away = (1008).to_bytes(2, "big"), (1001).to_bytes(2, "big")
    for code, words in ((policy, "closed the connection: full"), (away, "ended while it was being read: full")):
        with server(accept, frame(CLOSE, code + b"full"), hold=True) as (uri, _):
            transport = WebSocketTransport(uri, timeout_s=5)
            with pytest.raises(ServiceEnded, match=words):
                transport.receive()


def moved(location):
    return lambda request: f"HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n".encode()


def test_it_goes_where_the_service_sends_it_but_not_for_ever():
    with server(accept, frame(TEXT, b"hello"), hold=True) as (uri, seen):
        with server(moved(uri)) as (first, _):
            transport = WebSocketTransport(first, timeout_s=5)
        assert transport.receive() == b"hello"
        assert seen[0].startswith(b"GET /token=/ws ")
        transport.close()
    with server(moved("nowhere")) as (uri, _), pytest.raises(CannotConnect, match="not as a VM"):
        WebSocketTransport(uri, timeout_s=5)
    with server(moved("http://127.0.0.1:1/")) as (last, _), server(moved(last)) as (next_one, _):
        with server(moved(next_one)) as (uri, _), pytest.raises(CannotConnect, match="again"):
            WebSocketTransport(uri, timeout_s=5)


def test_a_server_of_another_kind_is_no_service():
    with server(lambda request: b"SSH-2.0-OpenSSH\r\n") as (uri, _):
        with pytest.raises(CannotConnect):
            WebSocketTransport(uri, timeout_s=5)


def test_no_server_says_that_a_service_ends_with_its_program():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(CannotConnect, match="--keep"):
        WebSocketTransport(f"http://127.0.0.1:{port}/", timeout_s=5)


def test_a_silent_server_times_out_while_connecting_and_after():
    with server(lambda request: b"", hold=True) as (uri, _):
        with pytest.raises(CannotConnect, match="does not answer"):
            WebSocketTransport(uri, timeout_s=0.05)
    with server(accept, hold=True) as (uri, _):
        transport = WebSocketTransport(uri, timeout_s=0.05)
        with pytest.raises(TimedOut):
            transport.receive()


def test_a_service_that_dies_in_mid_message_has_ended():
    with server(accept, frame(TEXT, b"a" * 1000)[:500]) as (uri, _):
        transport = WebSocketTransport(uri, timeout_s=5)
        with pytest.raises(ServiceEnded):
            transport.receive()


def test_a_close_frame_gives_its_reason():
    with server(accept, frame(CLOSE, struct.pack("!H", 1008) + b"too slow")) as (uri, _):
        transport = WebSocketTransport(uri, timeout_s=5)
        with pytest.raises(ServiceEnded, match="too slow"):
            transport.receive()


def test_a_binary_message_and_a_broken_frame_are_protocol_errors():
    for frames in (frame(BINARY, b"x"), b"\xff\x00"):
        with server(accept, frames, hold=True) as (uri, _):
            transport = WebSocketTransport(uri, timeout_s=5)
            with pytest.raises(ProtocolError):
                transport.receive()
