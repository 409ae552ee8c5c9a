"""One connection of a scripted client: requests, replies and events, all held against schemas/."""

from __future__ import annotations

import itertools
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any, Iterator

import websocket

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "schemas")]

from wire_schema import WireChecker  # noqa: E402

Json = Any
ANSWER_S = 60


class Failed(AssertionError):
    """The client would show an error, wait for ever, or give up."""


class WireClient:
    def __init__(self, uri: str) -> None:
        self.socket = websocket.create_connection(
            uri.replace("http:", "ws:") + "ws", timeout=ANSWER_S, skip_utf8_validation=True)
        self.checker = WireChecker()
        self.ids = itertools.count(1)
        self.replies: dict[str, Json] = {}
        self.events: deque[Json] = deque()

    def send(self, method: str, params: Json) -> str:
        request_id = str(next(self.ids))
        text = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        self.checker.sent(text)
        self.socket.send(text)
        return request_id

    def reply(self, request_id: str) -> Json:
        while request_id not in self.replies:
            received = self.socket.recv()
            self.checker.received(received)
            message = json.loads(received)
            if "id" in message:
                self.replies[message["id"]] = message
            else:
                self.events.append(message["params"])
        return self.replies.pop(request_id)

    def ask(self, method: str, **params: Json) -> Json:
        """The result; an error fails."""
        reply = self.reply(self.send(method, params))
        if "error" in reply:
            raise Failed(f"{method} {params}: {reply['error']}")
        return reply["result"]

    def refused(self, method: str, code: int, **params: Json) -> None:
        """This error is owed; of an isolate that is gone by now, that it is."""
        reply = self.reply(self.send(method, params))
        gone = reply.get("result", {}).get("type") == "Sentinel"
        if not gone and reply.get("error", {}).get("code") != code:
            raise Failed(f"{method} {params}: not error {code}, but {reply}")

    def close(self) -> None:
        self.socket.close()


def objects_in(value: Json, private: bool = True) -> Iterator[dict[str, Json]]:
    """Each object of a reply, the outer ones first; private: also those in members of our own."""
    if isinstance(value, dict):
        yield value
        for name, member in value.items():
            if private or not name.startswith("_"):
                yield from objects_in(member, private)
    elif isinstance(value, list):
        for item in value:
            yield from objects_in(item, private)
