"""One client of a replay: says what the transcript's said, and keeps what it hears.

    connection = Connection(service, "/TOKEN=/ws", upgrade)   # upgrade: the recorded one, or None
    connection.send(TEXT, b'{"id": ...')
    heard = connection.take(lambda heard: heard.json.get("id") == "1", deadline)
    connection.closed                                   # code and reason, once it is

Threads  A thread of its own reads; the rest is for one other thread.
Errors   CannotConnect by the constructor. A connection that ends is no error: see closed.
"""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

import websocket

from ..errors import CannotConnect
from ..transport import no_service, refusal, unix_path
from . import frames
from .entry import Entry, Json, parsed
from .service import ServiceAddress

_CONNECT_S = 10.0
# What the library says itself, or has no business with us.
_OWN_HEADERS = ("host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version",
                "sec-websocket-protocol", "sec-websocket-extensions", "origin")  # fmt: skip


@dataclass
class Heard:
    opcode: int
    content: bytes
    at: float  # time.monotonic() when it came
    json: Mapping[str, Json] = field(default_factory=dict)  # empty where it is none

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Connection:
    def __init__(self, service: ServiceAddress, path: str, upgrade: Optional[Entry] = None) -> None:
        self.closed: Optional[tuple[int, str]] = None
        self._has_said_close = False
        self._inbox: list[Heard] = []
        self._changed = threading.Condition()
        try:
            self._socket = _connected(service, path, upgrade)
        except websocket.WebSocketBadStatusException as error:
            raise CannotConnect(refusal(service.name, error.status_code)) from error
        except (websocket.WebSocketException, ValueError, IndexError) as error:
            raise CannotConnect(f"{service.name} answers, but not as a VM service: {error}") from error
        except OSError as error:
            raise CannotConnect(no_service(service.name, error)) from error
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, opcode: int, content: bytes) -> None:
        self._has_said_close = self._has_said_close or opcode == frames.CLOSE
        try:
            self._socket.send(content, opcode)
        except (OSError, websocket.WebSocketException):
            self._end(frames.BROKEN, "")

    def take(self, matches: Callable[[Heard], bool], deadline: float) -> Optional[Heard]:
        """The oldest that matches, waited for; None: it did not come in time, or comes no more."""
        with self._changed:
            looked = 0
            while True:
                for place in range(looked, len(self._inbox)):
                    if matches(self._inbox[place]):
                        return self._inbox.pop(place)
                looked = len(self._inbox)
                left = deadline - time.monotonic()
                if self.closed or left <= 0:
                    return None
                self._changed.wait(left)

    def wait_closed(self, deadline: float) -> Optional[tuple[int, str]]:
        with self._changed:
            self._changed.wait_for(lambda: self.closed, deadline - time.monotonic())
            return self.closed

    def unread(self) -> list[Heard]:
        with self._changed:
            return list(self._inbox)

    def close(self) -> None:
        try:
            self._socket.sock.shutdown(socket.SHUT_RDWR)  # which wakes the thread that reads
        except (OSError, AttributeError):
            pass
        self._socket.shutdown()

    def _read(self) -> None:
        messages = frames.Messages()
        try:
            while True:
                frame = self._socket.recv_frame()
                message = messages.add(frame)
                if message is None:
                    continue
                opcode, content = message
                if opcode == frames.PING:
                    self._socket.pong(content)
                if opcode == frames.CLOSE:
                    if not self._has_said_close:
                        self.send(frames.CLOSE, content)
                    self._end(*frames.close_of(content))
                    return
                self._put(opcode, content)
        except (OSError, websocket.WebSocketException, AttributeError):
            # The last: the library's socket has gone, for another thread has closed it.
            self._end(frames.BROKEN, "")

    def _put(self, opcode: int, content: bytes) -> None:
        heard = Heard(opcode, content, time.monotonic())
        if opcode == frames.TEXT:
            try:
                value = parsed(content.decode("utf-8"))
            except ValueError:
                value = None
            heard.json = value if isinstance(value, dict) else {}
        with self._changed:
            self._inbox.append(heard)
            self._changed.notify_all()

    def _end(self, code: int, reason: str) -> None:
        with self._changed:
            self.closed = self.closed or (code, reason)
            self._changed.notify_all()


def _connected(service: ServiceAddress, path: str, upgrade: Optional[Entry]) -> Any:
    """As the recorded client did: with its subprotocols, origin and other headers."""
    headers = {} if upgrade is None else upgrade.msg.get("headers", {})
    offered = upgrade.header("Sec-WebSocket-Protocol") if upgrade else ""
    origin = upgrade.header("Origin") if upgrade else ""
    connected = websocket.create_connection(
        service.websocket(path),
        timeout=_CONNECT_S,
        socket=service.connect().sock if unix_path(service.uri) else None,
        subprotocols=[word.strip() for word in offered.split(",")] if offered else None,
        header=[f"{n}: {v}" for n, v in headers.items() if n.lower() not in _OWN_HEADERS],
        origin=origin or None,
        suppress_origin=not origin,
        skip_utf8_validation=True,
        enable_multithread=True,
        http_no_proxy=["*"],
        redirect_limit=0,
    )
    if connected.getstatus() != 101:  # another took the service's place, and it says who
        connected.shutdown()
        raise CannotConnect(refusal(service.name, connected.getstatus()))
    connected.settimeout(None)  # silence is no end
    return connected
