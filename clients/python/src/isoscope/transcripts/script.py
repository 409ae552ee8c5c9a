"""A transcript by its requests: what a service has to say to each of them.

    script = Script(transcript)
    script.reply('{"id": "7", "method": "getVM"}')     # [(TEXT, b'...')], or Unexpected
    script.http("GET", "/getVersion")                  # the recorded answer
    script.unexpected, script.unasked

A request is known by its method and parameters. One that was recorded more than once gets the answers
in their order; asked more often, the last again. Its events are those that came before its reply, and
those after it until the client spoke again.

Threads  Any.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Mapping, Optional
from urllib.parse import parse_qsl

from . import frames
from .entry import TOKEN, Entry, Json, parsed
from .frames import Message
from .transcript import Transcript

_UNEXPECTED = -32000  # JSON-RPC: a server's own
_SHOWN_MAX = 200
_OPCODES = {"text": frames.TEXT, "binary": frames.BINARY, "close": frames.CLOSE}


@dataclass
class _Answer:
    before: list[Entry] = field(default_factory=list)  # the reply: events that the request caused
    reply: Optional[Entry] = None
    after: list[Entry] = field(default_factory=list)


@dataclass
class _Asked:
    """All that was recorded of one request."""

    answers: list[_Answer] = field(default_factory=list)
    used: int = 0

    def next(self) -> _Answer:
        answer = self.answers[min(self.used, len(self.answers) - 1)]
        self.used += 1
        return answer


class Script:
    def __init__(self, transcript: Transcript) -> None:
        self.unexpected: list[str] = []  # in words, in the order they came
        self._path = transcript.path
        self._transcript = transcript
        self._asked: dict[str, _Asked] = {}
        self._http: dict[str, list[Entry]] = {}  # answers
        self._http_used: dict[str, int] = {}
        self._lock = threading.Lock()
        self._read()

    def reply(self, text: str, client: str = "") -> list[Message]:
        """With what comes before and after it. Error -32000 is the answer to a request that the
        transcript has not."""
        message = _message(text)
        if message and "method" not in message:
            return []  # an answer of the client's, to a request of ours
        with self._lock:
            asked = self._asked.get(_key(text, message))
            if asked is None:
                return [self._refusal(text, message, client)]
            answer = asked.next()
        sent = [*answer.before, *([answer.reply] if answer.reply else []), *answer.after]
        return [_as_sent(entry, message.get("id")) for entry in sent]

    def http(self, method: str, place: str, client: str = "") -> Optional[Entry]:
        """place: the path without the token. None: it is not in the transcript."""
        key = _http_key(method, place)
        with self._lock:
            answers = self._http.get(key)
            if not answers:
                self.unexpected.append(f"{client}: {method} {place}")
                return None
            used = self._http_used.get(key, 0)
            self._http_used[key] = used + 1
            return answers[min(used, len(answers) - 1)]

    @property
    def unasked(self) -> int:
        """Requests of the transcript that did not come."""
        left = sum(max(0, len(asked.answers) - asked.used) for asked in self._asked.values())
        return left + sum(max(0, len(a) - self._http_used.get(k, 0)) for k, a in self._http.items())

    def _refusal(self, text: str, message: Mapping[str, Json], client: str) -> Message:
        shown = text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."
        self.unexpected.append(f"{client}: {shown}")
        method = message.get("method")
        others = [key for key in self._asked if key.startswith(json.dumps([method])[:-1] + ",")]
        known = f"; it has {method} with other parameters: {', '.join(others)[:_SHOWN_MAX]}" if others else ""
        details = f"{self._path} has no {method} with these parameters{known}"
        error = {"code": _UNEXPECTED, "message": "Not in the transcript", "data": {"details": details}}
        reply = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        return frames.TEXT, json.dumps(reply).encode()

    # From the file.

    def _read(self) -> None:
        current: dict[str, _Answer] = {}  # of each client: the one that was replied to last
        waiting: dict[str, list[tuple[Entry, _Answer]]] = {}  # not replied to yet
        for entry in self._transcript.entries:
            if entry.kind == "http":
                self._read_http(entry)
            elif entry.direction == "send" and entry.kind == "text":
                if not entry.message or entry.is_request:
                    answer = self._new_answer(entry)
                    if self._transcript.reply_to(entry):
                        waiting.setdefault(entry.client, []).append((entry, answer))
                    else:
                        current[entry.client] = answer
            elif entry.direction == "recv" and entry.kind in _OPCODES:
                _attach(entry, self._transcript.request_of(entry), current, waiting.get(entry.client, []))

    def _new_answer(self, request: Entry) -> _Answer:
        text = request.text if request.text is not None else json.dumps(request.msg)
        answer = _Answer()
        self._asked.setdefault(_key(text, request.message), _Asked()).answers.append(answer)
        return answer

    def _read_http(self, entry: Entry) -> None:
        request = self._transcript.request_of(entry) if entry.direction == "recv" else None
        place = self._transcript.place(request) if request else None
        if request is not None and place is not None and not request.is_upgrade:
            key = _http_key(str(request.msg["method"]), place)
            self._http.setdefault(key, []).append(entry)


def _attach(
    entry: Entry,
    request: Optional[Entry],
    current: dict[str, _Answer],
    waiting: list[tuple[Entry, _Answer]],
) -> None:
    for asked, answer in waiting:
        if asked is request:
            answer.reply = entry
            current[entry.client] = answer
            waiting.remove((asked, answer))
            return
    if waiting:
        waiting[0][1].before.append(entry)
    elif entry.client in current and not _ends_by_client(entry):
        current[entry.client].after.append(entry)


def _ends_by_client(entry: Entry) -> bool:
    """Closes are said by the service itself when it has something against the client; else they
    answer one, or are its end."""
    return entry.kind == "close" and (entry.closed is None or entry.closed < 3000)


def _key(text: str, message: Mapping[str, Json]) -> str:
    if "method" not in message:
        return text
    return json.dumps([message["method"], message.get("params") or {}], sort_keys=True)


def _http_key(method: str, place: str) -> str:
    path, _, query = place.partition("?")
    return json.dumps([method, path, sorted(parse_qsl(query, keep_blank_values=True))])


def _message(text: str) -> dict[str, Json]:
    try:
        message = parsed(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _as_sent(entry: Entry, request_id: Json) -> Message:
    """With the id of the request that there is."""
    if entry.kind == "close":
        code = entry.closed or frames.NO_CODE
        return frames.CLOSE, frames.closing(code, str(entry.msg["closed"][-1]))
    if entry.kind == "binary":
        return frames.BINARY, entry.data
    same = not entry.is_reply or entry.message["id"] == request_id
    if same and entry.text is not None:
        return frames.TEXT, entry.text.encode("utf-8", "surrogatepass")
    whole = entry.msg if same else {**entry.message, "id": request_id}
    return frames.TEXT, json.dumps(whole, separators=(",", ":")).encode()


def with_token(content: bytes, token: str) -> bytes:
    return content.replace(TOKEN.encode(), token.encode())
