"""Says to a service what a transcript's clients said, and compares what it answers.

    replay = Replay(transcript, service, ByteJudge(...), speed=None, deadline_s=30)
    replay.run()                    # or Died
    for verdict in replay.verdicts: verdict.line, verdict.what, verdict.differences

What was said after something was heard is said after that is heard again: the order of the file.
Each client has a connection of its own. A reply is known by its id, an event by its stream and kind.

Units    deadline_s: for each thing that is waited for.
Errors   Died: the service cannot be reached, or ended in the middle.
"""

from __future__ import annotations

import http.client
import itertools
import json
import time
from dataclasses import dataclass
from typing import Callable, Iterator, Optional

from ..errors import CannotConnect, IsoscopeError
from . import frames
from .connection import Connection, Heard
from .difference import Difference, shown
from .entry import TOKEN, Entry, event_of
from .http_answer import HttpAnswer
from .ids import Ids
from .judges import Judge
from .service import ServiceAddress, described
from .transcript import Transcript

DIFFERENCES_MAX = 20  # kept of one message; where much differs, more say no more
_ENDINGS = (1001, frames.BROKEN)  # going away; gone
_ENDING_S = 1.0  # from a service's last words to the end of its port
_OPCODES = {"text": frames.TEXT, "binary": frames.BINARY, "ping": frames.PING, "pong": frames.PONG}


class Died(IsoscopeError):
    """The message names the line, what was waited for, and why."""


@dataclass
class Verdict:
    line: int
    client: str
    what: str  # getVM (id "3"), event Isolate/IsolateStart, GET /getVM
    differences: list[Difference]
    took_s: float = 0.0


