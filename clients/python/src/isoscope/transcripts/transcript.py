"""A transcript read from its file, whole.

    transcript = Transcript.read("T.jsonl")
    for entry in transcript.entries: entry.line, entry.message
    transcript.request_of(reply)            # what a reply answers
    transcript.warnings                     # what is odd, and no reason to refuse it

Errors   BadFile: one sentence with the line and what is wrong there.
"""

from __future__ import annotations

import json
from typing import IO, Iterator, Optional

from ..errors import BadFile
from .entry import TOKEN, Entry, Json, parsed

# A line is in memory as a whole, some times over; no reply of a service is as long.
LINE_BYTES_MAX = 1 << 29


class Transcript:
    def __init__(self, path: str, entries: list[Entry]) -> None:
        self.path = path
        self.entries = entries
        self.warnings: list[str] = []
        self._requests: dict[int, Entry] = {}  # by the reply's line
        self._replies: dict[int, Entry] = {}  # by the request's
        self._pair()

    @staticmethod
    def read(path: str) -> Transcript:
        try:
            with open(path, "rb") as file:
                entries = list(_entries(path, file))
        except OSError as error:
            raise BadFile(f"cannot read {path}: {error.strerror}") from error
        if not any(e.direction == "send" and e.kind in ("text", "binary", "http") for e in entries):
            raise BadFile(f"{path} holds no request" if entries else f"{path} is empty")
        return Transcript(path, entries)

    def request_of(self, reply: Entry) -> Optional[Entry]:
        return self._requests.get(reply.line)

    def reply_to(self, request: Entry) -> Optional[Entry]:
        return self._replies.get(request.line)

    @property
    def addresses(self) -> list[str]:
        """Host and port of the service that was recorded, and of the proxy; none: the file does not
        tell."""
        return [str(self._first_note[name]) for name in ("service", "proxy") if self._first_note.get(name)]

    def place(self, request: Entry) -> Optional[str]:
        """What an http request asked for, behind the token; None: it had another one, or none."""
        path = str(request.msg["path"])
        if not self._first_note.get("token"):
            return path
        return path[len(TOKEN) + 1 :] if path.startswith(f"/{TOKEN}/") else None

    @property
    def _first_note(self) -> dict[str, Json]:
        first = self.entries[0]
        return first.msg if first.kind == "note" and isinstance(first.msg, dict) else {}

    def _pair(self) -> None:
        """By client and id; of an id that is used twice at a time, the first asked is the first
        answered."""
        asked: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            key = (entry.client, json.dumps(entry.message.get("id")))
            if entry.kind == "http" and entry.direction == "send":
                asked.setdefault((entry.client, "http"), []).append(entry)
            elif entry.kind == "http":
                self._answer(asked.get((entry.client, "http"), []), entry)
            elif entry.is_request and "id" in entry.message:
                if asked.setdefault(key, []):
                    self.warnings.append(
                        f"{self.path}, line {entry.line}: id {key[1]} is repeated before line "
                        f"{asked[key][0].line}, which has it too, was answered; taken in their order"
                    )
                asked[key].append(entry)
            elif entry.is_reply:
                self._answer(asked.get(key, []), entry)

    def _answer(self, waiting: list[Entry], reply: Entry) -> None:
        if waiting:
            request = waiting.pop(0)
            self._requests[reply.line], self._replies[request.line] = request, reply


def body_json(entry: Entry) -> Json:
    """What an http answer says of JSON-RPC; None: nothing."""
    body = entry.msg.get("body")
    try:
        value = parsed(body) if isinstance(body, str) else body
    except ValueError:
        return None
    return value if isinstance(value, dict) and ("result" in value or "error" in value) else None


def _entries(path: str, file: IO[bytes]) -> Iterator[Entry]:
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        try:
            if len(line) > LINE_BYTES_MAX:
                raise ValueError(f"longer than {LINE_BYTES_MAX >> 20} MiB")
            if line.strip():
                yield Entry.read(line, number)
        except ValueError as error:
            raise BadFile(f"{path} is no transcript: line {number}: {error}") from error
