"""An HTTP server on 127.0.0.1 whose address nobody can guess: what the proxy and the player are.

    class Handler(TokenHandler):
        def answer(self) -> None: self.place ...         # of every request, whatever its method
    with LocalServer(Handler, port=0, context=...) as server:
        server.uri                                       # http://127.0.0.1:PORT/TOKEN=/
        server.serve()                                   # until server.stop()

Threads  One a connection. stop() from any, also from a signal handler.
Errors   IsoscopeError: it cannot listen.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import secrets
import socket
import threading
from typing import Any, Optional
from urllib.parse import unquote

from ..errors import IsoscopeError

_WEBSOCKET_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


class TokenHandler(http.server.BaseHTTPRequestHandler):
    """self.server.context is what LocalServer was given."""

    protocol_version = "HTTP/1.1"
    server: LocalServer

    def answer(self) -> None:
        raise NotImplementedError

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = (
        lambda self: self.answer()
    )

    @property
    def place(self) -> Optional[str]:
        """What follows the token, with its slash; None: the token is missing or another."""
        first, slash, rest = self.path[1:].partition("/")
        return slash + rest if unquote(first) == self.server.token else None

    @property
    def wants_websocket(self) -> bool:
        return "websocket" in self.headers.get("Upgrade", "").lower()

    def body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        return self.rfile.read(int(length)) if length.isdecimal() else b""

    def say(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        content = text.encode()
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class LocalServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler: type[TokenHandler], port: int, context: Any) -> None:
        self.context = context
        self.token = secrets.token_urlsafe(16) + "=="
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        try:
            super().__init__(("127.0.0.1", port), handler)
        except OSError as error:
            raise IsoscopeError(f"cannot listen on port {port}: {error.strerror}") from error
        self.name = f"127.0.0.1:{self.server_port}"
        self.uri = f"http://{self.name}/{self.token}/"

    def serve(self) -> None:
        self.serve_forever(poll_interval=0.1)

    def stop(self) -> None:
        # In the thread that serves, shutdown would wait for itself.
        threading.Thread(target=self.shutdown, daemon=True).start()

    # Connections that are open: they are waited for, and cut off, at the end.

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.discard(request)

    @property
    def connections(self) -> int:
        with self._lock:
            return len(self._open)

    def cut_off(self) -> None:
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that goes away in the middle is none of ours


def websocket_accept(key: str) -> str:
    """What a server answers to Sec-WebSocket-Key."""
    return base64.b64encode(hashlib.sha1(key.encode("latin-1", "replace") + _WEBSOCKET_KEY).digest()).decode()
