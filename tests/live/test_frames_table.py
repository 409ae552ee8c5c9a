"""RFC 6455's frames, a row for each thing a client may get wrong, or do right in an odd way.

One service for all rows, and a connection for each. The frames are made here, byte by byte.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import zlib

import pytest
from harness import service_of
from test_http_table import HOST, UPGRADE, get, place

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FIN, RSV1, RSV2, RSV3 = 0x80, 0x40, 0x20, 0x10
REQUEST = b'{"id":"1","method":"getVersion"}'
LONG = b'{"id":"1","method":"getVersion","params":{"x":"' + b"y" * 70_000 + b'"}}'


@pytest.fixture(scope="module")
def service():
    with service_of(["/bin/sleep", "1000"], "--deflate") as running:
        yield running


def masked(data: bytes, mask: bytes) -> bytes:
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(len(data), "big")


def frame(opcode: int, data: bytes = b"", flags: int = FIN, mask: bytes = b"\x37\xfa\x21\x3d") -> bytes:
    size = len(data)
    length = (bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
              if size < 65536 else b"\xff" + size.to_bytes(8, "big"))
    return bytes([flags | opcode]) + length + mask + masked(data, mask)


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, code.to_bytes(2, "big") + reason)


def packed(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


class Peer:
    """The client's end of an opened WebSocket, as bytes."""

    def __init__(self, service, extension: str = "") -> None:
        port, path = place(service)
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")
        offer = f"Sec-WebSocket-Extensions: {extension}\r\n" if extension else ""
        self.socket.sendall(get(f"{path}ws", HOST + UPGRADE + offer).encode())
        assert b" 101 " in self.file.readline()
        while self.file.readline() != b"\r\n":
            pass

    def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):  # closed while we still say something
            self.socket.sendall(data)

    def frame(self) -> tuple[int, bytes]:
        """The next one's first byte and payload; (-1, b"") at the end."""
        try:
            head = self.file.read(2)
        except ConnectionResetError:  # it did not read all that we said
            head = b""
        if len(head) < 2:
            return -1, b""
        length = head[1] & 127
        assert not head[1] & 0x80, "a service's frames have no mask"
        if length >= 126:
            length = int.from_bytes(self.file.read(2 if length == 126 else 8), "big")
        return head[0], self.file.read(length)

    def reply(self):
        """The next message, which is one frame."""
        first, data = self.frame()
        assert first & ~RSV1 == FIN | TEXT, (first, data)
        if first & RSV1:
            data = zlib.decompressobj(-15).decompress(data + b"\0\0\xff\xff")
        return json.loads(data)

    def ended(self) -> int:
        """The code that it is closed with; 0: the end came without a close frame."""
        code = 0
        while (got := self.frame())[0] >= 0:
            assert code == 0, "something behind a close frame"
            if got[0] == FIN | CLOSE:
                code = int.from_bytes(got[1][:2], "big") if got[1] else 1005
                got[1][2:].decode()
        return code

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture
def peer(service):
    one = Peer(service)
    yield one
    one.close()


@pytest.fixture
def packing(service):
    one = Peer(service, "permessage-deflate")
    yield one
    one.close()


ANSWERED = {
    "a whole message": frame(TEXT, REQUEST),
    "a mask of zeros": frame(TEXT, REQUEST, mask=bytes(4)),
    "fragments": frame(TEXT, REQUEST[:5], 0) + frame(CONT, REQUEST[5:9], 0) + frame(CONT, REQUEST[9:]),
    "an empty first fragment": frame(TEXT, b"", 0) + frame(CONT, REQUEST),
    "an empty last fragment": frame(TEXT, REQUEST, 0) + frame(CONT),
    "only empty fragments around it": frame(TEXT, b"", 0) + frame(CONT, REQUEST, 0) + frame(CONT),
    "a fragment for each byte": frame(TEXT, b"", 0)
    + b"".join(frame(CONT, bytes([byte]), 0) for byte in REQUEST) + frame(CONT),
    "pongs that nobody asked for": frame(PONG) + frame(PONG, b"x" * 125) + frame(TEXT, REQUEST),
    "a pong between fragments": frame(TEXT, REQUEST[:5], 0) + frame(PONG, b"x") + frame(CONT, REQUEST[5:]),
    "a length of 16 bits": frame(TEXT, REQUEST + b" " * 200),
    "125 bytes": frame(TEXT, REQUEST.ljust(125)),
    "126 bytes": frame(TEXT, REQUEST.ljust(126)),
    "127 bytes": frame(TEXT, REQUEST.ljust(127)),
    "65,535 bytes": frame(TEXT, REQUEST.ljust(65535)),
    "65,536 bytes": frame(TEXT, REQUEST.ljust(65536)),
    "a length of 64 bits": frame(TEXT, LONG),
    "characters cut by fragments": frame(TEXT, '{"x":"€'.encode()[:-1], 0)
    + frame(CONT, '€'.encode()[-1:] + '𝄞'.encode()[:2], 0)
    + frame(CONT, '𝄞'.encode()[2:] + b'","id":"1","method":"getVersion"}'),
    "the last code points": frame(TEXT, '{"x":"\x7f߿￿\U0010ffff﷐","id":"1","method":"getVersion"}'.encode()),
}


