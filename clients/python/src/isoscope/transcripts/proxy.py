"""Between clients and a service: passes on what they say as it is, and records it.

    with LocalServer(ProxyHandler, port, Proxy(service, recorder)) as server: server.serve()

    client -- request with our token --> ours -- with the service's --> service
           <-------- frames, byte for byte; each recorded before it is passed on --------

The handshake is the service's and the client's own: subprotocols, refusals, pings, fragments and
close codes are what they would be without us. But compression is not offered on, so that frames can
be read; and an HTTP answer is passed on when it is complete.
"""

from __future__ import annotations

import http.client
import socket
import threading
from dataclasses import dataclass, field
from typing import Any

import websocket

from . import frames
from .entry import TOKEN
from .local_server import TokenHandler
from .recorder import Recorder
from .service import ServiceAddress, described

_HOP = ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade")
_UPGRADE = ("connection", "upgrade")
_COMPRESSION = "sec-websocket-extensions"
_PIECE_BYTES = 1 << 16


@dataclass
class Proxy:
    service: ServiceAddress
    recorder: Recorder


class ProxyHandler(TokenHandler):
    def setup(self) -> None:
        super().setup()
        self._proxy: Proxy = self.server.context
        self._client = ""

    def answer(self) -> None:
        if "Transfer-Encoding" in self.headers:  # no request of the protocol has a body at all
            self.close_connection = True
            self.say(411, "a body needs its length here")
            return
        proxy, body = self._proxy, self.body()
        # One with another token goes on as it is: it is the service that refuses it.
        place = self.place
        path = self.path if place is None else proxy.service.path(place)
        base = f"/{TOKEN}" if proxy.service.token else ""
        shown = self.path if place is None else base + place or "/"
        # A name for each connection; not for those on which nothing was asked.
        self._client = self._client or proxy.recorder.new_client()
        proxy.recorder.request(self._client, self.command, shown, dict(self.headers.items()), body)
        try:
            self._relay(path, body)
        except (OSError, http.client.HTTPException) as error:
            self.close_connection = True
            proxy.recorder.answer(self._client, ["HTTP/1.1 502 Bad Gateway"], b"")
            self.say(502, f"the service at {proxy.service.name} does not answer: {described(error)}")

    def _relay(self, path: str, body: bytes) -> None:
        upstream = self._proxy.service.connect()
        try:
            upstream.putrequest(self.command, path, skip_host=True, skip_accept_encoding=True)
            for name, value in self._request_headers():
                upstream.putheader(name, value)
            upstream.endheaders(body or None)
            response = upstream.getresponse()
            if response.status == 101:
                self._pass_head(response, [n for n in _HOP if n not in _UPGRADE], b"")
                Tunnel(self._proxy.recorder, self._client).run(
                    End(self.connection, self.rfile), End(upstream.sock, response.fp)
                )
                self.close_connection = True
            else:
                self._pass_on(response)
        finally:
            upstream.close()

    def _request_headers(self) -> list[tuple[str, str]]:
        left_out = [_COMPRESSION, *(n for n in _HOP if not (self.wants_websocket and n in _UPGRADE))]
        return [(n, v) for n, v in self.headers.items() if n.lower() not in left_out]

    def _pass_on(self, response: http.client.HTTPResponse) -> None:
        content = self._with_our_token(response.read().decode("latin-1")).encode("latin-1")
        self._pass_head(response, [*_HOP, "content-length"], content)
        if response.status not in (204, 304):
            length = response.getheader("Content-Length") if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", str(length or 0))
        self.end_headers()
        self.wfile.write(content)

    def _pass_head(
        self, response: http.client.HTTPResponse, left_out: list[str], content: bytes
    ) -> None:
        """And records the answer. After that come more headers, or the end of them."""
        headers = [(n, v) for n, v in response.getheaders() if n.lower() not in left_out]
        head = [f"HTTP/1.1 {response.status} {response.reason}", *(f"{n}: {v}" for n, v in headers)]
        self._proxy.recorder.answer(self._client, head, content)
        self.send_response_only(response.status, response.reason)
        for name, value in headers:
            self.send_header(name, self._with_our_token(value))
        if response.status == 101:
            self.end_headers()

    def _with_our_token(self, text: str) -> str:
        """Who follows the page's address, or is sent elsewhere, stays with us."""
        token = self._proxy.service.token
        return text.replace(token, self.server.token) if token else text


@dataclass
class End:
    """Of a tunnel."""

    connection: socket.socket
    stream: Any  # what is read from it


@dataclass
class Tunnel:
    """A WebSocket between two that are both connected to us."""

    recorder: Recorder
    client: str
    _is_closed: threading.Event = field(default_factory=threading.Event)  # somebody said so

    def run(self, client: End, service: End) -> None:
        """Until both have ended."""
        for end in (client, service):
            if end.connection.family != socket.AF_UNIX:
                end.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        down = threading.Thread(target=self._pump, args=("recv", service, client), daemon=True)
        down.start()
        self._pump("send", client, service)
        down.join()

    def _pump(self, direction: str, source: End, sink: End) -> None:
        try:
            self._pass_frames(direction, source, sink)
        except OSError:
            pass  # one of them has gone; who is left will see it
        if not self._is_closed.is_set():
            self._is_closed.set()
            self.recorder.closed(direction, self.client, frames.BROKEN)
        for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
            try:
                end.connection.shutdown(how)
            except OSError:
                pass

    def _pass_frames(self, direction: str, source: End, sink: End) -> None:
        incoming, messages = frames.Frames(source.stream), frames.Messages()
        try:
            for frame, raw in incoming:
                message = messages.add(frame)
                if frame.opcode == frames.CLOSE:
                    self._is_closed.set()
                if message is not None:  # before it is passed on: the answer comes behind it
                    self.recorder.message(direction, self.client, *message)
                sink.connection.sendall(raw)
        except websocket.WebSocketException as error:
            self.recorder.note({"client": self.client, "broken": f"{direction}: {error}",
                                "then": "passed on unread"})  # fmt: skip
            sink.connection.sendall(incoming.taken)
            while piece := source.stream.read1(_PIECE_BYTES):
                sink.connection.sendall(piece)
            return
        sink.connection.sendall(incoming.taken)
