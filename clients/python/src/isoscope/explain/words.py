"""Sentences with other people's names in them: each kind of report writes a name in its own way.

    "hottest: ", Name("operator<<")   ->   hottest: operator<<        text
                                      ->   hottest: `operator<<`      Markdown
"""

from __future__ import annotations

from typing import Sequence, Union

from ..text import printable


class Name(str):
    """Out of a symbol table, a path, a budget: nothing of it is to be believed."""


Sentence = tuple[Union[str, Name], ...]


def plain(sentence: Sentence) -> str:
    return printable("".join(sentence))


def joined(between: str, parts: Sequence[Sentence]) -> Sentence:
    told: list[Union[str, Name]] = []
    for part in parts:
        told += [between, *part] if told else part
    return tuple(told)