@pytest.mark.parametrize("data", ANSWERED.values(), ids=ANSWERED)
@pytest.mark.parametrize("step", [0, 1], ids=["at once", "byte by byte"])
def test_what_is_right_is_answered(peer, data, step):
    if step:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(0, len(data) if step and len(data) < 1000 else 1):
        peer.send(data[at : at + 1] if step and len(data) < 1000 else data)
    assert peer.reply()["result"]["type"] == "Version"


@pytest.mark.parametrize("payload", [b"", b"Hello", b"\0\xff\xfe", b"x" * 125])
def test_a_ping_is_answered_with_its_bytes(peer, payload):
    peer.send(frame(PING, payload))
    assert peer.frame() == (FIN | PONG, payload)


def test_pings_between_fragments_are_answered_before_the_message(peer):
    peer.send(frame(TEXT, REQUEST[:5], 0) + frame(PING, b"between"))
    assert peer.frame() == (FIN | PONG, b"between")
    peer.send(frame(CONT, REQUEST[5:]))
    assert peer.reply()["id"] == "1"


def test_of_pings_that_come_at_once_the_last_is_answered(peer):
    peer.send(b"".join(frame(PING, bytes([i])) for i in range(10)) + frame(TEXT, REQUEST))
    pongs = []
    while (got := peer.frame())[0] == FIN | PONG:
        pongs.append(got[1])
    assert pongs[-1:] == [b"\x09"] and json.loads(got[1])["id"] == "1"


def test_what_comes_with_the_handshake_is_read(service):
    port, path = place(service)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(get(f"{path}ws", HOST + UPGRADE).encode() + frame(TEXT, REQUEST))
        data = b""
        while b'"result"' not in data:
            data += (more := raw.recv(65536))
            assert more, data


def test_what_comes_with_the_handshake_is_an_event_for_others(service, peer):
    port, path = place(service)
    peer.send(frame(TEXT, b'{"id":"1","method":"streamListen","params":{"streamId":"VM"}}'))
    assert "result" in peer.reply()
    rename = frame(TEXT, b'{"id":"1","method":"setVMName","params":{"name":"isoscope"}}')
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(get(f"{path}ws", HOST + UPGRADE).encode() + rename)
        assert peer.reply()["params"]["event"]["kind"] == "VMUpdate"