class Replay:
    def __init__(
        self,
        transcript: Transcript,
        service: ServiceAddress,
        judge: Judge,
        *,
        speed: Optional[float],
        deadline_s: float,
    ) -> None:
        """speed: times as fast as it was; None: as fast as the answers come."""
        self.verdicts: list[Verdict] = []
        self.sent = 0
        self._transcript, self._service, self._judge = transcript, service, judge
        self._speed, self._deadline_s = speed, deadline_s
        self._connections: dict[str, Connection] = {}
        self._upgrades: dict[str, Entry] = {}  # of the next connection
        self._answers: dict[int, HttpAnswer] = {}  # by the request's line
        self._sent_at: dict[int, float] = {}
        self._ids = None if judge.every_event else Ids()
        self._calls: dict[str, object] = {}  # ids of requests to a client: recorded -> ours
        self._settled: set[tuple[str, str, str]] = set()  # events of which there need be no more
        self._steps: dict[tuple[str, str], Callable[[Entry], None]] = {
            ("send", "text"): self._say, ("send", "binary"): self._say, ("send", "ping"): self._say,
            ("send", "close"): self._say_close, ("send", "http"): self._ask,
            ("recv", "text"): self._hear_text, ("recv", "binary"): self._hear_binary,
            ("recv", "close"): self._hear_close, ("recv", "http"): self._hear_http,
        }  # fmt: skip

    def run(self) -> None:
        began, first_ms = time.monotonic(), self._first_ms()
        try:
            for entry in self._transcript.entries:
                step = self._steps.get((entry.direction, entry.kind))
                if step is None:
                    continue
                if self._speed is not None and entry.direction == "send":
                    due = began + (entry.t_ms - first_ms) / 1e3 / self._speed
                    time.sleep(max(0.0, due - time.monotonic()))
                step(entry)
            if self._judge.every_event:
                self._find_more()
        finally:
            for connection in self._connections.values():
                connection.close()

    def _first_ms(self) -> float:
        return next(e.t_ms for e in self._transcript.entries if (e.direction, e.kind) in self._steps)

    # What the clients say.

    def _connection(self, entry: Entry) -> Connection:
        """The client's; a new one where it has none, or none any more."""
        there = self._connections.get(entry.client)
        if there is None or there.closed:
            upgrade = self._upgrades.pop(entry.client, None)
            try:
                there = Connection(self._service, self._path(upgrade), upgrade)
            except CannotConnect as error:
                raise Died(f"{self._at(entry)}: {error}") from error
            self._connections[entry.client] = there
        return there

    def _path(self, request: Optional[Entry]) -> str:
        if request is None:
            return self._service.path("/ws")
        place = self._transcript.place(request)
        if place is not None:
            return self._service.path(place)
        return str(request.msg["path"]).replace(TOKEN, self._service.token)

    def _say(self, entry: Entry) -> None:
        content = entry.data
        if entry.kind == "text" and not entry.data:
            content = self._text_to_send(entry).encode("utf-8", "surrogatepass")
        self._connection(entry).send(_OPCODES[entry.kind], content)
        self._sent_at[entry.line] = time.monotonic()
        self.sent += entry.kind != "ping"

    def _text_to_send(self, entry: Entry) -> str:
        text = entry.text if entry.text is not None else json.dumps(entry.msg)
        text = text.replace(TOKEN, self._service.token)
        ours = self._calls.get(json.dumps(entry.message.get("id")))
        if ours is not None and "method" not in entry.message:
            return json.dumps({**entry.message, "id": ours})
        return self._ids.translated(text) if self._ids else text

    def _say_close(self, entry: Entry) -> None:
        there = self._connections.get(entry.client)
        if there is None or there.closed:
            return
        if entry.closed == frames.BROKEN:
            there.close()
        else:
            there.send(frames.CLOSE, frames.closing(entry.closed or frames.NO_CODE))

    def _ask(self, entry: Entry) -> None:
        answer = self._transcript.reply_to(entry)
        if entry.is_upgrade and answer and HttpAnswer.of_head(answer.msg.get("head", [])).status == 101:
            self._upgrades[entry.client] = entry
            self._connection(entry)
            return
        self._sent_at[entry.line] = time.monotonic()
        self.sent += 1
        try:
            self._answers[entry.line] = HttpAnswer.ask(self._service, self._path(entry), entry.msg)
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = f"{self._service.name} does not answer to {_http_name(entry)}: {described(error)}"
            raise Died(f"{self._at(entry)}: {said}") from error

    # What they hear.

    def _hear_text(self, entry: Entry) -> None:
        if entry.event and not self._judge.every_event and self._is_settled(entry):
            heard = self._connections[entry.client].take(self._matcher(entry), 0)
        else:
            heard = self._take(entry, self._matcher(entry))
        if heard is None:
            return
        if self._ids:
            for part in ("result", "params"):
                self._ids.learn(entry.message.get(part), heard.json.get(part))
        if "method" in entry.message and "id" in entry.message:
            self._calls[json.dumps(entry.message["id"])] = heard.json.get("id")
        self._judged(entry, heard, self._judge.text(entry, heard.text, heard.json))

    def _is_settled(self, entry: Entry) -> bool:
        """A live service has events of its own: of each kind the first is waited for."""
        key = (entry.client, *(entry.event or ("", "")))
        known = key in self._settled
        self._settled.add(key)
        return known

    def _matcher(self, entry: Entry) -> Callable[[Heard], bool]:
        message = entry.message
        if entry.event:
            wanted_event = entry.event
            return lambda heard: event_of(heard.json) == wanted_event
        if entry.is_reply:
            wanted = message["id"]
            return lambda heard: "method" not in heard.json and _same_id(heard.json.get("id"), wanted)
        if "method" in message:
            return lambda heard: bool(heard.json.get("method") == message["method"])
        return lambda heard: heard.opcode == frames.TEXT and not heard.json

    def _hear_binary(self, entry: Entry) -> None:
        heard = self._take(entry, lambda heard: heard.opcode == frames.BINARY)
        if heard is not None:
            differ = self._judge.every_event and not entry.trimmed and heard.content != entry.data
            told = Difference("", f"{len(entry.data)} bytes", f"{len(heard.content)} others")
            self._judged(entry, heard, iter([told] if differ else []))

    def _hear_close(self, entry: Entry) -> None:
        there = self._connections.get(entry.client)
        if there is None or entry.closed is None or self._is_the_end(entry):
            return
        closed = there.wait_closed(time.monotonic() + self._deadline_s)
        found = []
        if closed is None:
            found = [Difference("", f"close {entry.closed}", "an open connection")]
        elif closed[0] != entry.closed:
            found = [Difference("", f"close {entry.closed}", f"close {closed[0]} {closed[1]}".rstrip())]
        self.verdicts.append(Verdict(entry.line, entry.client, "close", found))

    def _is_the_end(self, entry: Entry) -> bool:
        """Of the recorded service: no part of what was talked about."""
        after = (e for e in self._transcript.entries if e.line > entry.line and e.client == entry.client)
        return entry.closed in _ENDINGS and not any(after)

    def _hear_http(self, entry: Entry) -> None:
        request = self._transcript.request_of(entry)
        answer = self._answers.get(request.line) if request else None
        if request is None or answer is None:
            return  # the upgrade
        if self._ids:
            self._ids.learn(entry.msg.get("body"), answer.message)
        self._judged(entry, None, self._judge.http(entry, answer))

    def _take(self, entry: Entry, matches: Callable[[Heard], bool]) -> Optional[Heard]:
        """None: it did not come, which is a verdict then."""
        # One that has ended may have been heard all the same.
        there = self._connections.get(entry.client) or self._connection(entry)
        heard = there.take(matches, time.monotonic() + self._deadline_s)
        if heard is not None:
            return heard
        if there.closed and self._has_ended(there.closed[0]):
            raise Died(f"{self._at(entry)}: the service at {self._service.name} ended while "
                       f"{self._name(entry)} was waited for")  # fmt: skip
        got = f"nothing in {self._deadline_s:g} s"
        if there.closed:
            got = f"the connection's end: {there.closed[0]} {there.closed[1]}".rstrip()
        kind = "an event" if entry.event else "a reply" if entry.is_reply else "a message"
        self._judged(entry, None, iter([Difference("", kind, got)]))
        return None

    def _has_ended(self, code: int) -> bool:
        """The service; or was it this connection alone?"""
        deadline = time.monotonic() + _ENDING_S
        while code in _ENDINGS and self._service.answers():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return code in _ENDINGS

    def _find_more(self) -> None:
        """What came, and was not in the file. A reply comes behind all that was said before it."""
        for client, there in self._connections.items():
            for heard in there.unread():
                if heard.opcode in (frames.TEXT, frames.BINARY):
                    event = event_of(heard.json)
                    what = f"event {event[0]}/{event[1]}" if event else "a message"
                    found = [Difference("", "nothing", shown(heard.json or heard.text))]
                    self.verdicts.append(Verdict(0, client, what, found))

    # Verdicts.

    def _judged(self, entry: Entry, heard: Optional[Heard], found: Iterator[Difference]) -> None:
        request = self._transcript.request_of(entry)
        sent_at = self._sent_at.get(request.line) if request else None
        came = heard.at if heard else time.monotonic()
        took_s = max(0.0, came - sent_at) if sent_at else 0.0
        kept = list(itertools.islice(found, DIFFERENCES_MAX))
        self.verdicts.append(Verdict(entry.line, entry.client, self._name(entry), kept, took_s))

    def _name(self, entry: Entry) -> str:
        request = self._transcript.request_of(entry)
        if entry.event:
            return f"event {entry.event[0]}/{entry.event[1]}"
        if entry.kind == "http":
            return _http_name(request or entry)
        if entry.is_reply:
            method = request.message.get("method") if request else "a request"
            return f"{method} (id {json.dumps(entry.message['id'])})"
        return str(entry.message.get("method", f"a {entry.kind} message"))

    def _at(self, entry: Entry) -> str:
        return f"{self._transcript.path}, line {entry.line}"


def _http_name(request: Entry) -> str:
    return f"{request.msg.get('method')} {request.msg.get('path')}"


def _same_id(ours: object, theirs: object) -> bool:
    return type(ours) is type(theirs) and bool(ours == theirs)
