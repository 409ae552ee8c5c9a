"""One loopback port for a page from one server and the service of another.

A page that derives its WebSocket from its own address, and fetches some replies over HTTP from
where it came, sees one origin:

    with FrontDoor(page_port, service_uri) as door:
        door.uri              # "http://127.0.0.1:PORT/"
        door.said             # (method, params) of each request the page's sockets sent
        with door.holding("getVM"):  # neither this method nor a file of the name, until the end
            ...

What the service answers goes through untouched.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional
from urllib.parse import urlsplit

HELD_MAX_S = 120
SERVICE_PATHS = re.compile(r"^/(ws|get[A-Za-z]*|_get[A-Za-z]*)(\?|$)")


class FrontDoor:
    def __init__(self, page_port: int, service_uri: str) -> None:
        self.page = ("127.0.0.1", page_port)
        service = urlsplit(service_uri)
        self.service = ("127.0.0.1", service.port)
        self.prefix = service.path.rstrip("/")
        self.said: list[tuple[str, Any]] = []
        self.gates: dict[str, threading.Event] = {}  # by a method's or a file's name
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"

    def __enter__(self) -> FrontDoor:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        gate = self.gates[name] = threading.Event()
        try:
            yield
        finally:
            del self.gates[name]
            gate.set()

    def _pass(self, name: str) -> None:
        if gate := self.gates.get(name):
            gate.wait(HELD_MAX_S)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = _read_head(client)
        if head is None:
            client.close()
            return
        method, path, rest = head.split(" ", 2)
        to_service = bool(SERVICE_PATHS.match(path))
        host, port = self.service if to_service else self.page
        # One request a connection: what follows is then a WebSocket's, or nothing.
        if "upgrade: websocket" not in rest.lower():
            rest = re.sub(r"(?im)^connection:.*\r\n", "", rest)
            rest = rest.replace("\r\n", "\r\nConnection: close\r\n", 1)
        rest = re.sub(r"(?im)^(host:).*\r\n", f"\\1 {host}:{port}\r\n", rest)
        path = (self.prefix if to_service else "") + path
        name = urlsplit(path).path.rpartition("/")[2]
        if to_service and name != "ws":
            self.said.append((name, "HTTP"))
        self._pass(name)
        server = socket.create_connection((host, port))
        server.sendall(f"{method} {path} {rest}".encode("latin-1"))
        listen = self._hear(_Frames()) if name == "ws" else None
        threading.Thread(target=_pump, args=(client, server, listen), daemon=True).start()
        _pump(server, client, None)

    def _hear(self, frames: _Frames) -> Callable[[bytes], None]:
        """Notes what the page says, and holds it back where that is wanted."""
        def hear(data: bytes) -> None:
            for method, params in frames.feed(data):
                self.said.append((method, params))
                self._pass(method)
        return hear


def _read_head(client: socket.socket) -> Optional[str]:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            return None
        head += byte
    return head.decode("latin-1")


def _pump(source: socket.socket, sink: socket.socket,
          hear: Optional[Callable[[bytes], None]]) -> None:
    try:
        while data := source.recv(65536):
            if hear:
                hear(data)
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class _Frames:
    """The requests in a browser's masked WebSocket frames (each in one frame)."""

    def __init__(self) -> None:
        self.buffer = b""

    def feed(self, data: bytes) -> Iterator[tuple[str, Any]]:
        self.buffer += data
        while (frame := self._take()) is not None:
            opcode, payload = frame
            if opcode == 1:
                request = json.loads(payload)
                yield request["method"], request.get("params")

    def _take(self) -> Optional[tuple[int, bytes]]:
        if len(self.buffer) < 2:
            return None
        length, start = self.buffer[1] & 0x7F, 2
        for mark, form in ((126, ">H"), (127, ">Q")):
            if length == mark:
                start = 2 + struct.calcsize(form)
                if len(self.buffer) < start:
                    return None
                (length,) = struct.unpack(form, self.buffer[2:start])
                break
        end = start + 4 + length
        if len(self.buffer) < end:
            return None
        mask, masked = self.buffer[start : start + 4], self.buffer[start + 4 : end]
        opcode, self.buffer = self.buffer[0] & 0x0F, self.buffer[end:]
        return opcode, bytes(byte ^ mask[i % 4] for i, byte in enumerate(masked))
