"""The replies in tests/trees, which clients learn from, keep to the wire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from wire_schema import WIRE, WrongMessage

CASES = sorted((Path(__file__).resolve().parents[1] / "trees").glob("*.json"))
TABLE = "PrivateCpuSamplesTable"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_cases_replies_are_such_as_a_service_gives(path):
    for reply in json.loads(path.read_text())["replies"]:
        WIRE.check(TABLE, reply)


def test_a_reply_that_breaks_the_schema_is_found():
    reply = json.loads(CASES[0].read_text())["replies"][0]
    del reply["frames"]
    with pytest.raises(WrongMessage):
        WIRE.check(TABLE, reply)
