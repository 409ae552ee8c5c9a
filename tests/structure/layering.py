"""Which folder may include what. Dependencies point one way (README, "Folders")."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator, NamedTuple

# What symbols/ is entered by.
SYMBOLS = ("sampler/profile/symbols/symbols.h", "sampler/profile/symbols/lines.h",
           "sampler/profile/symbols/files/module_file.h",
           "sampler/profile/symbols/files/symbol_server.h",
           "sampler/profile/symbols/names/demangle.h")

# The parts of the sampler, each of which sees only those before it; see its README.
CAPTURE = "sampler/capture"
BELOW_CAPTURE = ("sampler/include", "sampler/feed")

# Folder -> what its files may include besides their own folder: folders, or single files. A folder
# inside another one stands before it.
ALLOWED: dict[str, tuple[str, ...]] = {
    "sampler/include": (),
    "sampler/feed": ("sampler/include",),
    f"{CAPTURE}/system": BELOW_CAPTURE,
    f"{CAPTURE}/cfi": (*BELOW_CAPTURE, f"{CAPTURE}/system"),
    f"{CAPTURE}/unwind": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/cfi"),
    f"{CAPTURE}/modules": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/cfi",
                           f"{CAPTURE}/unwind"),
    f"{CAPTURE}/threads": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/unwind"),
    f"{CAPTURE}/wall": (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/unwind",
                        f"{CAPTURE}/modules", f"{CAPTURE}/threads"),
    f"{CAPTURE}/calls": (*BELOW_CAPTURE, CAPTURE),
    CAPTURE: (*BELOW_CAPTURE, f"{CAPTURE}/system", f"{CAPTURE}/unwind", f"{CAPTURE}/modules",
              f"{CAPTURE}/threads", f"{CAPTURE}/wall"),
    "sampler/profile/symbols/files": ("sampler/include", "sampler/feed"),
    "sampler/profile/symbols/names": ("sampler/include", "sampler/feed",
                                      "sampler/profile/symbols/key_sort.h",
                                      "sampler/profile/symbols/files"),
    "sampler/profile/symbols/dwarf": ("sampler/include", "sampler/feed",
                                      "sampler/profile/symbols/key_sort.h",
                                      "sampler/profile/symbols/files"),
    "sampler/profile/symbols": ("sampler/include", "sampler/feed", "sampler/profile/symbols/files",
                                "sampler/profile/symbols/names", "sampler/profile/symbols/dwarf"),
    "sampler/profile/naming": ("sampler/include", "sampler/feed", "sampler/profile/frame.h",
                               "sampler/profile/index16.h", "sampler/profile/map64.h",
                               "sampler/profile/names.h", "sampler/profile/thread.h", *SYMBOLS),
    "sampler/profile/unwinding": ("sampler/include", "sampler/feed", f"{CAPTURE}/system",
                                  f"{CAPTURE}/cfi", f"{CAPTURE}/unwind/unwind_table.h",
                                  "sampler/profile/map64.h", "sampler/profile/thread.h",
                                  "sampler/profile/symbols/files"),
    "sampler/profile": ("sampler/include", "sampler/feed", "sampler/profile/naming",
                        "sampler/profile/unwinding",
                        "sampler/profile/symbols/files/symbol_server.h"),
    "protocol": ("sampler/include", "sampler/profile/snapshot.h", "sampler/profile/live.h",
                 "sampler/feed/cleanup.h"),
    "server": ("sampler/include", "sampler/feed", "sampler/profile/profile.h",
               "sampler/profile/snapshot.h", "sampler/profile/symbolizer.h", "protocol/service.h",
               "protocol/json_writer.h", "protocol/openrpc.h"),
}

# System headers that have no place in a folder, nor in those inside it that do not say otherwise:
# JSON, sockets, ELF readers.
FORBIDDEN_SYSTEM: dict[str, str] = {
    "sampler/feed": r"jansson|libelf|gelf|elfutils|libunwind|sys/socket",
    "sampler/capture": r"jansson|libelf|gelf|elfutils|libunwind",
    "sampler/profile/symbols/names": r"elfutils|dwarf|jansson|sys/socket",
    "sampler/profile/symbols": r"jansson|sys/socket",
    "sampler/profile": r"libelf|gelf|elfutils|dwarf|jansson|sys/socket",
    "protocol": r"libelf|gelf|elfutils|sys/socket|pthread",
    "server": r"libelf|gelf|elfutils",
}

# The same for the page's TypeScript, below clients/web/src; what names no folder here is a package.
ALLOWED_WEB: dict[str, tuple[str, ...]] = {
    "wire": (),
    "data": ("wire/protocol",),
    "worker": ("wire", "data"),
    "state": ("wire", "data", "worker"),
    "views": ("wire", "data", "worker", "state"),
}
WEB_PACKAGES: dict[str, str] = {"state": r"preact|@preact/signals", "views": r"preact|@preact/signals"}
WEB_GENERATED = "schemas/generated/"

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


IMPORT = re.compile(r'''^(?:import|export|\}).*\bfrom ["']([^"']+)["']|^import ["']([^"']+)["']''')


class Wrong(NamedTuple):
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def folder_of(path: str) -> str | None:
    """The layer a file of the project belongs to."""
    for folder in ALLOWED:
        if path.startswith(folder + "/"):
            return folder
    return None


def without_rules(root: Path) -> list[str]:
    """Folders of C beside ones that have rules: their files would pass for the outer folder's."""
    beside = {Path(folder).parent.as_posix() for folder in ALLOWED} & set(ALLOWED)
    folders = {path.parent.relative_to(root).as_posix()
               for around in beside for path in (root / around).rglob("*.[ch]")}
    return sorted(folders - set(ALLOWED))


