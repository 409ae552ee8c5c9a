"""A service that answers as a transcript says: for tests of clients.

    with LocalServer(PlayerHandler, port, Script(transcript)) as server: server.serve()
"""

from __future__ import annotations

import json

import websocket

from . import frames
from .http_answer import HttpAnswer
from .local_server import TokenHandler, websocket_accept
from .script import Script, with_token

_PREFERRED = "implicit-redirect"  # Dart's tools offer it, and the Dart VM agrees to it
_OURS = ("content-length", "transfer-encoding", "connection")


class PlayerHandler(TokenHandler):
    def setup(self) -> None:
        super().setup()
        self._script: Script = self.server.context
        self._name = f"port {self.client_address[1]}"

    def answer(self) -> None:
        place = self.place
        if place is None:
            self.say(403, "missing or invalid authentication code")
        elif self.wants_websocket:
            self._websocket()
        else:
            self._http(place or "/")

    def _http(self, place: str) -> None:
        self.body()
        entry = self._script.http(self.command, place, self._name)
        if entry is None:
            self.say(404, f"not in the transcript: {self.command} {place}")
            return
        head = [str(line) for line in entry.msg.get("head") or []]
        recorded, token = entry.msg.get("body", ""), self.server.token
        text = recorded if isinstance(recorded, str) else json.dumps(recorded)
        content = entry.data or with_token(text.encode(), token)
        self.send_response_only(HttpAnswer.of_head(head).status or 500)
        for line in head[1:]:
            name, _, value = line.partition(":")
            if name.lower() not in _OURS:
                self.send_header(name, with_token(value.strip().encode(), token).decode())
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _websocket(self) -> None:
        offered = [w.strip() for w in self.headers.get("Sec-WebSocket-Protocol", "").split(",") if w.strip()]
        self.send_response_only(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", websocket_accept(self.headers.get("Sec-WebSocket-Key", "")))
        if offered:  # who offers some wants to hear one of them
            self.send_header("Sec-WebSocket-Protocol", _PREFERRED if _PREFERRED in offered else offered[0])
        self.end_headers()
        self.close_connection = True
        try:
            self._talk()
        except (OSError, websocket.WebSocketException):
            pass  # the client has gone, or speaks something else

    def _talk(self) -> None:
        messages = frames.Messages()
        for frame, _ in frames.Frames(self.rfile):
            message = messages.add(frame)
            if message is None:
                continue
            opcode, content = message
            if opcode == frames.CLOSE:
                self.wfile.write(frames.of_server(frames.CLOSE, content))
                return
            if opcode == frames.PING:
                self.wfile.write(frames.of_server(frames.PONG, content))
            elif opcode == frames.TEXT:
                text = content.decode("utf-8", "replace")
                for said, answer in self._script.reply(text, self._name):
                    self.wfile.write(frames.of_server(said, with_token(answer, self.server.token)))
