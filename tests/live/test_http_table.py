"""RFC 9112 (and 9110, 7692, 6455's opening), a row for each thing a client may get wrong or ask for.

One service for all rows. Each row is a head as it is sent and the status that it gets; afterwards
the connection is closed, with nothing behind the answer.
"""

from __future__ import annotations

import socket

import pytest
from harness import service_of

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
UPGRADE = ("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           f"Sec-WebSocket-Key: {KEY}\r\n")
HOST = "Host: localhost\r\n"


@pytest.fixture(scope="module")
def service():
    with service_of(["/bin/sleep", "1000"], "--deflate") as running:
        yield running


def place(service) -> tuple[int, str]:
    """The port, and the path with the token and its slash."""
    rest = service.uri.split("://")[1]
    return int(rest.split(":")[1].split("/")[0]), "/" + rest.split("/", 1)[1]


def exchange(service, text: bytes, close: bool = False) -> bytes:
    """All that is answered, to the connection's end."""
    with socket.create_connection(("127.0.0.1", place(service)[0]), timeout=30) as raw:
        raw.sendall(text)
        if close:
            raw.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: raw.recv(65536), b""))


def ask(service, text: str) -> tuple[int, bytes]:
    """The status of the one answer, and the answer. $/ is the path below the token."""
    data = text.replace("$/", place(service)[1]).encode("latin-1")
    answer = exchange(service, data)
    assert answer.startswith(b"HTTP/1.1 "), answer[:200]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nX-Content-Type-Options: nosniff\r\n" in answer
    assert b"\r\nConnection: close\r\n" in answer
    return int(answer[9:12]), answer


def get(target="$/getVersion", fields=HOST, version="HTTP/1.1", method="GET") -> str:
    return f"{method} {target} {version}\r\n{fields}\r\n"