BROKEN = {
    1002: {
        "no mask": b"\x81\x02{}",
        "no mask, and nothing in it": b"\x81\x00",
        "a ping without mask": b"\x89\x00",
        "a close without mask": b"\x88\x00",
        "RSV1": frame(TEXT, REQUEST, FIN | RSV1),
        "RSV2": frame(TEXT, REQUEST, FIN | RSV2),
        "RSV3": frame(TEXT, REQUEST, FIN | RSV3),
        "RSV1 and RSV2": frame(TEXT, REQUEST, FIN | RSV1 | RSV2),
        "RSV1 at a ping": frame(PING, b"", FIN | RSV1),
        "RSV3 at a close": frame(CLOSE, b"", FIN | RSV3),
        **{f"opcode {code}": frame(code, b"x") for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
        "opcode 3 without FIN": frame(3, b"x", 0),
        "a fragmented ping": frame(PING, b"x", 0),
        "a fragmented close": frame(CLOSE, b"", 0),
        "a ping of 126 bytes": frame(PING, b"x" * 126),
        "a pong of 126 bytes": frame(PONG, b"x" * 126),
        "a ping of 70,000 bytes": frame(PING, b"x" * 70_000),
        "a close of 126 bytes": close_frame(1000, b"x" * 124),
        "a ping whose length takes 16 bits": b"\x89\xfe\x00\x01\0\0\0\0x",
        "a ping whose length takes 64 bits": b"\x89\xff" + (1).to_bytes(8, "big") + b"\0\0\0\0x",
        "16 bits for a short length": b"\x81\xfe\x00\x02\0\0\0\0{}",
        "64 bits for a short length": b"\x81\xff" + (2).to_bytes(8, "big") + b"\0\0\0\0{}",
        "64 bits for a length of 16": b"\x81\xff" + (200).to_bytes(8, "big") + b"\0\0\0\0" + b" " * 200,
        "2^63 bytes": b"\x81\xff\x80" + bytes(7) + b"\0\0\0\0{}",
        "2^64 - 1 bytes": b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0{}",
        "it goes on with nothing": frame(CONT, b"x"),
        "it goes on with nothing, unfinished": frame(CONT, b"x", 0),
        "it goes on with what has ended": frame(TEXT, b"{", 0) + frame(CONT, b"}x") + frame(CONT),
        "text in the middle of text": frame(TEXT, b"{", 0) + frame(TEXT, b"}"),
        "binary in the middle of text": frame(TEXT, b"{", 0) + frame(BINARY, b"}"),
        "a close of one byte": frame(CLOSE, b"\x03"),
        **{f"close code {code}": close_frame(code)
           for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)},
    },
    1007: {
        "a byte that begins nothing": frame(TEXT, b"\xff"),
        "a byte that goes on with nothing": frame(TEXT, b"{\x80}"),
        "a cut character": frame(TEXT, b'"\xe2\x82'),
        "a cut character before a quote": frame(TEXT, b'"\xe2\x82"'),
        "a slash in two bytes": frame(TEXT, b'"\xc0\xaf"'),
        "a slash in three bytes": frame(TEXT, b'"\xe0\x80\xaf"'),
        "a slash in four bytes": frame(TEXT, b'"\xf0\x80\x80\xaf"'),
        "a surrogate": frame(TEXT, b'"\xed\xa0\x80"'),
        "a pair of surrogates": frame(TEXT, b'"\xed\xa0\x80\xed\xb0\x80"'),
        "above U+10FFFF": frame(TEXT, b'"\xf4\x90\x80\x80"'),
        "five bytes": frame(TEXT, b'"\xf8\x88\x80\x80\x80"'),
        "in a later fragment": frame(TEXT, b'"', 0) + frame(CONT, b"\xff", 0),
        "before the message has ended": frame(TEXT, b'"\xff', 0),
        "cut by the end of the message": frame(TEXT, b'"', 0) + frame(CONT, b"\xe2\x82"),
        "a close reason": close_frame(1000, b"\xff"),
        "a cut close reason": close_frame(1000, b"\xe2\x82"),
    },
    1009: {
        "a frame of 2^40 bytes": b"\x81\xff" + (2**40).to_bytes(8, "big") + b"\0\0\0\0{}",
        "a frame of 2^62 bytes": b"\x82\xff" + (2**62).to_bytes(8, "big") + b"\0\0\0\0{}",
        "9 MiB": frame(TEXT, b" " * (9 << 20)),
        "9 MiB in fragments": frame(TEXT, b" ", 0) + frame(CONT, b" " * (1 << 20), 0) * 9 + frame(CONT),
        "9 MiB of binary": frame(BINARY, bytes(9 << 20)),
    },
    4000: {
        "no JSON": frame(TEXT, b"{"),
        "an empty message": frame(TEXT),
        "an empty message in fragments": frame(TEXT, b"", 0) + frame(CONT),
    },
    4001: {"binary": frame(BINARY, b"{}"), "empty binary": frame(BINARY)},
    4002: {"no map": frame(TEXT, b"[]")},
}


@pytest.mark.parametrize(
    "code, data",
    [(code, data) for code, rows in BROKEN.items() for data in rows.values()],
    ids=[f"{code} {name}" for code, rows in BROKEN.items() for name in rows],
)
def test_what_is_wrong_is_closed_with_its_code(peer, code, data):
    peer.send(data)
    if code >= 4000 or len(data) > 1_000_000:
        peer.send(close_frame(1000))  # these end in order: after our answer
    assert peer.ended() == code


def test_what_stands_behind_a_mistake_is_not_read(peer):
    peer.send(b"\x81\x00" + frame(TEXT, REQUEST) * 10)
    assert peer.frame()[0] == FIN | CLOSE
    assert peer.frame()[0] == -1


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013,
                                  1014, 3000, 3999, 4000, 4999])
def test_a_close_is_answered_with_its_code(peer, code):
    peer.send(close_frame(code, b"x" * 123))
    assert peer.ended() == code


def test_a_close_without_a_code_is_answered_without_one(peer):
    peer.send(frame(CLOSE))
    assert peer.frame() == (FIN | CLOSE, b"")
    assert peer.frame() == (-1, b"")


def test_a_close_in_the_middle_of_a_message_is_a_close(peer):
    peer.send(frame(TEXT, b"{", 0) + close_frame(1000))
    assert peer.ended() == 1000


def test_what_comes_behind_a_close_is_not_answered(peer):
    peer.send(close_frame(1000) + frame(PING, b"x") + frame(TEXT, REQUEST))
    assert peer.ended() == 1000


