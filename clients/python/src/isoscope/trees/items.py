"""Makes the items of one tree: each thing once.

    merge   "function": calls of one function from one place are one node, wherever they stand in it
            "line": each line its own; "library": what stays within a library is one node
    group   what the roots are: "process", "thread", "tag", "state", or "all" for a single one
"""

from __future__ import annotations

from typing import Callable, Optional

from ..errors import IsoscopeError
from ..model import Library
from ..profile import Frame, Profile, Thread
from .item import Item

MERGES = ("function", "line", "library")
GROUPS = ("process", "thread", "tag", "state", "all")
NO_LIBRARY = "[no library]"


class Items:
    def __init__(self, profile: Profile, merge: str, group: str) -> None:
        if merge not in MERGES:
            raise IsoscopeError(f"cannot merge by '{merge}'; there are: {', '.join(MERGES)}")
        if group not in GROUPS:
            raise IsoscopeError(f"cannot group by '{group}'; there are: {', '.join(GROUPS)}")
        self._profile = profile
        self._items: dict[tuple[object, ...], Item] = {}
        by_merge = {"function": self._function, "line": self._line, "library": self._library}
        self.of_frame: Callable[[Frame], Item] = by_merge[merge]
        self._group = group

    def roots(self) -> list[Item]:
        """By number: of the thread, tag or state in the profile; of processes in the order of their
        first threads."""
        profile = self._profile
        if self._group == "tag":
            return [self._root(name, name, name or "[no tag]") for name in profile.tags]
        if self._group == "state":
            return [self._root(name, name, name or "[no state]") for name in profile.vm_tags]
        if self._group == "all":
            name = profile.meta.get("program") or "all"
            return [self._root("", name, name)]
        if self._group == "thread":
            return [self._thread(thread) for thread in profile.threads]
        return [self._root(p.id, p.name, p.label) for p in profile.processes]

    def process_numbers(self) -> list[int]:
        """Of each thread that of its process."""
        numbers = {process.id: n for n, process in enumerate(self._profile.processes)}
        return [numbers[thread.process.id] for thread in self._profile.threads]

    def _thread(self, thread: Thread) -> Item:
        label = f"{thread.name or 'thread'} ({thread.tid})"
        if len(self._profile.processes) > 1:
            label += f" of {thread.process.label}"
        key = f"{thread.process.id}/{thread.tid}"
        return self._root(key, thread.name or str(thread.tid), label)

    def _root(self, key: str, name: str, label: str) -> Item:
        made = self._items.get((key,))
        if made is None:
            made = self._items[(key,)] = Item(self._group, key, name, label)
        return made

    def _function(self, frame: Frame) -> Item:
        return self._inlined_or_not(frame, "function", 0)

    def _line(self, frame: Frame) -> Item:
        return self._inlined_or_not(frame, "line", frame.line)

    def _inlined_or_not(self, frame: Frame, kind: str, line: int) -> Item:
        base = self._of_function(frame, kind, line, None)
        return self._of_function(frame, kind, line, base) if frame.inlined else base

    def _of_function(self, frame: Frame, kind: str, line: int, base: Optional[Item]) -> Item:
        function, inlined = frame.function, base is not None
        made = self._items.get((function, line, inlined))
        if made is None:
            label = f"{function.name}:{line}" if line else function.name
            made = self._items[function, line, inlined] = Item(
                kind, function.id, function.name, label, function, line, inlined, base
            )
        return made

    def _library(self, frame: Frame) -> Item:
        library = frame.function.library or Library("", "", NO_LIBRARY)
        made = self._items.get(("library", library.uri))
        if made is None:
            name = library.name or library.uri or NO_LIBRARY
            made = self._items["library", library.uri] = Item("library", library.id, name, name)
        return made
