"""What recorded values look like, without what they say; and where another value looks different.

    shape = Shape()
    shape.learn({"type": "VM", "pid": 1})
    list(shape.differences({"type": "VM"}, "result"))  ->  [Difference("result.pid", "integer", "nothing")]

A kind is null, boolean, integer, number, string, list or object; an object that names its type is of
that kind. A member is expected where every object of its kind had it. A list's elements are expected
to look like any that was seen there; of one that was always empty nothing is known.
"""

from __future__ import annotations

from typing import Iterator

from .difference import Difference, member
from .entry import TRIMMED, Json


def kind_of(value: Json) -> str:
    for python, kind in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"),
                         (list, "list")):  # fmt: skip
        if isinstance(value, python):
            return kind
    if value is None:
        return "null"
    name = value.get("type")
    return name if isinstance(name, str) else "object"


class Shape:
    """Of all values at one place."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._objects: dict[str, _Members] = {}  # by kind
        self._elements: Shape | None = None

    def learn(self, value: Json) -> None:
        kind = kind_of(value)
        self._kinds.add(kind)
        if isinstance(value, dict):
            self._objects.setdefault(kind, _Members()).learn(value)
        elif isinstance(value, list):
            self._elements = self._elements or Shape()
            for one in value:
                if not (isinstance(one, dict) and TRIMMED in one):
                    self._elements.learn(one)

    def differences(self, value: Json, path: str) -> Iterator[Difference]:
        kind = kind_of(value)
        if not self._kinds:
            return
        if kind not in self._kinds and not (kind == "integer" and "number" in self._kinds):
            yield Difference(path, " or ".join(sorted(self._kinds)), kind)
        elif isinstance(value, dict):
            yield from self._objects[kind].differences(value, path)
        elif isinstance(value, list) and self._elements:
            for index, one in enumerate(value):
                yield from self._elements.differences(one, f"{path}[{index}]")

    @property
    def expected(self) -> str:
        return " or ".join(sorted(self._kinds))


class _Members:
    def __init__(self) -> None:
        self._shapes: dict[str, Shape] = {}
        self._seen: dict[str, int] = {}
        self._objects = 0

    def learn(self, value: dict[str, Json]) -> None:
        self._objects += 1
        for name, one in value.items():
            self._shapes.setdefault(name, Shape()).learn(one)
            self._seen[name] = self._seen.get(name, 0) + 1

    def differences(self, value: dict[str, Json], path: str) -> Iterator[Difference]:
        """More members than are known are fine: so the protocol wants it."""
        for name, shape in self._shapes.items():
            if name in value:
                yield from shape.differences(value[name], member(path, name))
            elif self._seen[name] == self._objects:
                yield Difference(member(path, name), shape.expected, "nothing")
