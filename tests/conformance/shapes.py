"""What a JSON value looks like, without what it says: kinds, members, presence.

    shapes = Shapes()
    kind = shapes.learn(value, "getVM")         # "VM"; its members are noted
    for difference in shapes.differences(value, "getVM", expected={"VM"}):
        difference.where, difference.what       # "VM.pid", "missing"

A kind is null, boolean, integer, number, string, list, "list of <kind>", or an object's type;
an object without a type is named by where it stands. Of Event and Sentinel the kind counts too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

Json = Any
TRIMMED = "_recordTrimmed"  # stands in a transcript for the rest of a list
BY_KIND = ("Event", "Sentinel")
# Their members are what the program chose, not the protocol.
FREE = ("*.request.params", "*.extensionData", "*.traceEvents", "*._counters",
        "Echo")


@dataclass(frozen=True)
class Difference:
    where: str
    what: str


def kind_of(value: Json, where: str) -> str:
    for python, kind in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, python):
            return kind
    if value is None:
        return "null"
    if isinstance(value, list):
        return "list"
    name = value.get("type")
    if not isinstance(name, str):
        return where
    return f"{name}:{value.get('kind')}" if name in BY_KIND else name


def children(value: Json, where: str) -> Iterator[tuple[str, Json]]:
    """The members of an object, each with its place."""
    kind = kind_of(value, where)
    return ((f"{kind}.{name}", member) for name, member in value.items())


def elements(value: list[Json]) -> list[Json]:
    return [one for one in value if not (isinstance(one, dict) and TRIMMED in one)]


def is_free(where: str) -> bool:
    return any(where.endswith(free.lstrip("*")) or where == free for free in FREE)


class Shapes:
    """types: object kind -> member -> the kinds seen there; "absent" where it was not always."""

    def __init__(self, types: dict[str, dict[str, list[str]]] | None = None) -> None:
        self.types: dict[str, dict[str, set[str]]] = {
            name: {member: set(kinds) for member, kinds in members.items()}
            for name, members in (types or {}).items()
        }

    def to_json(self) -> dict[str, dict[str, list[str]]]:
        return {
            name: {member: sorted(kinds) for member, kinds in sorted(members.items())}
            for name, members in sorted(self.types.items())
        }

    def learn(self, value: Json, where: str) -> str:
        kind = kind_of(value, where)
        if isinstance(value, dict) and not is_free(where) and not is_free(kind):
            self._learn_object(value, kind, where)
        return kind

    def _learn_object(self, value: Json, kind: str, where: str) -> None:
        is_new = kind not in self.types
        members = self.types.setdefault(kind, {})
        for name, (place, member) in zip(value, children(value, where)):
            seen = members.setdefault(name, set() if is_new else {"absent"})
            seen |= self._learn_member(member, place)
        for name in members.keys() - value.keys():
            members[name].add("absent")

    def _learn_member(self, member: Json, place: str) -> set[str]:
        if not isinstance(member, list):
            return {self.learn(member, place)}
        return {"list"} | {f"list of {self.learn(one, place)}" for one in elements(member)}

    def differences(self, value: Json, where: str, expected: set[str]) -> Iterator[Difference]:
        kind = kind_of(value, where)
        if kind not in expected and not (kind == "integer" and "number" in expected):
            yield Difference(where, f"{kind} instead of {' or '.join(sorted(expected))}")
        elif isinstance(value, list):
            wanted = {one.removeprefix("list of ") for one in expected if one != "list"}
            for one in value:
                yield from self.differences(one, where, wanted)
        elif isinstance(value, dict) and not is_free(where) and not is_free(kind):
            yield from self._object_differences(value, kind, where)

    def _object_differences(self, value: Json, kind: str, where: str) -> Iterator[Difference]:
        members = self.types[kind]
        for name, kinds in members.items():
            if name not in value and "absent" not in kinds:
                yield Difference(f"{kind}.{name}", "missing")
        for name, (place, member) in zip(value, children(value, where)):
            if name in members:
                yield from self.differences(member, place, members[name])
            elif not name.startswith("_"):  # what begins so is ours to add
                yield Difference(place, "not known to the VM")
