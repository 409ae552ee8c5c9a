"""`isoscope export FORMAT -o FILE SOURCE` and `isoscope flame -o FILE SOURCE`: a profile as a file.

The file is written whole or not at all. `-o -` is standard output.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .. import formats
from . import options
from .exits import UsageError, epilog
from .place import is_uri
from .progress import working
from .source import Source, read

_PICTURES = {".svg": "svg", ".html": "html", ".htm": "html"}


def add(commands: Any) -> None:
    listed = "\n".join(f"  {name:<12} {form.summary}" for name, form in formats.FORMATS.items())
    reads = "speedscope, pprof and CpuSamples files can be a SOURCE again"
    parser = commands.add_parser(
        "export",
        help="write a profile as a file for other tools",
        description="Write a profile as a file that other tools read.\n\n"
        f"formats:\n{listed}\n\n{reads}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=epilog(
            "isoscope export pprof -o cpu.pb.gz here.json        then: go tool pprof -top cpu.pb.gz",
            "isoscope export speedscope -o s.json -- sort big.txt",
            "isoscope export folded -o - --weight us s.json",
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "format",
        metavar="FORMAT",
        type=_format,  # whose error says more than that of choices
        choices=tuple(formats.FORMATS),
        help="one of those above",
    )
    _add_words(parser)


def add_flame(commands: Any) -> None:
    parser = commands.add_parser(
        "flame",
        help="draw a flame graph",
        description="Draw a flame graph: an SVG picture, or an HTML page to zoom and search in. "
        "Neither needs a network.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=epilog(
            "isoscope flame -o flame.html here.json",
            "isoscope flame -o flame.svg --thread worker-1 -- ./server --once",
        ),
    )
    parser.set_defaults(run=run_flame)
    _add_words(parser)


def _add_words(parser: Any) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="-: standard output")
    parser.add_argument(
        "--weight",
        choices=(formats.SAMPLES, formats.MICROS),
        help="what a stack counts in folded, svg, html: samples (as without it), or us of CPU time",
    )
    options.add_place(parser)
    options.add_filters(parser)


def run(args: argparse.Namespace) -> int:
    form = formats.FORMATS[args.format]
    if args.weight and not form.weighted:
        raise UsageError(f"{args.format} holds samples and CPU time both; it takes no --weight")
    args.pcs = form.pcs
    return _save(args, args.format)


def run_flame(args: argparse.Namespace) -> int:
    name = "svg" if args.output == "-" else _PICTURES.get(Path(args.output).suffix.lower())
    if name is None:
        raise UsageError(f"a flame graph is a .svg or a .html, which '{args.output}' is not")
    return _save(args, name)


def _save(args: argparse.Namespace, name: str) -> int:
    if args.output != "-":
        formats.check_place(Path(args.output))  # before a command has run for an hour
    source = read(args)
    if not (args.source and is_uri(args.source)):
        source.profile.meta.setdefault("program", source.name)
    weight = args.weight or ""
    if args.output == "-":
        formats.write(source.profile, name, sys.stdout.buffer, weight=weight)
        return source.status
    with working(f"writing {args.output}"):
        made = formats.save(source.profile, name, Path(args.output), weight=weight)
    _tell(source, made)
    return source.status


def _tell(source: Source, made: list[Path]) -> None:
    for path in made:
        size = f", {path.stat().st_size:,} bytes" if path.is_file() else ""
        print(f"isoscope: wrote {path}{size}", file=sys.stderr)


def _format(text: str) -> str:
    if text not in formats.FORMATS:
        raise argparse.ArgumentTypeError(
            f"there is no format '{text}'; there are: {', '.join(formats.FORMATS)}"
        )
    return text
