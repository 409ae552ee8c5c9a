"""From a file to a Profile, by what is in it.

    bytes -> session? -> its reader
          -> unzipped -> JSON?    -> the row of READERS that knows it -> Profile
                      -> folded?  -> its reader
                      -> else     -> pprof

Errors   BadFile, with the file's name.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple

from ..errors import BadFile
from ..profile import Profile
from . import cpu_samples, cpuprofile, folded, pprof_read, session, speedscope

_GZIP = b"\x1f\x8b"
_SIZE_MAX = 2 << 30  # unzipped: what is small as a file need not be so in memory
_ADVICE = "isoscope reads sessions, speedscope, pprof, .cpuprofile, CpuSamples and folded stacks"


class Reader(NamedTuple):
    """One row of the JSON files that can be read."""

    name: str
    knows: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Profile]


# A further format is a further row.
READERS = (
    Reader("speedscope", lambda v: "shared" in v and "profiles" in v, speedscope.read),
    Reader(cpuprofile.FORM, cpuprofile.knows, cpuprofile.read),
    Reader("CpuSamples", lambda v: v.get("type") == "CpuSamples", cpu_samples.read),
)

# What is written only, to say so.
_KNOWN: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("a Firefox Profiler file", lambda v: "meta" in v and "threads" in v),
    ("a DevTools snapshot", lambda v: "devToolsSnapshot" in v),
    ("a trace of events", lambda v: "traceEvents" in v),
)


def is_for_page(profile: Profile) -> bool:
    """The browser page reads the file that it is of, as it is."""
    return profile.meta.get("form") != cpuprofile.FORM


def open(path: Path) -> Profile:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return parse(content)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from error


def parse(content: bytes) -> Profile:
    if not content:
        raise BadFile("the file is empty")
    if content.startswith(_GZIP):
        content = _unzip(content)
    if session.knows(content):
        return session.read(content)
    start = content[:64].lstrip()
    if start[:1] in (b"{", b"["):
        return _of_json(content)
    if start[:1] == b"<":
        raise BadFile(f"an HTML page or SVG picture; {_ADVICE}")
    if _is_text(content):
        text = content.decode("utf-8", "replace")
        if folded.knows(text[:4096]):
            return folded.read(text)
        raise BadFile(f"unrecognized text format; {_ADVICE}")
    try:
        return pprof_read.read(content)
    except BadFile as error:
        raise BadFile(f"{error}; {_ADVICE}") from error


def _is_text(content: bytes) -> bool:
    """pprof has bytes below 32 in its first fields."""
    return all(byte >= 0x20 or byte in b"\t\r\n" for byte in content[:4096])


def _unzip(content: bytes) -> bytes:
    unzipper = zlib.decompressobj(wbits=31)
    try:
        plain = unzipper.decompress(content, _SIZE_MAX)
    except zlib.error as error:
        raise BadFile(f"damaged gzip file: {error}") from error
    if unzipper.unconsumed_tail:
        raise BadFile(f"gzip file of more than {_SIZE_MAX >> 30} GiB unpacked")
    if not unzipper.eof:
        raise BadFile("truncated gzip file")
    return plain


def _ends_early(error: ValueError) -> bool:
    """What was wrong is that there is no more."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")


def _of_json(content: bytes) -> Profile:
    try:
        value = json.loads(content)
    except RecursionError as error:
        raise BadFile("JSON is nested too deeply") from error
    except ValueError as error:  # also for what is not UTF-8
        if _ends_early(error):
            raise BadFile(f"truncated JSON: it ends after {len(content):,} bytes") from error
        raise BadFile(f"invalid JSON: {error}") from error
    if isinstance(value, dict) and "jsonrpc" in value:  # a reply as it came
        value = value.get("result")
    if not isinstance(value, dict):
        raise BadFile(f"JSON without a profile; {_ADVICE}")
    for reader in READERS:
        if reader.knows(value):
            return reader.read(value)
    for name, knows in _KNOWN:
        if knows(value):
            raise BadFile(f"{name}, which isoscope writes but does not read; {_ADVICE}")
    raise BadFile(f"unrecognized JSON format; {_ADVICE}")
