"""Where a service is, for who speaks HTTP to it: its host, its base path and token.

    service = ServiceAddress("http://127.0.0.1:8181/TOKEN=/")      # or unix:/run/iso.sock
    connection = service.connect()         # a http.client connection
    service.path("/getVM")                 # "/TOKEN=/getVM"
    service.wait_for_end()

Errors   OSError by connect; ValueError by the constructor.
"""

from __future__ import annotations

import http.client
import socket
import time
from typing import Optional
from urllib.parse import urlsplit

from ..transport import service_address, unix_path, websocket_uri

_CONNECT_S = 10.0
_PAUSE_S = 0.2  # for a service that closes at once


class ServiceAddress:
    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.name = service_address(uri)  # without the token
        self._unix = unix_path(uri)
        parts = urlsplit("ws://localhost/ws" if self._unix else websocket_uri(uri))
        self._host, self._port, self._tls = parts.hostname or "", parts.port, parts.scheme == "wss"
        self.base = parts.path[: -len("ws")]  # "/TOKEN=/"
        self.token = self.base.strip("/")

    def path(self, path: str) -> str:
        """Of what stands at `path` where there are no tokens; "": of the base without its slash."""
        return self.base + path[1:] if path else self.base.rstrip("/") or "/"

    def websocket(self, path: str) -> str:
        """The address of the WebSocket at path()."""
        scheme = "wss" if self._tls else "ws"
        return f"{scheme}://localhost{path}" if self._unix else f"{scheme}://{self.name}{path}"

    def connect(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._unix:
            connection = _UnixConnection(self._unix)
        elif self._tls:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=_CONNECT_S)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_CONNECT_S)
        connection.connect()
        connection.sock.settimeout(None)  # an answer takes the time that it takes
        return connection

    def answers(self) -> bool:
        try:
            self.connect().close()
        except OSError:
            return False
        return True

    def wait_for_end(self) -> None:
        """By a connection that says nothing, so it is nobody's client: the service closes it in the
        end, or when it has waited long enough for a word; then there is another one."""
        while True:
            try:
                connection = self.connect()
            except OSError:
                return
            try:
                while connection.sock.recv(4096):
                    pass
            except OSError:
                pass
            connection.close()
            time.sleep(_PAUSE_S)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_CONNECT_S)
        self._path = path

    def connect(self) -> None:
        self.sock: socket.socket = socket.socket(socket.AF_UNIX)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except OSError:
            self.sock.close()
            raise


def described(error: Optional[Exception]) -> str:
    told = getattr(error, "strerror", None) or str(error)
    return told or type(error).__name__
