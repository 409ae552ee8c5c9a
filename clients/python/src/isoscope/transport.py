"""Whole text messages over a WebSocket.

    "http://127.0.0.1:8181/TOKEN=/"  ->  websocket_uri  ->  WebSocketTransport
    "unix:/run/iso.sock"             ->  unix_path      ->

Units    timeout_s: seconds without a byte, not for the whole message.
Threads  One at a time.
Errors   CannotConnect while connecting; TimedOut, ServiceEnded, ProtocolError after.
"""

from __future__ import annotations

import socket
from typing import Optional, Protocol
from urllib.parse import urlsplit, urlunsplit

import websocket

from .errors import CannotConnect, ProtocolError, ServiceEnded, TimedOut

_REDIRECTS_MAX = 3
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class Transport(Protocol):
    """What a Client needs of a connection. Tests bring their own."""

    def send(self, text: str) -> None: ...

    def receive(self) -> bytes: ...

    def set_timeout(self, timeout_s: Optional[float]) -> None: ...

    def close(self) -> None: ...


def websocket_uri(uri: str) -> str:
    """The WebSocket address of a service's URI, by the rule that DevTools uses."""
    parts = urlsplit(uri.strip())
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ValueError(
            f"'{uri}' is not the URI of a service; it looks like http://127.0.0.1:8181/TOKEN=/"
        )
    _ = parts.port  # raises ValueError on a port that cannot be
    path = parts.path.rstrip("/")
    if not path.endswith("/ws"):
        path += "/ws"
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, path, "", ""))


def unix_path(uri: str) -> Optional[str]:
    """The socket's path, where the URI names one."""
    uri = uri.strip()
    return uri[len("unix:") :] if uri.startswith("unix:/") else None


class WebSocketTransport:
    """A connected WebSocket."""

    def __init__(self, uri: str, timeout_s: float) -> None:
        path = unix_path(uri)
        self._address = service_address(uri)
        self._timeout_s: Optional[float] = timeout_s
        self.arrived = 0  # bytes of messages, whole or under way
        self._fragments: list[bytes] = []  # of a message under way: a timeout loses nothing
        self._socket = self._connect("ws://localhost/ws" if path else websocket_uri(uri), path)

    def _connect(self, uri: str, path: Optional[str]) -> websocket.WebSocket:
        try:
            return self._follow(uri, path)
        except websocket.WebSocketBadStatusException as error:
            raise CannotConnect(refusal(self._address, error.status_code)) from error
        except (TimeoutError, websocket.WebSocketTimeoutException) as error:
            raise CannotConnect(f"{self._address} does not answer") from error
        except (websocket.WebSocketException, ValueError, IndexError) as error:
            # The last two are how the library takes an answer that is not HTTP.
            raise CannotConnect(f"{self._address} answers, but not as a VM service") from error
        except OSError as error:
            raise CannotConnect(no_service(self._address, error)) from error

    def _follow(self, uri: str, path: Optional[str]) -> websocket.WebSocket:
        """A service that a Dart Development Service has taken over says where that one is: as a
        http URI, which the library would not take."""
        for _ in range(_REDIRECTS_MAX):
            connection = self._open(uri, path)
            if connection.getstatus() == 101:
                return connection
            location = connection.getheaders().get("location", "")
            connection.shutdown()
            uri, path = websocket_uri(location), None
            self._address = urlsplit(location).netloc
        raise CannotConnect(f"{self._address} sends its clients away, again and again")

    def _open(self, uri: str, path: Optional[str]) -> websocket.WebSocket:
        return websocket.create_connection(
            uri,
            timeout=self._timeout_s,
            socket=self._connect_unix(path) if path else None,
            # The library's own check is Python code, 30 times slower than the rest of the
            # transfer; json.loads rejects bad UTF-8 anyway.
            skip_utf8_validation=True,
            suppress_origin=True,
            http_no_proxy=["*"],  # a profile never travels through a proxy unasked
            redirect_limit=0,
        )

    def _connect_unix(self, path: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(self._timeout_s)
            connection.connect(path)
        except OSError:
            connection.close()
            raise
        return connection

    def send(self, text: str) -> None:
        try:
            self._socket.send(text)
        except (OSError, websocket.WebSocketException) as error:
            raise self._failure(error) from error

    def receive(self) -> bytes:
        """The next text message, UTF-8.

        Fragments are joined once at the end: the library joins them one by one, which for a
        profile of thousands of fragments copies gigabytes.
        """
        while True:
            frame = self._next_frame()
            if frame.opcode == websocket.ABNF.OPCODE_CLOSE:
                reason = frame.data[2:].decode("utf-8", "replace")
                code = int.from_bytes(frame.data[:2], "big")
                raise ServiceEnded(farewell(self._address, reason, code))
            if frame.opcode == websocket.ABNF.OPCODE_BINARY:
                raise ProtocolError("the service sent a binary message")
            if frame.opcode in (websocket.ABNF.OPCODE_TEXT, websocket.ABNF.OPCODE_CONT):
                self.arrived += len(frame.data)
                self._fragments.append(frame.data)
                if frame.fin:
                    message = b"".join(self._fragments)
                    self._fragments = []
                    return message

    def _next_frame(self) -> websocket.ABNF:
        try:
            frame = self._socket.recv_frame()
            if frame.opcode == websocket.ABNF.OPCODE_PING:
                self._socket.pong(frame.data)
            return frame
        except (OSError, websocket.WebSocketException) as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, (TimeoutError, websocket.WebSocketTimeoutException)):
            return TimedOut(f"{self._address} sent nothing for {self._timeout_s:g} s")
        if isinstance(error, websocket.WebSocketProtocolException):
            return ProtocolError(f"{self._address} sent a broken WebSocket frame: {error}")
        return ServiceEnded(farewell(self._address, ""))

    def set_timeout(self, timeout_s: Optional[float]) -> None:
        """None: waits for ever."""
        self._timeout_s = timeout_s
        self._socket.settimeout(timeout_s)

    def close(self) -> None:
        self._socket.close(timeout=1)


def service_address(uri: str) -> str:
    """What people see of it: never the token."""
    return unix_path(uri) or urlsplit(uri).netloc


def no_service(address: str, error: OSError) -> str:
    said = f"no service answers at {address} ({error.strerror or error})."
    if isinstance(error, (ConnectionRefusedError, FileNotFoundError)):
        said += " A service ends with its program, unless it was started with --keep."
    elif isinstance(error, PermissionError):
        said += " A unix socket is for the user who started its service."
    return said


_OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def refusal(address: str, status: Optional[int]) -> str:
    if status == 403 and address[:1] != "/" and not address.startswith(_OWN_HOSTS):
        return (
            f"{address} refuses the host's name or the token: `isoscope run --allow-host NAME` lets "
            "a name in; the token is in the whole URI of the line "
            '"The Dart VM service is listening on ..."'
        )
    if status == 403:
        return (
            f"{address} refuses the token: take the whole URI of the line "
            '"The Dart VM service is listening on ..."'
        )
    if status == 503:
        return f"{address} has no place for one more client (HTTP status 503)"
    return f"{address} answers, but not as a VM service (HTTP status {status})"


_GOING_AWAY = 1001


def farewell(address: str, reason: str, code: int = _GOING_AWAY) -> str:
    """reason: the service's own; "": the connection broke. code: of the close frame."""
    if reason and code != _GOING_AWAY:  # it serves on
        return f"the service at {address} closed the connection: {reason}"
    return f"the service at {address} ended while it was being read" + (
        f": {reason}" if reason else ""
    )
