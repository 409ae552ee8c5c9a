"""Commands that check a finding, for a shell: whatever a name or a path has in it, it stays one word.

    function("parse"), stall(3), ... -> Check;  Check, From -> words_of -> quoted -> a line to paste
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import Iterable, NamedTuple


class Check(NamedTuple):
    word: str
    options: tuple[str, ...] = ()
    last: tuple[str, ...] = ()  # behind the source


@dataclass(frozen=True)
class From:
    """Where the profile came from, as it was typed."""

    source: tuple[str, ...] = ()  # (): the environment's, which a URI's token is safe in
    filters: tuple[str, ...] = ()
    stall_filters: tuple[str, ...] = ()  # those of them that `isoscope stalls` has
    command: tuple[str, ...] = ()  # with the options that it was run with before "--"


def function(name: str, *, wall: bool, mine: bool = False) -> Check:
    """Its callers and callees. wall: waits are in the profile, and no CPU time. mine: a runtime runs it."""
    view = (*(("--weight=us",) if wall else ()), *(("--frames=mine",) if mine else ()))
    return Check("table", (*view, "--no-inline", f"--of={name}"))


def below(name: str) -> Check:
    """The ways through it, by what threads did."""
    return Check("tree", ("--group=state", f"--focus=^{re.escape(name)}$"))


def locks() -> Check:
    """Who waits for which, and who has them."""
    return Check("locks")


def stall(number: int) -> Check:
    return Check("stalls", last=(str(number),))


def allocations() -> Check:
    return Check("bottomup", ("--kind=alloc", "--unit=bytes"))


def faults() -> Check:
    return Check("bottomup", ("--kind=fault",))


def losses() -> Check:
    return Check("stats")


def words_of(check: Check, where: From) -> list[str]:
    filters = {"stalls": where.stall_filters, "stats": ()}.get(check.word, where.filters)
    # A command's run again has other numbers.
    last = () if where.command else check.last
    return ["isoscope", check.word, *check.options, *filters, *where.source, *last, *where.command]


def quoted(words: Iterable[str]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """What a terminal would obey becomes an escape of the shell's (bash, zsh, ksh)."""
    if word.isprintable():
        return shlex.quote(word)
    told = []
    for byte in os.fsencode(word):
        letter = chr(byte)
        plain = 0x20 <= byte < 0x7F and letter not in "'\\"
        told.append(letter if plain else f"\\x{byte:02x}")
    return "$'" + "".join(told) + "'"
