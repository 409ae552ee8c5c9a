"""What permessage-deflate costs the service, for the same replies with and without it.

    measure(uri, method, params) -> what 20 clients cost that offer it, or 20 that do not

Parts of ./dev bench protocol.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

CLIENTS = 20
ROUNDS = 5
REQUEST = {"jsonrpc": "2.0", "id": "1"}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Reader:
    """A client that counts what comes, and unpacks nothing: that would be its own cost."""

    def __init__(self, uri: str, offers: bool) -> None:
        parts = urlsplit(uri)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if offers else ""
        self.socket.sendall(
            f"GET {parts.path}ws HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{offer}\r\n".encode()
        )
        self.file = self.socket.makefile("rb")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.file.readline()
        if b" 101 " not in head or offers != (b"permessage-deflate" in head):
            raise OSError(f"the handshake was answered with {head!r}")

    def send(self, text: str) -> None:
        data = text.encode()
        self.socket.sendall(struct.pack("!BBH4x", 0x81, 0x80 | 126, len(data)) + data)

    def receive(self) -> int:
        """The bytes of a message on the wire."""
        total, last = 0, False
        while not last:
            first, length = self.file.read(2)
            last = bool(first & 0x80)
            if length >= 126:
                size = 2 if length == 126 else 8
                length = int.from_bytes(self.file.read(size), "big")
            while length:
                taken = len(self.file.read(min(length, 1 << 16)))
                if not taken:
                    raise OSError("the service closed the connection in the middle of a reply")
                total, length = total + taken, length - taken
        return total

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@dataclass(frozen=True)
class Cost:
    """Of one reply; resident: what each client has added when all have got theirs."""

    bytes: float
    cpu_s: float
    took_s: float
    resident: float


def measure(pid: int, uri: str, offers: bool, method: str, params: dict[str, object]) -> Cost:
    request = json.dumps({**REQUEST, "method": method, "params": params})
    with ExitStack() as stack:
        before = resident_bytes(pid)
        readers = []
        for _ in range(CLIENTS):
            readers.append(Reader(uri, offers))
            stack.callback(readers[-1].close)
        total, cpu, began = 0, cpu_seconds(pid), time.monotonic()
        for _ in range(ROUNDS):
            for reader in readers:  # one after the other: each reads at once
                reader.send(request)
                total += reader.receive()
        replies = CLIENTS * ROUNDS
        return Cost(total / replies, (cpu_seconds(pid) - cpu) / replies,
                    (time.monotonic() - began) / replies,
                    (resident_bytes(pid) - before) / CLIENTS)
