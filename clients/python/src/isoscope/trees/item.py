"""What a node of a tree stands for: a process, a thread, a tag; a function, a line of one, a library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ..model import Function


@dataclass(frozen=True, eq=False)
class Item:
    """Items of one tree compare by identity; identity() is what is equal across trees."""

    kind: str  # "all", "process", "thread", "tag", "state": a root; "function", "line", "library"
    key: str  # the wire's id where it has one
    name: str
    label: str  # for people, where the name alone says too little
    function: Optional[Function] = None
    line: int = 0  # of "line"; 0: not known
    inlined: bool = False  # into its parent: no call was made
    _base: Optional[Item] = None  # the same, not inlined

    @property
    def base(self) -> Item:
        return self._base or self

    @property
    def library(self) -> str:
        return self.function.library.name if self.function and self.function.library else ""

    def identity(self) -> tuple[str, str, str, str, int]:
        function = self.function
        if self.kind == "all":  # is the same whatever the program is called
            return (self.kind, "", "", "", 0)
        name = (function.full_name or function.name) if function else self.name
        return (self.kind, name, self.library, function.file if function else "", self.line)
