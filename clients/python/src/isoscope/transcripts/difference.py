"""What differs between two JSON values: where, what was expected, and what there is.

    list(differences(recorded, got, "result"))  ->  [Difference("result.pid", "42", "43")]
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Iterator

from .entry import Json

_SHOWN_MAX = 80
_NOTHING = "nothing"


@dataclass(frozen=True)
class Difference:
    path: str  # of the member, as in result.isolates[0].name
    expected: str
    got: str


def differences(expected: Json, got: Json, path: str) -> Iterator[Difference]:
    """Also of members' order: whoever compares bytes means that, too."""
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _of_objects(expected, got, path)
    elif isinstance(expected, list) and isinstance(got, list):
        for index in range(max(len(expected), len(got))):
            there = f"{path}[{index}]"
            if index >= len(expected):
                yield Difference(there, _NOTHING, shown(got[index]))
            elif index >= len(got):
                yield Difference(there, shown(expected[index]), _NOTHING)
            else:
                yield from differences(expected[index], got[index], there)
    elif type(expected) is not type(got) or expected != got:
        yield Difference(path, shown(expected), shown(got))


def _of_objects(expected: dict[str, Json], got: dict[str, Json], path: str) -> Iterator[Difference]:
    found = False
    for name in [*expected, *(name for name in got if name not in expected)]:
        there = member(path, name)
        if name not in got:
            parts = iter([Difference(there, shown(expected[name]), _NOTHING)])
        elif name not in expected:
            parts = iter([Difference(there, _NOTHING, shown(got[name]))])
        else:
            parts = differences(expected[name], got[name], there)
        for part in parts:
            found = True
            yield part
    if not found and list(expected) != list(got):
        yield Difference(path, f"members in the order {shown(list(expected))}", shown(list(got)))


def member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def shown(value: Json) -> str:
    """As JSON, cut."""
    text = json.dumps(value, ensure_ascii=False)
    text = text if text.isprintable() else json.dumps(value)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."