SERVED = {
    "as it should be": get(),
    "an empty line before it": "\r\n" + get(),
    "an absolute target": get("http://localhost:1$/getVersion"),
    "an absolute target, in capitals": get("HTTP://LOCALHOST$/getVersion"),
    "an absolute target stands for Host": get("http://127.0.0.1$/getVersion", "Host: x.example\r\n"),
    "a newer minor version": get(version="HTTP/1.9"),
    "HTTP/1.0": get(version="HTTP/1.0"),
    "an offer of HTTP/2": get(fields=HOST + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                              "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"),
    "an offer of HTTP/2 without settings": get(fields=HOST + "Connection: Upgrade\r\nUpgrade: h2c\r\n"),
    "an unknown upgrade": get(fields=HOST + "Connection: Upgrade\r\nUpgrade: foo/2\r\n"),
    "an upgrade that the connection does not name": get(fields=HOST + "Upgrade: websocket\r\n"),
    "no space behind the colon": get(fields="Host:localhost\r\n"),
    "tabs and spaces around the value": get(fields="Host: \t localhost \t\r\n"),
    "a field in capitals": get(fields="HOST: localhost\r\n"),
    "an empty field": get(fields=HOST + "X:\r\n"),
    "bytes above ASCII in a field": get(fields=HOST + "X: \xe9\xff\r\n"),
    "a body": get(fields=HOST + "Content-Length: 5\r\n") + "hello",
    "a body of no bytes": get(fields=HOST + "Content-Length: 0\r\n"),
    "a body in chunks": get(fields=HOST + "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
    "the same length twice": get(fields=HOST + "Content-Length: 1\r\nContent-Length: 1\r\n") + "x",
    "a request behind it": get() + get(),
    "an Expect": get(fields=HOST + "Expect: 100-continue\r\nContent-Length: 1\r\n"),
    "a field of the name Connect": get(fields=HOST + "Connect: x\r\n"),
    "an encoded path": get("$/get%56ersion"),
    "two slashes": get("$//getVersion"),
    "an empty query": get("$/getVersion?"),
    "empty parameters": get("$/getVersion?&&&"),
    "3,000 empty parameters": get("$/getVersion?" + "&" * 3000),
    "a question mark in the query": get("$/getVersion?a=?"),
    "128 fields": get(fields=HOST + "X: y\r\n" * 127),
}


@pytest.mark.parametrize("text", SERVED.values(), ids=SERVED)
def test_what_is_right_is_served(service, text):
    assert ask(service, text)[0] == 200


REFUSED = {
    400: {
        "no version": "GET $/getVersion\r\n" + HOST + "\r\n",
        "another protocol": get(version="FOO/1.1"),
        "a version in small letters": get(version="http/1.1"),
        "a version of two digits": get(version="HTTP/1.10"),
        "a version without minor": get(version="HTTP/1"),
        "two spaces in the request line": get(version=" HTTP/1.1"),
        "a space in the target": get("$/get Version"),
        "a tab in the request line": get(version="HTTP/1.1\t"),
        "no target": "GET  HTTP/1.1\r\n" + HOST + "\r\n",
        "no method": " $/getVersion HTTP/1.1\r\n" + HOST + "\r\n",
        "a method that is no token": get(method="G(T"),
        "a target without slash": get("getVersion"),
        "a fragment": get("$/getVersion#x"),
        "bytes above ASCII in the target": get("$/get\xe9"),
        "an asterisk for GET": get("*"),
        "an absolute target of another scheme": get("ftp://localhost$/getVersion"),
        "an absolute target without host": get("http://$/getVersion"),
        "half an encoded byte": get("$/getVersion%4"),
        "no encoded byte": get("$/getVersion%zz"),
        "an encoded byte of zero": get("$/getVersion%00"),
        "an encoded byte of zero in a parameter": get("$/getVersion?a=%00"),
        "half an encoded byte in a parameter": get("$/getVersion?a=%4"),
        "no Host": get(fields=""),
        "two Hosts": get(fields=HOST + HOST),
        "two Hosts, one a stranger's": get(fields=HOST + "Host: x.example\r\n"),
        "a byte of zero in Host": get(fields="Host: 127.0.0.1\0.x.example\r\n"),
        "a byte of zero in the target": get("$/get\0Version"),
        "a control byte in a field": get(fields=HOST + "X: \x07\r\n"),
        "a space before the colon": get(fields=HOST + "X : y\r\n"),
        "a field without name": get(fields=HOST + ": y\r\n"),
        "a field without colon": get(fields=HOST + "X\r\n"),
        "a name that is no token": get(fields=HOST + "X(: y\r\n"),
        "a folded line": get(fields=HOST + "X: a\r\n b\r\n"),
        "a space before the first field": get(fields=" X: y\r\n" + HOST),
        "bare line feeds": get().replace("\r\n", "\n"),
        "one bare line feed": get(fields="Host: localhost\nX: y\r\n"),
        "a bare carriage return": get(fields=HOST + "X: a\rb\r\n"),
        "two lengths": get(fields=HOST + "Content-Length: 1\r\nContent-Length: 2\r\n"),
        "a list of lengths": get(fields=HOST + "Content-Length: 1, 2\r\n"),
        "a length with a sign": get(fields=HOST + "Content-Length: +1\r\n"),
        "a length that is none": get(fields=HOST + "Content-Length: x\r\n"),
        "an empty length": get(fields=HOST + "Content-Length:\r\n"),
        "a length and a coding": get(fields=HOST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        "a coding and a length of zero": get(fields=HOST + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"),
        "a coding twice": get(fields=HOST + "Transfer-Encoding: chunked\r\n" * 2),
        "a coding in HTTP/1.0": get(fields=HOST + "Transfer-Encoding: chunked\r\n", version="HTTP/1.0"),
        "a TLS client": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "the page's socket without upgrade": get("$/ws"),
        "an upgrade to be closed": get("$/ws", HOST + UPGRADE.replace("Connection: Upgrade", "Connection: close")),
        "an upgrade by HTTP/1.0": get("$/ws", HOST + UPGRADE, version="HTTP/1.0"),
        "an upgrade with a body": get("$/ws", HOST + UPGRADE + "Content-Length: 1\r\n"),
        "no key": get("$/ws", HOST + UPGRADE.replace(f"Sec-WebSocket-Key: {KEY}\r\n", "")),
        "an empty key": get("$/ws", HOST + UPGRADE.replace(KEY, "")),
        "a key of one character": get("$/ws", HOST + UPGRADE.replace(KEY, "x")),
        "a key of 15 bytes": get("$/ws", HOST + UPGRADE.replace(KEY, "A" * 20)),
        "a key of 17 bytes": get("$/ws", HOST + UPGRADE.replace(KEY, "A" * 23 + "=")),
        "a key with a strange character": get("$/ws", HOST + UPGRADE.replace("dGhl", "dGh-")),
        "two keys": get("$/ws", HOST + UPGRADE + f"Sec-WebSocket-Key: {KEY}\r\n"),
        "a subprotocol that is no token": get("$/ws", HOST + UPGRADE + "Sec-WebSocket-Protocol: http/1.1\r\n"),
        "too long a subprotocol": get("$/ws", HOST + UPGRADE + f"Sec-WebSocket-Protocol: {'x' * 128}\r\n"),
    },
    403: {
        "no token": get("/getVersion"),
        "no token and a byte of zero": get("/%00"),
        "no Host in HTTP/1.0": get(fields="", version="HTTP/1.0"),
        "an empty Host": get(fields="Host:\r\n"),
        "a stranger's Host": get(fields="Host: x.example\r\n"),
        "a stranger's absolute target": get("http://x.example$/getVersion"),
        "a user in an absolute target": get("http://localhost@x.example$/getVersion"),
        "a user at this machine": get("http://x@localhost$/getVersion"),
        "a stranger's second Origin": get(fields=HOST + "Origin: http://localhost\r\nOrigin: http://x.example\r\n"),
        "a second Sec-Fetch-Site": get(fields=HOST + "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"),
        "an upgrade without the token": get("/ws", HOST + UPGRADE),
    },
    404: {"an upgrade elsewhere": get("$/getVersion", HOST + UPGRADE)},
    405: {
        "HEAD, as from the VM": get(method="HEAD"),
        "POST": get(method="POST", fields=HOST + "Content-Length: 5\r\n") + "hello",
        "PUT": get(method="PUT"),
        "DELETE": get(method="DELETE"),
        "PATCH": get(method="PATCH"),
        "OPTIONS": get(method="OPTIONS"),
        "OPTIONS of all": get("*", method="OPTIONS"),
        "TRACE": get(method="TRACE"),
        "a preflight": get(method="OPTIONS", fields=HOST + "Origin: http://x.example\r\n"
                           "Access-Control-Request-Method: POST\r\n"),
        "get in small letters": get(method="get"),
        "an unknown method": get(method="BREW"),
        "CONNECT": get("x:1", method="CONNECT", fields=""),
        "CONNECT with Host": get("localhost:1", method="CONNECT"),
    },
    414: {
        "a query of 20 KB": get("$/getVersion?a=" + "x" * 20_000),
        "a path of 20 KB": get("/" + "x" * 20_000),
        "65 parameters": get("$/getVersion?" + "&".join(f"p{i}=1" for i in range(65))),
    },
    426: {
        "an old WebSocket": get("$/ws", HOST + UPGRADE.replace("13", "8")),
        "no WebSocket version": get("$/ws", HOST + UPGRADE.replace("Sec-WebSocket-Version: 13\r\n", "")),
    },
    431: {
        "129 fields": get(fields=HOST + "X: y\r\n" * 128),
        "10,000 fields": get(fields=HOST + "X: y\r\n" * 10_000),
        "a field of 1 MB": get(fields=HOST + "X: " + "y" * 1_000_000 + "\r\n"),
    },
    501: {"an unknown coding": get(fields=HOST + "Transfer-Encoding: gzip, chunked\r\n")},
    505: {
        "HTTP/9.9": get(version="HTTP/9.9"),
        "HTTP/2.0": get(version="HTTP/2.0"),
        "HTTP/0.9": get(version="HTTP/0.9"),
        "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    },
}


@pytest.mark.parametrize(
    "status, text",
    [(status, text) for status, rows in REFUSED.items() for text in rows.values()],
    ids=[f"{status} {name}" for status, rows in REFUSED.items() for name in rows],
)
def test_what_is_wrong_is_refused_with_its_status(service, status, text):
    assert ask(service, text)[0] == status


def test_a_refused_method_is_told_which_are_allowed(service):
    assert b"\r\nAllow: GET\r\n" in ask(service, get(method="POST"))[1]


def test_a_refused_version_is_told_which_is_spoken(service):
    answer = ask(service, REFUSED[426]["an old WebSocket"])[1]
    assert b"\r\nSec-WebSocket-Version: 13\r\n" in answer and b"\r\nUpgrade: websocket\r\n" in answer


def test_head_is_answered_without_a_body(service):
    head, _, body = ask(service, get("$/", method="HEAD"))[1].partition(b"\r\n\r\n")
    assert head and body == b""


def test_who_closes_its_side_after_asking_is_answered(service):
    data = get().replace("$/", place(service)[1]).encode()
    assert b'"result"' in exchange(service, data, close=True)


def test_to_http_1_0_nothing_is_sent_in_chunks(service):
    head, _, body = ask(service, get(version="HTTP/1.0"))[1].partition(b"\r\n\r\n")
    assert b"chunked" not in head and body.startswith(b"{") and body.endswith(b"}")


def test_a_head_that_comes_byte_by_byte_is_one_head(service):
    port, path = place(service)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in get().replace("$/", path).encode():
            raw.sendall(bytes([byte]))
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")


# WebSockets


def opened(service, fields: str) -> bytes:
    """The head of the answer to an upgrade that is agreed to."""
    port, path = place(service)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(get(f"{path}ws", HOST + fields).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            data = raw.recv(4096)
            assert data, head
            head += data
    assert head.startswith(b"HTTP/1.1 101 "), head
    return head


OPENED = {
    "as it should be": UPGRADE,
    "in other letters": UPGRADE.replace("websocket", "WebSocket").replace("Connection: Upgrade", "connection: UPGRADE"),
    "among other upgrades": UPGRADE.replace("websocket", "foo, websocket"),
    "with a connection that stays": UPGRADE.replace("Connection: Upgrade", "Connection: keep-alive, Upgrade"),
    "two fields for two upgrades": "Upgrade: h2c\r\n" + UPGRADE,
}


@pytest.mark.parametrize("fields", OPENED.values(), ids=OPENED)
def test_an_upgrade_is_answered_with_the_keys_hash(service, fields):
    assert b"\r\nSec-WebSocket-Accept: " + ACCEPT + b"\r\n" in opened(service, fields)


@pytest.mark.parametrize("name", ["x", "x" * 63, "x" * 64, "x" * 127])
def test_a_subprotocol_of_any_length_up_to_127_is_agreed_to(service, name):
    head = opened(service, UPGRADE + f"Sec-WebSocket-Protocol: {name}\r\n")
    assert f"\r\nSec-WebSocket-Protocol: {name}\r\n".encode() in head


@pytest.mark.parametrize(
    "offer, answer",
    [
        ("permessage-deflate", "permessage-deflate"),
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        ("permessage-deflate; client_max_window_bits=10", "permessage-deflate"),
        ("permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
        ("permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"),
        ('permessage-deflate; server_max_window_bits="12"', "permessage-deflate; server_max_window_bits=12"),
        ("permessage-deflate; server_max_window_bits=8, permessage-deflate", "permessage-deflate"),
        ("x-other, permessage-deflate", "permessage-deflate"),
        ("permessage-deflate; server_max_window_bits=8", None),
        ("permessage-deflate; server_max_window_bits=16", None),
        ("permessage-deflate; server_max_window_bits", None),
        ("permessage-deflate; client_max_window_bits=7", None),
        ("permessage-deflate; server_no_context_takeover=1", None),
        ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", None),
        ("permessage-deflate; unknown", None),
        ("x-other", None),
    ],
)
def test_of_the_offered_extensions_the_first_right_one_is_agreed_to(service, offer, answer):
    head = opened(service, UPGRADE + f"Sec-WebSocket-Extensions: {offer}\r\n").decode()
    lines = [line for line in head.split("\r\n") if line.startswith("Sec-WebSocket-Extensions")]
    assert lines == ([f"Sec-WebSocket-Extensions: {answer}"] if answer else [])
