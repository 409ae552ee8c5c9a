"""All that was said in tests/protocol, and of the committed session (tests/sessions), held against schemas/. CTest runs
those tests first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from wire_schema import SEEN, WIRE, WireChecker, WrongMessage

GOLDEN = sorted((Path(__file__).resolve().parents[1] / "sessions").glob("*.jsonl"))
LOGS = [Path(path) for path in os.environ.get("ISOSCOPE_WIRE_LOGS", "").split(":") if path]


def replay(log: Path) -> None:
    clients: dict[str, WireChecker] = {}
    for line in log.read_text().splitlines():
        text = json.loads(line)
        client = clients.setdefault(text["client"], WireChecker())
        if "sent" in text:
            client.sent(text["sent"])
        else:
            client.received(text["received"])


def replay_transcript(path: Path) -> None:
    client = WireChecker()
    for line in map(json.loads, path.read_text().splitlines()):
        if line["kind"] == "text":
            hear = client.sent if line["dir"] == "send" else client.received
            text = line.get("raw", line["msg"])  # as it came, where writing it again gives something else
            hear(text if isinstance(text, str) else json.dumps(text))


@pytest.fixture(scope="module")
def replayed():
    assert LOGS and GOLDEN, "ISOSCOPE_WIRE_LOGS is empty: run this by ctest"
    for log in LOGS:
        replay(log)
    for path in GOLDEN:
        replay_transcript(path)


def test_every_reply_and_event_keeps_to_its_schema(replayed):
    assert SEEN.methods


def test_every_method_has_a_case(replayed):
    assert set(WIRE.methods) - SEEN.methods == set()


def test_every_error_of_a_method_has_a_case(replayed):
    described = {(name, error) for name in WIRE.methods for error in WIRE.own_errors(name)}
    assert described - SEEN.errors == set()


def test_every_type_and_event_that_can_come_has_been_seen(replayed):
    assert what_can_come() - SEEN.components == set()


def test_what_is_never_sent_was_never_heard(replayed):
    never = {name for name, schema in WIRE.schemas.items() if schema.get("x-never")}
    assert never and not never & SEEN.components


def what_can_come() -> set[str]:
    """Not the types that are parameters only, nor what is described for who knows it from a VM."""
    found: set[str] = set()
    todo = [choice for name in WIRE.methods for choice in WIRE.choices(name)] + ["RpcError"]
    todo += [WIRE.event(stream, kind) for stream, kinds in WIRE.streams.items() for kind in kinds]
    todo = [name for name in todo if not WIRE.schemas[name].get("x-never")]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            text = json.dumps(WIRE.schemas[name])
            todo += [other for other in WIRE.schemas if f'/schemas/{other}"' in text]
    return found


# A checker that finds nothing would be content with everything.

VERSION = {"type": "Version", "major": 4, "minor": 20, "_privateMajor": 0, "_privateMinor": 0}


@pytest.mark.parametrize(
    "reply, why",
    [
        ({"result": {**VERSION, "more": 1}}, "must not contain {'more'}"),
        ({"result": {**VERSION, "major": "4"}}, "must be integer"),
        ({"result": {"type": "Success"}}, "and not 'Success'"),
        ({"result": VERSION, "error": {}}, "a result or an error"),
        ({"error": {"code": 100, "message": "Feature is disabled"}}, "does not give the error"),
        ({"error": {"code": 1, "message": "x"}}, "has no error 1"),
        ({"error": {"code": -32603, "message": "Internal error", "data": "x"}}, "must be object"),
        ({"result": VERSION, "version": 1}, "with the members"),
    ],
)
def test_a_reply_that_breaks_its_schema_is_found(reply, why):
    checker = WireChecker()
    checker.sent('{"id": 1, "method": "getVersion"}')
    checker.received(json.dumps({"jsonrpc": "2.0", "id": 1, "result": VERSION}))
    with pytest.raises(WrongMessage) as wrong:
        checker.received(json.dumps({"jsonrpc": "2.0", "id": 1, **reply}))
    assert why in str(wrong.value)


def test_an_event_on_the_wrong_stream_is_found():
    event = {"type": "Event", "kind": "VMFlagUpdate", "vm": {"type": "@VM", "name": "x"},
             "timestamp": 1, "flag": "profiler", "newValue": "true"}  # fmt: skip
    params = {"streamId": "VM", "event": event}
    message = {"jsonrpc": "2.0", "method": "streamNotify", "params": params}
    WireChecker().received(json.dumps(message))
    params["streamId"] = "Isolate"
    with pytest.raises(WrongMessage, match="the stream Isolate has no event 'VMFlagUpdate'"):
        WireChecker().received(json.dumps(message))
