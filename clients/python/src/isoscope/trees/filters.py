"""Which samples, and which of their frames, a tree is made of.

    focus   only samples with such a function on the stack        ignore  only samples without
    hide    such frames are taken out of the stacks: what was theirs is their caller's

A pattern is a regular expression that is searched in a function's name, full name and library's name.

Errors   IsoscopeError for a pattern that is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Optional

from ..errors import IsoscopeError
from ..model import Function, Library
from ..profile import Profile, Thread

# Where the loader looks by itself. Modules in folders below (python3.11/lib-dynload) are a program's.
_SYSTEM = re.compile(r"/(usr/)?lib(32|64|x32)?/([^/]+-linux-[^/]+/)?[^/]+\.so[^/]*")
_SYSTEM_URIS = ("dart:", "org-dartlang-sdk:")
_KERNEL_MADE = ("[vdso]", "linux-vdso.so.1", "[vsyscall]", "[kernel]")


@dataclass(frozen=True)
class Filter:
    """None: no bound, all."""

    first_us: Optional[int] = None
    last_us: Optional[int] = None
    process: Optional[str] = None  # its name, number or id
    thread: Optional[str] = None  # its name or tid
    tag: Optional[str] = None
    state: Optional[str] = None  # the VM tag
    focus: Optional[str] = None
    ignore: Optional[str] = None
    hide: Optional[str] = None
    hide_system: bool = False  # libraries that came with the system: libc and its kin

    def window(self, profile: Profile) -> Profile:
        if self.first_us is None and self.last_us is None:
            return profile
        return profile.window(self.first_us, self.last_us)

    def takes_thread(self, thread: Thread) -> bool:
        process = thread.process
        if self.process not in (None, process.name, process.number, process.id):
            return False
        return self.thread in (None, thread.name, str(thread.tid))

    def hidden(self) -> Callable[[Function], bool]:
        matches = matcher(self.hide)
        if not self.hide_system:
            return matches
        return lambda function: matches(function) or is_system(function.library)


def matcher(pattern: Optional[str]) -> Callable[[Function], bool]:
    """None: matches nothing."""
    if pattern is None:
        return lambda function: False
    try:
        search = re.compile(pattern).search
    except re.error as error:
        raise IsoscopeError(f"'{pattern}' is not a regular expression: {error}") from error

    def matches(function: Function) -> bool:
        library = function.library.name if function.library else ""
        return bool(search(function.name) or search(function.full_name) or search(library))

    return matches


def is_system(library: Optional[Library]) -> bool:
    if library is None:
        return False
    path = library.path or library.uri.partition("file://")[2]
    return bool(
        _SYSTEM.fullmatch(path)
        or library.uri.startswith(_SYSTEM_URIS)
        or library.name in _KERNEL_MADE
    )