def test_a_client_that_just_goes_away_is_forgotten(service):
    for _ in range(300):  # more than there are places
        Peer(service).close()
    one = Peer(service)
    one.send(frame(TEXT, REQUEST))
    assert one.reply()["id"] == "1"
    one.close()


# permessage-deflate


PACKED = {
    "packed": frame(TEXT, packed(REQUEST), FIN | RSV1),
    "not packed, which it may be": frame(TEXT, REQUEST),
    "packed in fragments": frame(TEXT, packed(REQUEST)[:5], RSV1) + frame(CONT, packed(REQUEST)[5:]),
    "a ping between": frame(TEXT, packed(REQUEST)[:5], RSV1) + frame(PONG) + frame(CONT, packed(REQUEST)[5:]),
    "an empty last fragment": frame(TEXT, packed(REQUEST), RSV1) + frame(CONT),
    "stored, not packed": frame(TEXT, b"\0" + len(REQUEST).to_bytes(2, "little")
                                + (len(REQUEST) ^ 0xFFFF).to_bytes(2, "little") + REQUEST + b"\0", FIN | RSV1),
    "with an end of its own": frame(TEXT, zlib.compress(REQUEST)[2:-4] + b"\0", FIN | RSV1),
    "large": frame(TEXT, packed(LONG), FIN | RSV1),
}


@pytest.mark.parametrize("data", PACKED.values(), ids=PACKED)
def test_packed_messages_are_read(packing, data):
    packing.send(data)
    assert packing.reply()["result"]["type"] == "Version"


def test_many_packed_messages_are_read_and_answered(packing):
    for i in range(20):
        text = json.dumps({"id": str(i), "method": "x" * i * 100}).encode()
        packing.send(frame(TEXT, packed(text), FIN | RSV1))
    unpacker = zlib.decompressobj(-15)
    for i in range(20):
        first, data = packing.frame()
        assert first == FIN | TEXT | RSV1
        assert json.loads(unpacker.decompress(data + b"\0\0\xff\xff"))["id"] == str(i)


@pytest.mark.parametrize("window", [9, 12])
def test_replies_keep_to_the_window_that_was_asked_for(service, window):
    one = Peer(service, f"permessage-deflate; server_max_window_bits={window}")
    one.send(frame(TEXT, b'{"id":"1","method":"rpc.discover"}'))
    data, fin = b"", False
    while not fin:
        first, part = one.frame()
        data, fin = data + part, bool(first & FIN)
    text = zlib.decompressobj(-window).decompress(data + b"\0\0\xff\xff")
    assert json.loads(text)["result"]["openrpc"]
    one.close()


def test_without_context_each_reply_stands_alone(service):
    one = Peer(service, "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
    for _ in range(3):
        one.send(frame(TEXT, packed(REQUEST), FIN | RSV1))
        assert one.reply()["id"] == "1"  # unpacked without what came before
    one.close()


PACKED_WRONG = {
    1002: {
        "not packed at all": frame(TEXT, b"\xff" * 5, FIN | RSV1),
        "a packed continuation": frame(TEXT, b"{", 0) + frame(CONT, b"}", FIN | RSV1),
        "RSV2": frame(TEXT, REQUEST, FIN | RSV2),
        "a packed ping": frame(PING, b"", FIN | RSV1),
        "bytes from before the beginning": frame(TEXT, b"\x02\x02\0", FIN | RSV1),
    },
    1007: {"no UTF-8 in it": frame(TEXT, packed(b"\xff"), FIN | RSV1)},
    1009: {"a bomb of 16 MiB": frame(TEXT, packed(b" " * (16 << 20)), FIN | RSV1)},
    4000: {"an empty one": frame(TEXT, b"", FIN | RSV1), "an empty block": frame(TEXT, b"\0", FIN | RSV1)},
    0: {"a bomb of 100 MiB": frame(TEXT, packed(b" " * (100 << 20)), FIN | RSV1)},
}


@pytest.mark.parametrize(
    "code, data",
    [(code, data) for code, rows in PACKED_WRONG.items() for data in rows.values()],
    ids=[f"{code} {name}" for code, rows in PACKED_WRONG.items() for name in rows],
)
def test_what_is_packed_wrong_is_closed_with_its_code(packing, code, data):
    packing.send(data)
    if code in (1009, 4000):
        packing.send(close_frame(1000))
    assert packing.ended() == code


def test_random_bytes_end_their_client_alone(service):
    for _ in range(100):
        one = Peer(service, "permessage-deflate")
        one.send(os.urandom(300))
        one.socket.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            one.ended()
        one.close()
    one = Peer(service)
    one.send(frame(TEXT, REQUEST))
    assert one.reply()["id"] == "1"
    one.close()
