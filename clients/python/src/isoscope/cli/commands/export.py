"""`isoscope export [FORMAT] -o FILE SOURCE` and `isoscope flame -o FILE SOURCE`: a profile as a file.

The file is written whole or not at all. `-o -` is standard output. The page to share
holds the source's own file, or a service's session, as long as nothing is filtered out of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ... import formats
from ...client import Client
from ...errors import RpcError
from ...profile import Profile
from .. import options
from ..exits import UsageError
from ..place import is_uri
from ..source import Source, is_filtered, read
from ..terminal.progress import working

_PICTURES = {".svg": "svg", ".html": "html", ".htm": "html"}
_BY_ENDING = {".pb.gz": "pprof", ".cpuprofile": "cpuprofile", ".parquet": "parquet", **_PICTURES}
_NO_SUCH_METHOD = -32601


class _AnyOf(tuple[str, ...]):
    """What completions list; a file may stand there, too, so run checks it."""

    def __contains__(self, word: object) -> bool:
        return True


def add(commands: Any) -> None:
    listed = "\n".join(f"  {name:<12} {form.summary}" for name, form in formats.FORMATS.items())
    reads = "SOURCE can be a session, speedscope, pprof, cpuprofile, cpusamples or folded file."
    parser = options.add_command(
        commands,
        "export",
        run,
        help="write a profile as a file for other tools",
        description=f"Write a profile as a file that other tools read. {reads}",
        examples=[
            "isoscope export -o profile.html here.json           one page to share, which needs no service",
            "isoscope export pprof -o cpu.pb.gz here.json        then: go tool pprof -top cpu.pb.gz",
            "isoscope export speedscope -o s.json -- sort big.txt",
            "isoscope export folded -o - --weight samples s.json",
        ],
        more=f"formats:\n{listed}",
    )
    parser.add_argument(
        "format",
        metavar="FORMAT",
        nargs="?",
        choices=_AnyOf(formats.FORMATS),
        help="one of the formats below (default: what FILE ends with)",
    )
    _add_words(parser)


def add_flame(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "flame",
        run_flame,
        help="draw a flame graph",
        description="Draw a flame graph as an SVG picture, or as the browser page with the profile inside. "
                    "Neither needs a network.",
        examples=[
            "isoscope flame -o flame.html here.json",
            "isoscope flame -o flame.svg --thread worker-1 -- ./server --once",
        ],
    )
    _add_words(parser)


def _add_words(parser: Any) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", required=True,
                        help="file to write; - is standard output")
    parser.add_argument(
        "--weight",
        choices=(formats.SAMPLES, formats.MICROS),
        help="weight of a stack in folded, svg and html: microseconds of CPU time, or samples (default: "
             "us; in wall mode samples)",
    )
    options.add_place(parser)
    options.add_kind(parser)
    options.add_filters(parser)


def run(args: argparse.Namespace) -> int:
    name = _format(args)
    form = formats.FORMATS[name]
    if args.weight and not form.weighted:
        raise UsageError(f"{name} holds both samples and CPU time; it takes no --weight")
    return _save(args, name)


def _format(args: argparse.Namespace) -> str:
    """What is named, or what the file ends with: then the first word may be SOURCE."""
    if args.format in formats.FORMATS:
        return str(args.format)
    ending = next((e for e in _BY_ENDING if args.output.lower().endswith(e)), None)
    if args.format is not None and (ending is None or args.source is not None or args.command):
        raise UsageError(f"unknown format '{args.format}'; formats: {', '.join(formats.FORMATS)}")
    if ending is None:
        raise UsageError(f"'{args.output}' names no format; formats: {', '.join(formats.FORMATS)}")
    if args.format is not None:
        args.source = options.checked_place(args.format)
    return _BY_ENDING[ending]


def run_flame(args: argparse.Namespace) -> int:
    name = "svg" if args.output == "-" else _PICTURES.get(Path(args.output).suffix.lower())
    if name is None:
        raise UsageError(f"flame writes .svg or .html; '{args.output}' is neither")
    return _save(args, name)


def _save(args: argparse.Namespace, name: str) -> int:
    if args.output != "-":
        formats.check_place(Path(args.output))  # before a command has run for an hour
    form = formats.FORMATS[name]
    args.pcs, args.events = form.pcs, form.events
    whole = _Whole() if form.holds and not is_filtered(args) else None
    source = read(args, ask=whole)
    if not (args.source and is_uri(args.source)):
        source.profile.meta.setdefault("program", source.name)
    if whole and args.source and not is_uri(args.source):
        whole.read(Path(args.source))
    held = whole.content if whole and formats.is_for_page(source.profile) else b""
    weight = args.weight or ""
    if args.output == "-":
        formats.write(source.profile, name, sys.stdout.buffer, weight=weight, held=held)
        return source.status
    with working(f"writing {args.output}"):
        made = formats.save(source.profile, name, Path(args.output), weight=weight, held=held)
    _tell(source, made)
    return source.status


class _Whole:
    """The file that a source is, or the session that a service has; empty: it gives none."""

    content = b""

    def __call__(self, client: Client, profile: Profile) -> None:
        try:
            self.content = client.session(sources=True)
        except RpcError as error:
            if error.code != _NO_SUCH_METHOD:
                raise

    def read(self, path: Path) -> None:
        self.content = path.read_bytes()


def _tell(source: Source, made: list[Path]) -> None:
    for path in made:
        size = f", {path.stat().st_size:,} bytes" if path.is_file() else ""
        print(f"isoscope: wrote {path}{size}", file=sys.stderr)
