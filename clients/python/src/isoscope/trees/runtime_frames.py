"""Programs that a runtime runs: which of their frames are shown.

    all      as they are
    mine     functions of the user's own: neither the system's libraries' nor native code of a runtime
    folded   native code of a runtime is one frame a run: [python3.11]

What is inlined into a runtime's function is in its run, too; so is libc's way from a program's first
instruction to its main, behind one. tests/trees has the rule's cases; the page follows them too (shape.ts).
"""

from __future__ import annotations

import re
from typing import Iterable, Optional

from ..model import Function, Library

ALL, MINE, FOLDED = FRAMES = ("all", "mine", "folded")
FOLDED_KIND = "Folded"  # of functions that stand for the native code of a runtime
_START = re.compile("__libc_start_")


def is_system(function: Function) -> bool:
    return function.library is not None and function.library.system


def is_of_runtime(function: Function) -> bool:
    """Native code of a runtime."""
    return bool(function.library and function.library.runs)


def is_mine(function: Function) -> bool:
    return not is_system(function) and not is_of_runtime(function)


class Folding:
    """One profile's."""

    def __init__(self) -> None:
        self._ones: dict[Library, Function] = {}

    def shown(self, function: Function) -> Function:
        """Itself, or what stands for it."""
        library = function.library
        if library is None or not is_of_runtime(function):
            return function
        if library not in self._ones:
            name = f"[{library.name}]"
            self._ones[library] = Function(f"{library.id}/folded", name, library, name, FOLDED_KIND)
        return self._ones[library]

    def goes_on(self, caller: Optional[Function], function: Function) -> bool:
        """caller: as it is shown; None: nobody. Is the function in the same run?"""
        if caller is None or caller.kind != FOLDED_KIND:
            return False
        starts = _START.match(function.name) is not None and is_system(function)
        return starts or self.shown(function) is caller

    def stack(self, functions: Iterable[Function]) -> list[Function]:
        """Leaf first, as is what is given."""
        folded: list[Function] = []
        for function in reversed(list(functions)):
            if not self.goes_on(folded[-1] if folded else None, function):
                folded.append(self.shown(function))
        return folded[::-1]
