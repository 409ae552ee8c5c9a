"""Reading a session file (docs/session_format.md) into a Profile.

    file -> blocks -> tables: JSON, and what frames are in the source
                   -> pieces of samples -> session_samples.py
                   -> events (session_events.py) -> Profile.timeline

Names come behind the samples that they are of, and the last word holds: tables are read before the samples.
Lost: stalls and loops (`isoscope stalls FILE` has them), how processes ended, modules without samples, texts of source files, files of lines that are not the function's.

Errors   BadFile, with where in the file it is. A recording that was cut off is read up to its last complete block, and
         Profile.notes says so.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

from ..errors import BadFile
from ..gc_pause import no_collector
from ..model import NO_OFFSET, Code, Function, Library, Process
from ..profile import Profile
from ..samples_table import TableFrame
from .session_blocks import HEAD_SIZE, MAGIC, Block, Unpacker, blocks, wrong
from .session_columns import fast_columns, numbers, signed, split
from .session_events import SessionEvents
from .session_samples import Chunk

__all__ = ["HEAD_SIZE", "knows", "read"]

_OFFSETS = (1 << 48) - 1
_GAP = 1  # the offset, in no module, of frames that were left out
_LIBS = ("lib", "lib32", "lib64", "libx32", "usr/lib", "usr/lib32", "usr/lib64", "usr/libx32", "usr/libexec")
_SYSTEM = tuple(f"/{folder}/" for folder in _LIBS)
_KINDS = {"jit": "Jit", "interpreted": "Interpreted"}
_TABLES = {"HEAD", "SETT", "PROC", "MODS", "THRD", "NAME", "FUNC", "CHNS", "PIEC", "FACT", "STAT", "ENDS"}
_FUNCTION = ("number", "module", "start", "size", "byNumber", "name", "fullName", "file", "line")
_WRONG = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


_Told = tuple[dict[str, Any], Block]  # a piece, and what it tells of


def knows(content: bytes) -> bool:
    return content.startswith(MAGIC)


def read(content: bytes) -> Profile:
    session, unpacker, pieces = _Session(), Unpacker(), []
    events = SessionEvents(session.thread)
    kind, piece = "", {"begins": True}
    for block in blocks(content):
        try:
            if block.kind == "SMPL":
                pieces.append((piece, block))
            elif block.kind == "EVTS":
                events.describe(block)
            elif block.kind == "EVNT":
                events.add(block)
            elif block.kind in _TABLES:  # one frame for all of them
                kind, told = block.kind, unpacker.read(block)
                if kind == "CHNS":
                    session.add_chains(told)
                elif kind == "PIEC":
                    piece = json.loads(told)
                else:
                    session.add(kind, json.loads(told))
        except _WRONG as error:
            raise _broken(block, error) from error
    profile = Profile(pcs=True)
    session.tell(profile)
    with no_collector():
        session.add_samples(profile, pieces, len(content))
    profile.timeline = events.timeline if len(events.timeline) else None
    if kind != "ENDS":
        profile.notes.append("the recording was cut off: at most its last second is missing")
    return profile


class _Session:
    """The tables, and what they make of frames and threads."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._settings: dict[str, Any] = {}
        self._processes: dict[int, dict[str, Any]] = {}
        self._threads: dict[int, tuple[int, int, str]] = {}  # process, tid, name
        self._names: dict[int, str] = {}
        self._files: dict[int, str] = {}
        self._modules = {0: Library("libraries/0", "", "[unknown]", "[unknown]")}
        self._runtimes: dict[int, str] = {}  # of modules whose functions one runs
        self._named: dict[int, str] = {}  # kinds of modules whose offsets are names
        self._rows: dict[int, tuple[Any, ...]] = {}
        self._same: dict[int, int] = {}
        self._functions: dict[int, Function] = {}
        self._chains: dict[tuple[int, int], list[tuple[int, int]]] = {}  # function, line
        self._lines: dict[int, int] = {}  # of each function's place before
        self._frames: dict[int, tuple[int, ...]] = {}  # of the profile, outermost first; by module << 48 | offset

    def add(self, kind: str, told: dict[str, Any]) -> None:
        if kind == "HEAD":
            self._head = told
        elif kind == "SETT":
            self._settings = told
        elif kind == "PROC":
            self._processes.update((int(one["id"]), one) for one in told["processes"])
        elif kind == "THRD":
            self._threads.update((n, (int(pid), int(tid), str(name))) for n, pid, tid, name in told["threads"])
        elif kind == "NAME":
            self._names.update((n, str(text)) for n, text in told["names"])
        elif kind == "MODS":
            for one in told["modules"]:
                self._add_module(one)
        elif kind == "FUNC":
            self._files.update((n, str(path)) for n, path in told["files"])
            self._rows.update((row[0], row) for row in _rows(*[told["functions"][key] for key in _FUNCTION]))
            self._same.update((n, root) for n, root in told["same"])

    def _add_module(self, one: dict[str, Any]) -> None:
        path = str(one["path"])
        code = None
        if one.get("codeBytes"):
            code = Code(one["codeOffset"], one["codeBytes"], one["codeFileOffset"], one.get("base", 0))
        runtime = str(one.get("runtime") or "")
        name, build_id = path.rpartition("/")[2], str(one.get("buildId") or "")
        of_kernel = path in ("[vdso]", "[kernel]") or (path.startswith("[") and build_id != "")  # or a module of its
        system = path.startswith(_SYSTEM) or of_kernel
        if runtime:  # whose code its file is depends on the runtime: it is said
            system = bool(one.get("system"))
            self._runtimes[one["number"]] = runtime
        uri = f"file://{path}" if path.startswith("/") else path
        self._modules[one["number"]] = Library(
            f"libraries/{one['number']}", uri, name, path, system, build_id, code, str(one.get("runs") or "")
        )
        self._named[one["number"]] = str(one.get("names") or "")

    def add_chains(self, content: bytes) -> None:
        count, modules, offsets, lengths, functions, lines, _inlined, _files = split(content, 8)
        places: list[tuple[int, int]] = []
        for function, step in _rows(numbers(functions), signed(lines)):
            line = self._lines[function] = self._lines.get(function, 0) + step
            places.append((function, line))
        at = 0
        keys = list(_rows(numbers(modules), list(accumulate(signed(offsets))), numbers(lengths)))
        for module, offset, length in keys:
            self._chains[module, offset] = places[at : at + length]
            at += length
        if [len(keys)] != numbers(count) or at != len(places) or any(not key[2] for key in keys):
            raise ValueError("its columns have other lengths than it says")

    def tell(self, profile: Profile) -> None:
        """All but the samples."""
        profile.period_us = int(self._settings.get("periodUs", 0))
        for one in self._processes.values():
            status = one.get("status") or {}
            profile.true_period_us = max(profile.true_period_us, int(status.get("truePeriodUs", 0)))
            profile.lost.update({cause: int(n) for cause, n in (status.get("lost") or {}).items()})
            profile.runtimes |= {str(name) for name in one.get("runtimes") or ()}
        profile.meta["command"] = " ".join(map(str, self._head.get("command") or ()))
        profile.meta["host"] = str(self._head.get("host", ""))

    def thread(self, number: int) -> tuple[Process, int, str]:
        """By the name that it had until now."""
        process, tid, name = self._threads[number]
        return self._process(process), tid, name

    def _process(self, number: int) -> Process:
        one = self._processes[number]
        return Process(f"isolates/{number}", str(one.get("exe", "")).rpartition("/")[2], int(one["pid"]))

    def add_samples(self, profile: Profile, pieces: list[_Told], size: int) -> None:
        """size: of the file."""
        processes = {number: self._process(number) for number in self._processes}
        fast = fast_columns(size)

        def chains(keys: list[int]) -> list[tuple[int, ...]]:
            known = self._frames
            for key in set(keys) - known.keys():
                known[key] = profile.chain(self._frame(key >> 48, key & _OFFSETS))
            return list(map(known.__getitem__, keys))

        def source(thread: int, tag: int) -> tuple[int, int]:
            number, tid, name = self._threads[thread]
            word = self._names[tag] if tag else name or "Default"
            return profile.thread(processes[number], tid, name), profile.tag(word)

        for told in _chunks(pieces):
            unpacker, chunk = Unpacker(), Chunk(profile, fast, chains)
            for piece, block in told:
                try:
                    chunk.add(piece, [source(*one) for one in piece["sources"]], unpacker.read(block))
                except _WRONG as error:
                    raise _broken(block, error) from error
            try:
                chunk.end()
            except _WRONG as error:
                raise _broken(told[0][1], error) from error
        profile.complete()

    def _frame(self, module: int, offset: int) -> TableFrame:
        key = module, offset
        chain = self._chains.get(key) or [(0, 0)]
        functions = tuple([self._function(*key, number) for number, _ in chain])
        inlined = (True,) * (len(chain) - 1) + (False,)
        told = self._named.get(module) or module in self._runtimes or key == (0, _GAP)
        pc = NO_OFFSET if told else offset
        return TableFrame(functions, tuple([line for _, line in chain]), inlined, pc)

    def _function(self, module: int, offset: int, number: int) -> Function:
        """Of a frame in that place. number 0: nothing names it."""
        for _ in range(len(self._same)):
            if number not in self._same:
                break
            number = self._same[number]
        key: Any = number or (module, offset)
        if key not in self._functions:
            made = self._named_function(number) if number else self._unnamed(module, offset)
            self._functions[key] = made
        return self._functions[key]

    def _named_function(self, number: int) -> Function:
        _, module, start, size, by_number, name, full_name, file, line = self._rows[number]
        id = f"functions/{module}/" + (f"i{number}" if by_number else f"{start:x}")
        runtime = self._runtimes.get(module, "")
        kind = "Interpreted" if runtime else "Stub" if name.endswith("@plt") else "Native"
        path = self._files[file] if file else ""
        offset = NO_OFFSET if start is None or runtime else start
        return Function(
            id, name, self._modules[module], full_name or name, kind, path, line, offset, size, runtime
        )

    def _unnamed(self, module: int, offset: int) -> Function:
        library, named = self._modules[module], self._named.get(module, "")
        name = self._names[offset] if named else f"{library.name}+{offset:#x}"
        name = "[frames left out]" if (module, offset) == (0, _GAP) else name
        pc = NO_OFFSET if named or (module, offset) == (0, _GAP) else offset
        kind = _KINDS.get(named, "Unnamed")
        return Function(f"functions/{module}/{offset:x}", name, library, name, kind, offset=pc)


def _chunks(pieces: list[_Told]) -> list[list[_Told]]:
    chunks: list[list[_Told]] = []
    for piece, block in pieces:
        if not chunks or piece["begins"]:
            chunks.append([])
        chunks[-1].append((piece, block))
    return chunks


def _rows(*lists: list[Any]) -> Any:
    if len({len(one) for one in lists}) != 1:
        raise ValueError("its columns have different lengths")
    return zip(*lists)


def _broken(block: Block, error: Exception) -> BadFile:
    told = str(error) if type(error) is ValueError else f"it lacks or breaks {error!r}"
    return wrong(block.at, f"block '{block.kind}': {told}")
