"""Where pprof has to think that a profile's modules were loaded.

A module's code stays where its file says, unless another one is there already: then it is moved
behind all others. So the program's own addresses are those that objdump shows, and a file that was
read is written with the same addresses again.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from ..model import NO_OFFSET, Code, Library
from ..profile import Frame, Profile
from .common import path_of

_PAGE = 4096


class Place(NamedTuple):
    start: int
    limit: int
    file_offset: int
    moved: int  # by so much is an address above its offset in the module


class Places:
    def __init__(self, profile: Profile) -> None:
        self._places: dict[str, Place] = {}
        self._codes: dict[str, Code] = {}
        for frame in profile.frames:
            self._see(frame)

    def _see(self, frame: Frame) -> None:
        """Of a file that could not be read only what was met there is known."""
        library = frame.function.library
        if frame.offset == NO_OFFSET or library is None:
            return
        path, code = path_of(library), library.code
        if code is None and path.startswith("/"):
            last = self._codes[path].size if path in self._codes else 0
            code = Code(0, max(last, frame.offset + 1), 0)
        if code is not None:
            self._codes[path] = code

    def of(self, library: Library) -> Optional[Place]:
        """None: it has no addresses. The first one that is asked for comes first."""
        path = path_of(library)
        if path not in self._places and path in self._codes:
            self._places[path] = self._place(self._codes[path])
        return self._places.get(path)

    def _place(self, code: Code) -> Place:
        within = min(code.offset % _PAGE, code.file_offset)
        start = code.offset - within
        size = -(-(code.size + within) // _PAGE) * _PAGE
        there = self._places.values()
        if any(place.start < start + size and start < place.limit for place in there):
            top = max(place.limit for place in there)
            # Of the same distance to the page as in the file.
            moved = -(-(top - start) // _PAGE) * _PAGE
        else:
            moved = 0
        return Place(start + moved, start + size + moved, code.file_offset - within, moved)

    def address(self, frame: Frame) -> int:
        """0: not known."""
        library = frame.function.library
        place = self.of(library) if library and frame.offset != NO_OFFSET else None
        if place is None:
            return 0
        address = frame.offset + place.moved
        return address if place.start <= address < place.limit else 0
