"""Two ways to compare what was heard with what was recorded.

    judge = ByteJudge(transcript, service) or ShapeJudge(transcript)
    list(judge.text(entry, text, message)), list(judge.http(entry, answer))

bytes    every byte, but for variables.py: a saved session.
shape    the same outcome, and what the protocol's types say of it; where the recorded service is none
         of ours, and does not keep to these, what its own answers looked like: a live service.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Protocol, Union

from . import wire_types
from .difference import Difference, differences, shown
from .entry import Entry, Json, parsed
from .http_answer import HttpAnswer
from .service import ServiceAddress
from .shape import Shape, kind_of
from .transcript import Transcript, body_json
from .variables import Side, masked

_AROUND = 20  # characters shown before the first that differs


class Judge(Protocol):
    name: str
    every_event: bool  # each one that was recorded has to come, and no other

    def text(self, entry: Entry, text: str, message: Mapping[str, Json]) -> Iterator[Difference]: ...

    def http(self, entry: Entry, answer: HttpAnswer) -> Iterator[Difference]: ...


class ByteJudge:
    name = "bytes"
    every_event = True

    def __init__(self, transcript: Transcript, service: ServiceAddress) -> None:
        self._theirs = Side(transcript.addresses)
        self._ours = Side([service.name], service.token)
        self._shapes = ShapeJudge(transcript)

    def text(self, entry: Entry, text: str, message: Mapping[str, Json]) -> Iterator[Difference]:
        if entry.trimmed:  # what is left says no more
            yield from self._shapes.text(entry, text, message)
        elif entry.text is None:
            yield from differences(entry.msg, dict(message), "")
        else:
            yield from self._texts(entry.text, text)

    def http(self, entry: Entry, answer: HttpAnswer) -> Iterator[Difference]:
        yield from _head(entry, answer)
        recorded: Union[str, Json] = entry.msg.get("body", "")
        if not isinstance(recorded, str):
            yield from differences(recorded, answer.message, "body")
        elif entry.data and entry.data != answer.body:
            yield Difference("body", f"{len(entry.data)} bytes", f"{len(answer.body)} others")
        elif not entry.data:
            yield from self._texts(recorded, answer.text)

    def _texts(self, expected: str, got: str) -> Iterator[Difference]:
        expected, got = masked(expected, self._theirs), masked(got, self._ours)
        if expected == got:
            return
        found = False
        for difference in _of_json(expected, got):
            found = True
            yield difference
        if not found:
            yield _first_difference(expected, got)


class ShapeJudge:
    name = "shape"
    every_event = False

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self._is_ours: dict[tuple[str, ...], bool] = {}  # all that was recorded keeps to our types
        for entry in transcript.entries:
            if entry.direction == "recv" and entry.kind in ("text", "http"):
                self._learn(entry)

    def text(self, entry: Entry, text: str, message: Mapping[str, Json]) -> Iterator[Difference]:
        yield from self._outcome(entry, entry.message, message)

    def http(self, entry: Entry, answer: HttpAnswer) -> Iterator[Difference]:
        yield from _head(entry, answer)
        recorded = body_json(entry)
        if recorded is not None and answer.message:
            yield from self._outcome(entry, recorded, answer.message)

    def _outcome(
        self, entry: Entry, recorded: Mapping[str, Json], got: Mapping[str, Json]
    ) -> Iterator[Difference]:
        if "error" in recorded:
            yield from _of_error(recorded["error"], got)
        elif "error" in got and "result" in recorded:
            yield Difference("result", kind_of(recorded["result"]), _error_shown(got["error"]))
        elif "result" in recorded and kind_of(recorded["result"]) != kind_of(got.get("result")):
            yield Difference("result", kind_of(recorded["result"]), kind_of(got.get("result")))
        else:
            where = _value_path(recorded)
            yield from self._of_value(self._key(entry), _value(got), where)

    def _of_value(self, key: tuple[str, ...], value: Json, path: str) -> Iterator[Difference]:
        if self._is_ours.get(key):
            yield from wire_types.differences(value, _hint(key), path)
        elif key in self._shapes:
            yield from self._shapes[key].differences(value, path)

    def _learn(self, entry: Entry) -> None:
        recorded = entry.message if entry.kind == "text" else body_json(entry)
        if not recorded or "error" in recorded:
            return
        key, value = self._key(entry), _value(recorded)
        self._shapes.setdefault(key, Shape()).learn(value)
        hint = _hint(key)
        keeps = hint is not None and not entry.trimmed and not any(wire_types.differences(value, hint, ""))
        self._is_ours[key] = self._is_ours.get(key, True) and keeps

    def _key(self, entry: Entry) -> tuple[str, ...]:
        """What it is an answer to, or the event that it is."""
        if entry.event:
            return ("event", *entry.event)
        request = self._transcript.request_of(entry)
        if entry.kind == "http" and request:
            path = str(request.msg["path"]).partition("?")[0]
            return ("result", path.rpartition("/")[2])
        return ("result", str(request.message.get("method")) if request else "")


def _hint(key: tuple[str, ...]) -> Any:
    return wire_types.event_type(key[2]) if key[0] == "event" else wire_types.result_type(key[1])


def _value(message: Mapping[str, Json]) -> Json:
    """What a message is about."""
    if "result" in message:
        return message["result"]
    params = message.get("params")
    return params["event"] if isinstance(params, dict) and "event" in params else params


def _value_path(message: Mapping[str, Json]) -> str:
    if "result" in message:
        return "result"
    params = message.get("params")
    return "params.event" if isinstance(params, dict) and "event" in params else "params"


def _of_error(error: Json, got: Mapping[str, Json]) -> Iterator[Difference]:
    code = error.get("code") if isinstance(error, dict) else error
    theirs = got.get("error")
    if not isinstance(theirs, dict):
        yield Difference("error", _error_shown(error), kind_of(got.get("result")))
    elif theirs.get("code") != code:
        yield Difference("error.code", shown(code), _error_shown(theirs))


def _error_shown(error: Json) -> str:
    if not isinstance(error, dict):
        return f"error {shown(error)}"
    data = error.get("data")
    details: Optional[Json] = data.get("details") if isinstance(data, dict) else None
    return f"error {shown(error.get('code'))} ({details or error.get('message')})"


def _head(entry: Entry, answer: HttpAnswer) -> Iterator[Difference]:
    recorded = HttpAnswer.of_head([str(line) for line in entry.msg.get("head") or []])
    if recorded.status != answer.status:
        yield Difference("status", str(recorded.status), str(answer.status))
    elif recorded.kind != answer.kind:
        yield Difference("Content-Type", recorded.kind or "nothing", answer.kind or "nothing")


def _of_json(expected: str, got: str) -> Iterator[Difference]:
    try:
        yield from differences(parsed(expected), parsed(got), "")
    except ValueError:
        pass  # one of them is none


def _first_difference(expected: str, got: str) -> Difference:
    place = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
    start = max(0, place - _AROUND)
    return Difference(f"character {place}", shown(expected[start:]), shown(got[start:]))