def circles(rules: dict[str, tuple[str, ...]]) -> list[str]:
    """Folders that may include each other, by whatever way. Single files are let through."""
    def reach(folder: str, seen: frozenset[str]) -> frozenset[str]:
        for entry in rules[folder]:
            if entry in rules and entry not in seen:
                seen = reach(entry, seen | {entry})
        return seen

    return sorted(folder for folder in rules if folder in reach(folder, frozenset()))


def forbidden(folder: str) -> str:
    """Of the nearest folder that forbids something."""
    around = [folder, *(parent.as_posix() for parent in Path(folder).parents)]
    return next((FORBIDDEN_SYSTEM[name] for name in around if name in FORBIDDEN_SYSTEM), r"(?!)")


def allowed(folder: str, target: str) -> bool:
    if folder_of(target) == folder:
        return True
    return any(target == entry or target.startswith(entry + "/") for entry in ALLOWED[folder])


def wrong_in_file(root: Path, path: Path) -> Iterator[Wrong]:
    name = path.relative_to(root).as_posix()
    folder = folder_of(name)
    if folder is None:
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, included = match.groups()
        if bracket == "<":
            if re.search(forbidden(folder), included):
                yield Wrong(name, number, f"{folder} must not know <{included}>")
            continue
        target = (path.parent / included).resolve()
        if not target.exists():
            target = (root / included).resolve()
        relative = target.relative_to(root).as_posix() if target.is_relative_to(root) else included
        if not allowed(folder, relative):
            yield Wrong(name, number, f"{folder} must not include {relative}")


def wrong_in_tree(root: Path) -> list[Wrong]:
    root = root.resolve()
    files = [path for folder in ALLOWED for path in sorted((root / folder).rglob("*.[ch]"))
             if folder_of(path.relative_to(root).as_posix()) == folder]
    return [wrong for path in files for wrong in wrong_in_file(root, path)]


def wrong_in_web(root: Path) -> list[Wrong]:
    """Imports of clients/web that point the other way, or take a package where none belongs."""
    source = root.resolve() / "clients/web/src"
    files = [path for folder in ALLOWED_WEB for path in sorted((source / folder).rglob("*.ts*"))]
    return [wrong for path in files for wrong in wrong_in_script(source, path)]


def wrong_in_script(source: Path, path: Path) -> Iterator[Wrong]:
    folder = path.relative_to(source).parts[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = IMPORT.match(line)
        if not match:
            continue
        name = match.group(1) or match.group(2)
        where = (path.relative_to(source).as_posix(), number)
        if not name.startswith("."):
            package = re.match(WEB_PACKAGES.get(folder, r"(?!)"), name)
            if not package:
                yield Wrong(*where, f"{folder} must not know the package {name}")
            continue
        target = (path.parent / name).resolve()
        if not target.is_relative_to(source):
            if folder != "wire" or WEB_GENERATED not in target.as_posix():
                yield Wrong(*where, f"{folder} must not import {name}")
            continue
        relative = target.relative_to(source)
        fits = relative.parts[0] == folder or any(
            relative.as_posix() == entry or relative.parts[0] == entry
            for entry in ALLOWED_WEB[folder])
        if not fits:
            yield Wrong(*where, f"{folder} must not import {relative.as_posix()}")
