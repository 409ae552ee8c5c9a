"""Files of profiles: one module a format, one door in each direction.

    formats.save(profile, "speedscope", Path("out.json"))      by the names in FORMATS
    profile = formats.open(Path("out.json"))                   by what is in it

Each format's module says what of a profile is lost in it. The same profile gives the same bytes.

Errors   BadFile names the file and what is wrong with it; CannotWrite, why not.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Callable, NamedTuple

from ..errors import CannotWrite
from ..model import KINDS
from ..profile import Profile
from . import cpu_samples, cpuprofile, devtools, firefox, folded, one_page, parquet, perf, pprof
from . import speedscope, spreadsheet, svg
from .common import MICROS, SAMPLES, by_thread
from .recognise import is_for_page, open, parse
from .told import devtools_performance, perfetto, trace_event

__all__ = [
    "FORMATS",
    "MICROS",
    "SAMPLES",
    "Format",
    "check_place",
    "is_for_page",
    "open",
    "parse",
    "save",
    "write",
    "write_whole",
]


class Format(NamedTuple):
    """One row of what can be written."""

    suffix: str
    summary: str
    write: Callable[..., None]  # (profile, out), and weight= where it is weighted
    weighted: bool = False  # counts samples or microseconds
    one_thread: bool = False  # a file a thread
    pcs: bool = False  # has a place for frames' pcs
    holds: bool = False  # takes the file that a whole profile was read from as it is
    events: bool = False  # has what the program told, too
    samples: bool = True  # has samples
    many: bool = False  # has a place for allocations and waits


FORMATS: dict[str, Format] = {
    "cpuprofile": Format(
        ".cpuprofile",
        "Chrome DevTools, VS Code; one file per thread",
        cpuprofile.write,
        one_thread=True,
    ),
    "cpusamples": Format(".json", "the service's own CpuSamples", cpu_samples.write, pcs=True),
    "csv": Format(".csv", "a row per function, for spreadsheets", spreadsheet.write),
    "csv-samples": Format(".csv", "a row per sample, for spreadsheets", spreadsheet.write_samples),
    "devtools": Format(".json", "Dart DevTools' CPU profiler, offline", devtools.write),
    "devtools-performance": Format(
        ".json",
        "Dart DevTools' Performance screen, offline: frames, slices",
        devtools_performance.write,
        events=True,
    ),
    "firefox": Format(
        ".json", "profiler.firefox.com, profiler-cli", firefox.write, pcs=True, events=True
    ),
    "folded": Format(".txt", "flamegraph.pl's folded stacks", folded.write, weighted=True, many=True),
    "html": Format(
        ".html",
        "one page to share: all views, without a service",
        one_page.write,
        weighted=True,
        pcs=True,
        holds=True,
    ),
    "parquet": Format(
        ".parquet", "DuckDB, pandas, Spark: a row per sample", parquet.write, many=True
    ),
    "perf": Format(".txt", "text as perf script prints it", perf.write),
    "perfetto": Format(
        ".pftrace", "ui.perfetto.dev: slices and samples", perfetto.write, pcs=True, events=True
    ),
    "pprof": Format(".pb.gz", "go tool pprof", pprof.write, pcs=True, many=True),
    "speedscope": Format(".json", "speedscope.app", speedscope.write),
    "svg": Format(".svg", "a flame graph as a picture", svg.write, weighted=True, many=True),
    "trace": Format(
        ".json",
        "Chrome's Trace Event format: slices, without samples",
        trace_event.write,
        events=True,
        samples=False,
    ),
}


def write(
    profile: Profile, name: str, out: BinaryIO, *, weight: str = "", held: bytes = b""
) -> None:
    """weight: of a format that has a choice; "": its own. held: the file that the whole profile was read
    from, for a format that takes it."""
    form = _checked(profile, name, weight)
    form.write(profile, out, **_options(form, weight, held))


def save(
    profile: Profile, name: str, path: Path, *, weight: str = "", held: bytes = b""
) -> list[Path]:
    """Writes it whole or not at all; the files that were made. Of a format with one thread a file
    there are several when the profile has several threads: with the tid before the suffix."""
    form = _checked(profile, name, weight)
    made = []
    for part, target in _parts(profile, form, path):
        write_whole(target, partial(form.write, part, **_options(form, weight, held)))
        made.append(target)
    return made


def check_place(path: Path) -> None:
    """That a file could be written there, as far as one can tell before."""
    if path.is_dir():
        raise CannotWrite(f"cannot write {path}: it is a folder")
    if not path.exists():
        if not path.parent.is_dir():
            raise CannotWrite(f"cannot write {path}: no such folder: {path.parent}")
        path = path.parent
    if not os.access(path, os.W_OK):
        read_only = os.statvfs(path).f_flag & os.ST_RDONLY
        why = "its file system is mounted read-only" if read_only else "permission denied"
        raise CannotWrite(f"cannot write {path}: {why}")


def _checked(profile: Profile, name: str, weight: str) -> Format:
    form = FORMATS.get(name)
    if form is None:
        raise CannotWrite(f"unknown format '{name}'; formats: {', '.join(FORMATS)}")
    if weight and not form.weighted:
        raise CannotWrite(f"{name} holds samples and CPU time: there is nothing to choose")
    if weight not in ("", SAMPLES, MICROS):
        raise CannotWrite(f"no weight '{weight}'; there are: {SAMPLES}, {MICROS}")
    if profile.is_many and not form.many:
        able = ", ".join(word for word, one in FORMATS.items() if one.many)
        raise CannotWrite(f"{name} has no place for {KINDS[profile.kind].many}; these have: {able}")
    has_events = form.events and profile.timeline is not None and len(profile.timeline) > 0
    if not form.samples and not has_events:
        raise CannotWrite("the program told no events: there is nothing to write")
    if not len(profile) and not has_events:
        raise CannotWrite("the profile has no samples: there is nothing to write")
    return form


def _options(form: Format, weight: str, held: bytes) -> dict[str, Any]:
    options: dict[str, Any] = {"weight": weight} if weight else {}
    return {**options, "held": held} if form.holds and held else options


def _parts(profile: Profile, form: Format, path: Path) -> list[tuple[Profile, Path]]:
    threads = by_thread(profile) if form.one_thread else []
    if len(threads) < 2:
        return [(profile, path)]
    return [
        (profile.choose(places), path.with_name(f"{path.stem}-{thread.tid}{path.suffix}"))
        for thread, places in threads
    ]


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Under a name of its own, which becomes path at the end."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            with path.open("wb") as out:
                write(out)
            return
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with part.open("xb") as out:
                write(out)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error
