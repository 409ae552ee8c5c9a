"""Reads object files: does code marked SIGNAL_SAFE reach code that is not?

The mark puts a function into the section .text.signal_safe. Whatever leaves that section does so by
a relocation; each must lead to data, to the same section (of any object), or to one of the few libc
functions below.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Iterable, NamedTuple

SAFE_SECTION = ".text.signal_safe"

# POSIX lists them as async-signal-safe (clock_gettime is the vdso's here); _dl_find_object is so by
# glibc's manual.
SAFE_LIBC = {"clock_gettime", "memchr", "memcmp", "memcpy", "memmove", "memset", "strcmp", "strlen",
             "strncmp", "strrchr", "_dl_find_object"}


class Symbol(NamedTuple):
    name: str
    kind: str  # FUNC, OBJECT, NOTYPE, SECTION
    section: str | None  # None: undefined


class Reference(NamedTuple):
    section: str  # where the relocation stands
    symbol: str


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def section_names(path: Path) -> dict[str, str]:
    names = {}
    for line in run("readelf", "-SW", str(path)).splitlines():
        match = re.match(r"\s*\[\s*(\d+)\]\s+(\S+)", line)
        if match:
            names[match.group(1)] = match.group(2)
    return names


def symbols(path: Path) -> list[Symbol]:
    names = section_names(path)
    found = []
    for line in run("readelf", "-sW", str(path)).splitlines():
        parts = line.split()
        if len(parts) < 7 or not parts[0].rstrip(":").isdigit():
            continue
        section = names.get(parts[6]) if parts[6] != "UND" else None
        name = parts[7] if len(parts) > 7 else section or ""
        found.append(Symbol(name, parts[3], section))
    return found


def references(path: Path) -> list[Reference]:
    found = []
    section = ""
    for line in run("readelf", "-rW", str(path)).splitlines():
        heading = re.match(r"Relocation section '\.rela?(\S+)'", line)
        if heading:
            section = heading.group(1)
            continue
        parts = line.split()
        if section == SAFE_SECTION and len(parts) >= 5 and re.fullmatch("[0-9a-f]+", parts[0]):
            found.append(Reference(section, parts[4].split("@")[0]))
    return found


def is_code(section: str | None) -> bool:
    return section is not None and (section == ".text" or section.startswith(".text."))


def unsafe_references(paths: Iterable[Path]) -> list[str]:
    """One line for each reference that leaves the safe section for unmarked code."""
    paths = list(paths)
    table = {path: symbols(path) for path in paths}
    everywhere = {s.name: s for path in paths for s in table[path] if s.section is not None}
    wrong = []
    for path in paths:
        here = {s.name: s for s in table[path] if s.section is not None}
        for reference in references(path):
            symbol = here.get(reference.symbol) or everywhere.get(reference.symbol)
            if reference.symbol in SAFE_LIBC or reference.symbol.startswith("_GLOBAL_OFFSET"):
                continue
            if symbol is None:
                wrong.append(f"{path.name}: {reference.symbol} (not the project's)")
            elif is_code(symbol.section) and symbol.section != SAFE_SECTION:
                wrong.append(f"{path.name}: {reference.symbol} (in {symbol.section})")
    return wrong


def safe_functions(paths: Iterable[Path]) -> set[str]:
    return {s.name for path in paths for s in symbols(path)
            if s.kind == "FUNC" and s.section == SAFE_SECTION}
