"""One line of a transcript, checked.

    Entry.read(b'{"dir": "send", "kind": "text", "client": "A", "t_ms": 1.5, "msg": ...}', 7)

Units    t_ms: milliseconds since the recording began.
Errors   ValueError says what is wrong with the line; who has the file says where.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from dataclasses import dataclass
from typing import Any, Mapping, NoReturn, Optional

Json = Any

DIRECTIONS = ("send", "recv")
MESSAGES = ("text", "binary", "ping", "pong")
KINDS = (*MESSAGES, "close", "http", "note")
TOKEN = "$token"  # stands for the service's, which is a secret
TRIMMED = "_recordTrimmed"  # stands in a list for those that the recording left out


@dataclass
class Entry:
    line: int
    direction: str  # "send": by the client; "recv": by the service
    kind: str
    client: str
    t_ms: float
    msg: Json  # of text: parsed where it is JSON; of http: the request, or the answer
    text: Optional[str] = None  # of text: its exact characters; None: the file has not kept them
    data: bytes = b""  # of binary, ping, pong, and of text that is not UTF-8
    trimmed: bool = False  # msg is not all of it

    @staticmethod
    def read(line: bytes, number: int) -> Entry:
        fields = _object(line)
        direction, kind = fields.get("dir"), fields.get("kind")
        if direction not in DIRECTIONS:
            raise ValueError(f"unknown direction {_shown(direction)}: send or recv")
        if kind not in KINDS:
            raise ValueError(f"unknown kind {_shown(kind)}: {', '.join(KINDS)}")
        entry = Entry(number, direction, kind, _client(fields), _moment(fields), fields.get("msg"))
        entry.trimmed = fields.get("trimmed") is True
        _READERS[kind](entry, fields)
        return entry

    @property
    def message(self) -> Mapping[str, Json]:
        """Of JSON-RPC; empty where it is none."""
        return self.msg if self.kind == "text" and isinstance(self.msg, dict) else {}

    @property
    def is_request(self) -> bool:
        """By the client."""
        return self.direction == "send" and isinstance(self.message.get("method"), str)

    @property
    def is_reply(self) -> bool:
        """Of the service; also an error whose id is null."""
        return self.direction == "recv" and "id" in self.message and "method" not in self.message

    @property
    def event(self) -> Optional[tuple[str, str]]:
        """Its stream and kind."""
        return event_of(self.message) if self.direction == "recv" else None

    @property
    def closed(self) -> Optional[int]:
        """The code of a close; None: the file does not tell."""
        told = self.msg.get("closed") if isinstance(self.msg, dict) else None
        return told[0] if isinstance(told, list) and told and isinstance(told[0], int) else None

    @property
    def is_upgrade(self) -> bool:
        """The request that a WebSocket begins with."""
        return self.kind == "http" and "websocket" in self.header("Upgrade").lower()

    def header(self, name: str) -> str:
        """Of an http request."""
        headers = self.msg.get("headers", {})
        return next((str(v) for n, v in headers.items() if n.lower() == name.lower()), "")


def event_of(message: Mapping[str, Json]) -> Optional[tuple[str, str]]:
    params = message.get("params")
    if message.get("method") != "streamNotify" or not isinstance(params, dict):
        return None
    event = params.get("event")
    return str(params.get("streamId")), str(event.get("kind") if isinstance(event, dict) else None)


def parsed(text: str) -> Json:
    """ValueError: not JSON. What Python takes besides JSON (NaN) is not."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _object(line: bytes) -> dict[str, Json]:
    try:
        fields = parsed(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not text (byte {error.start} is 0x{line[error.start]:02x})") from error
    except json.JSONDecodeError as error:
        cut = "" if line.endswith(b"\n") else "; it is the last one, and was cut short"
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}{cut}") from error
    if not isinstance(fields, dict):
        raise ValueError(f"a JSON {type(fields).__name__} instead of an object")
    return fields


def _client(fields: Mapping[str, Json]) -> str:
    client = fields.get("client", "")
    if not isinstance(client, str) or (not client and fields.get("kind") != "note"):
        raise ValueError(f"client {_shown(fields.get('client'))} is no name")
    return client


def _moment(fields: Mapping[str, Json]) -> float:
    t_ms = fields.get("t_ms", 0)
    if isinstance(t_ms, bool) or not isinstance(t_ms, (int, float)) or not 0 <= t_ms < math.inf:
        raise ValueError(f"t_ms {_shown(t_ms)} is no time")
    return float(t_ms)


def _read_text(entry: Entry, fields: Mapping[str, Json]) -> None:
    raw, msg = fields.get("raw"), fields.get("msg")
    if "msg" not in fields:
        raise ValueError("a text without msg")
    if raw is not None and not isinstance(raw, str):
        raise ValueError("raw is no text")
    if "base64" in fields:
        entry.data = _bytes(fields["base64"], "base64")
        return
    # A long text stands in msg itself; a short one is there as JSON, and as it was in raw.
    entry.text = raw if raw is not None else msg if isinstance(msg, str) else None
    if raw is None and isinstance(msg, str):
        try:
            entry.msg = parsed(msg)
        except ValueError:
            pass


def _read_data(entry: Entry, fields: Mapping[str, Json]) -> None:
    entry.data = _bytes(fields.get("msg"), "msg")


def _read_http(entry: Entry, fields: Mapping[str, Json]) -> None:
    msg = fields.get("msg")
    if not isinstance(msg, dict):
        raise ValueError("msg of http is no object")
    if entry.direction == "send":
        wrong = [n for n in ("method", "path") if not isinstance(msg.get(n), str)]
        if wrong or not isinstance(msg.get("headers", {}), dict):
            raise ValueError(f"an http request without {wrong[0] if wrong else 'headers'}")
    elif not isinstance(msg.get("head", []), list):
        raise ValueError("head of an http answer is no list")
    if "base64" in msg:
        entry.data = _bytes(msg["base64"], "base64")


def _read_any(entry: Entry, fields: Mapping[str, Json]) -> None:
    pass


_READERS = {**dict.fromkeys(("binary", "ping", "pong"), _read_data), "text": _read_text,
            "http": _read_http, "close": _read_any, "note": _read_any}  # fmt: skip


def _bytes(text: Json, name: str) -> bytes:
    try:
        return base64.b64decode(str(text) if text is not None else "", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{name} is not base64: {error}") from error


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
