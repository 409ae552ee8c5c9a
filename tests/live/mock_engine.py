"""An engine that takes profiles, or what is wrong with one, on a free port of 127.0.0.1."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Optional

import zstandard


@dataclass
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float  # time.monotonic

    @property
    def content(self) -> bytes:
        """The body as it was before Content-Encoding; an error where it is not packed so."""
        packing = self.headers.get("Content-Encoding")
        if packing == "gzip":
            return gzip.decompress(self.body)
        if packing == "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(self.body)
        assert packing is None
        return self.body


@dataclass
class Answer:
    """What the engine does. raw: these bytes instead of HTTP; seconds: after so long."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    made: Callable[[], dict[str, str]] = dict  # further headers, as they are when it answers
    raw: Optional[bytes] = None
    seconds: float = 0
    half_closed: bool = False  # says that it will say no more, and listens on
    endless: bool = False
    unread: frozenset[str] = frozenset()  # what is packed so gets this answer, all else is taken
    after: int = 0  # so many requests are taken before


class Engine:
    """`answer` may be set at any time; `requests` are those that came whole."""

    def __init__(self, answer: Answer = Answer(), port: int = 0) -> None:  # noqa: B008
        self.answer = answer
        self.requests: list[Request] = []
        self.over = threading.Event()
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                engine._serve(self)

            def log_message(self, *_) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request, client_address) -> None:
                pass  # isoscope has hung up

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Engine:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        path, _, query = handler.path.partition("?")
        answer = self.answer
        if answer.unread and handler.headers["Content-Encoding"] not in answer.unread:
            answer = Answer()
        if len(self.requests) < answer.after:
            answer = Answer()
        self.requests.append(Request(path, dict(urllib.parse.parse_qsl(query)), dict(handler.headers), body,
                                     time.monotonic()))
        self.over.wait(answer.seconds)
        handler.close_connection = True
        if answer.half_closed:
            handler.connection.shutdown(socket.SHUT_WR)
            self.over.wait()
            return
        if answer.raw is not None:
            handler.wfile.write(answer.raw)
            return
        handler.send_response(answer.status)
        for name, value in {**answer.headers, **answer.made()}.items():
            handler.send_header(name, value)
        if not answer.endless:
            handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)
        while answer.endless and not self.over.is_set():
            handler.wfile.write(b"x" * 65536)


def dead_port() -> int:
    """Nobody listens there."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
