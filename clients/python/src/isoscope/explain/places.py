"""Where in the program something is done: the nearest function of its own, with its line, and the way there.

    node of a profile -> place_of -> Place
    nodes with their numbers of samples -> places_of -> [Seen], the most frequent first
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Iterable, Mapping, NamedTuple

from ..model import Function
from ..profile import Frame, Profile
from ..trees.runtime_frames import is_mine
from .known_calls import call_of
from .words import Name, Sentence

# What a header leaves in everybody's own code: a lock's guard, a container's method.
_OF_HEADERS = re.compile(r"(?:std|__gnu_cxx|boost|absl|core|alloc|fmt)::")

_STARTS = frozenset(
    "_start __libc_start_main __libc_start_call_main clone clone3 __clone __clone3 start_thread thread_start".split()
)


class Place(NamedTuple):
    function: str
    library: str = ""
    file: str = ""
    line: int = 0  # 0: not known

    @property
    def named(self) -> Sentence:
        return (Name(self.function),)

    @property
    def where(self) -> Sentence:
        """With all that is known of it."""
        told: Sentence = (Name(self.function),)
        if self.library:
            told += (" (", Name(self.library), ")")
        if self.file:
            told += (" at ", Name(f"{self.file}:{self.line}" if self.line else self.file))
        return told


class Seen(NamedTuple):
    place: Place
    samples: int
    path: tuple[str, ...]  # functions, the outermost first; the place's is the last


def way(names: Iterable[str]) -> tuple[str, ...]:
    """Outermost first, without what every thread begins with."""
    told = list(names)
    begin = max((at + 1 for at, name in enumerate(told[:-1]) if name in _STARTS), default=0)
    return tuple(told[begin:])


def place(frame: Frame) -> Place:
    function = frame.function
    library = function.library.name if function.library else ""
    return Place(function.name, library, function.file, frame.line or function.line)


def is_unnamed(function: Function) -> bool:
    """Where a function begins may be known, by what unwinds it, though it has no symbol."""
    library = function.library.name if function.library else ""
    return function.kind == "Unnamed" or (bool(library) and function.name.startswith(f"{library}+0x"))


def own_frame(stack: tuple[Frame, ...]) -> int:
    """Its place in a stack, whose leaf is the first. Where nothing is the program's own, the leaf."""
    own = [n for n, frame in enumerate(stack) if is_mine(frame.function) and not call_of(frame.function)]
    return next((n for n in own if not _OF_HEADERS.match(stack[n].function.name)), own[0] if own else 0)


def places_of(profile: Profile, nodes: Mapping[int, int]) -> list[Seen]:
    """One of each function, where it is most often."""
    places: dict[tuple[str, str], Counter[Place]] = defaultdict(Counter)
    best: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}
    for node, samples in nodes.items():
        stack = profile.stack(node)
        number = own_frame(stack)
        found = place(stack[number])
        key = found.function, found.library
        places[key][found] += samples
        if key not in best or samples > best[key][0]:
            best[key] = samples, way(frame.function.name for frame in reversed(stack[number:]))
    seen = [Seen(counts.most_common(1)[0][0], sum(counts.values()), best[key][1]) for key, counts in places.items()]
    return sorted(seen, key=lambda one: (-one.samples, one.place))
