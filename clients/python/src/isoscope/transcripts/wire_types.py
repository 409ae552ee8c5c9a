"""The protocol's generated types (protocol.py), held against values.

    hint = result_type("getVM")                                    # None: no method that we know
    list(differences({"type": "VM"}, hint, "result"))  ->  [Difference("result.name", "string", "nothing")]
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping as MappingType
from typing import Any, Iterator, Literal, Mapping, Optional, Union, get_args, get_origin, get_type_hints

from .. import protocol
from .difference import Difference, member, shown
from .entry import Json
from .shape import kind_of

_PLAIN = {int: ("integer",), float: ("number", "integer"), str: ("string",), bool: ("boolean",),
          type(None): ("null",)}  # fmt: skip


def result_type(method: str) -> Optional[Any]:
    """By the rule of schemas/generator: _getX.y becomes PrivateGetXYResult."""
    words = [word for word in re.split(r"[._]", method) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return getattr(protocol, ("Private" if method.startswith("_") else "") + name + "Result", None)


@functools.lru_cache(maxsize=None)
def event_type(kind: str) -> Optional[Any]:
    for name, hint in vars(protocol).items():
        if name.startswith("Event") and _is_object(hint):
            if kind in get_args(_members(hint).get("kind", Any)):
                return hint
    return None


def differences(value: Json, hint: Any, path: str) -> Iterator[Difference]:
    origin = get_origin(hint)
    if hint in _PLAIN:
        if kind_of(value) not in _PLAIN[hint]:
            yield Difference(path, _PLAIN[hint][0], kind_of(value))
    elif origin is Literal:
        if not any(type(one) is type(value) and one == value for one in get_args(hint)):
            yield Difference(path, " or ".join(map(shown, get_args(hint))), shown(value))
    elif origin is Union:
        yield from _of_union(value, get_args(hint), path)
    elif origin in (list, MappingType):
        yield from _of_many(value, hint, path)
    elif _is_object(hint):
        yield from _of_object(value, hint, path)


def _of_union(value: Json, hints: tuple[Any, ...], path: str) -> Iterator[Difference]:
    """Where none fits, of the one that its type names."""
    tried = [list(differences(value, hint, path)) for hint in hints]
    if any(not found for found in tried):
        return
    for hint, found in zip(hints, tried):
        if _is_object(hint) and isinstance(value, dict) and value.get("type") in _names(hint):
            yield from found
            return
    names = [name for hint in hints for name in (_names(hint) or [str(hint)])]
    yield Difference(path, " or ".join(map(str, names)), kind_of(value))


def _of_many(value: Json, hint: Any, path: str) -> Iterator[Difference]:
    wanted, element = ("list", get_args(hint)[0]) if get_origin(hint) is list else ("object", get_args(hint)[1])
    if not isinstance(value, list if wanted == "list" else dict):
        yield Difference(path, wanted, kind_of(value))
    elif element is not Any and isinstance(value, list):
        for index, one in enumerate(value):
            yield from differences(one, element, f"{path}[{index}]")
    elif element is not Any:
        for name, one in value.items():
            yield from differences(one, element, member(path, name))


def _of_object(value: Json, hint: Any, path: str) -> Iterator[Difference]:
    if not isinstance(value, dict):
        yield Difference(path, str((_names(hint) or [hint.__name__])[0]), kind_of(value))
        return
    for name, one in _members(hint).items():
        if name in value:
            yield from differences(value[name], one, member(path, name))
        elif name in hint.__required_keys__:
            yield Difference(member(path, name), _described(one), "nothing")


def _described(hint: Any) -> str:
    if hint in _PLAIN:
        return _PLAIN[hint][0]
    if get_origin(hint) is Literal:
        return " or ".join(map(shown, get_args(hint)))
    if get_origin(hint) is list:
        return "list"
    return str((_names(hint) or ["something"])[0]) if _is_object(hint) else "something"


def _is_object(hint: Any) -> bool:
    return isinstance(hint, type) and hasattr(hint, "__required_keys__")


def _names(hint: Any) -> tuple[Any, ...]:
    """What the object's type may be."""
    return get_args(_members(hint).get("type", Any)) if _is_object(hint) else ()


@functools.lru_cache(maxsize=None)
def _members(hint: Any) -> Mapping[str, Any]:
    return get_type_hints(hint)
