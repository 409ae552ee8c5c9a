"""`isoscope export FORMAT -o FILE SOURCE` and `isoscope flame -o FILE SOURCE`: a profile as a file.

The file is written whole or not at all. `-o -` is standard output.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ... import formats
from .. import options
from ..exits import UsageError
from ..place import is_uri
from ..source import Source, read
from ..terminal.progress import working

_PICTURES = {".svg": "svg", ".html": "html", ".htm": "html"}


def add(commands: Any) -> None:
    listed = "\n".join(f"  {name:<12} {form.summary}" for name, form in formats.FORMATS.items())
    reads = "SOURCE can be a speedscope, pprof, cpusamples or folded file."
    parser = options.add_command(
        commands,
        "export",
        run,
        help="write a profile as a file for other tools",
        description=f"Write a profile as a file that other tools read. {reads}",
        examples=[
            "isoscope export pprof -o cpu.pb.gz here.json        then: go tool pprof -top cpu.pb.gz",
            "isoscope export speedscope -o s.json -- sort big.txt",
            "isoscope export folded -o - --weight samples s.json",
        ],
        more=f"formats:\n{listed}",
    )
    parser.add_argument(
        "format",
        metavar="FORMAT",
        type=_format,  # whose error says more than that of choices
        choices=tuple(formats.FORMATS),
        help="one of the formats below",
    )
    _add_words(parser)


def add_flame(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "flame",
        run_flame,
        help="draw a flame graph",
        description="Draw a flame graph as an SVG picture, or as an HTML page with zoom and search. "
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
    options.add_filters(parser)


def run(args: argparse.Namespace) -> int:
    form = formats.FORMATS[args.format]
    if args.weight and not form.weighted:
        raise UsageError(f"{args.format} holds both samples and CPU time; it takes no --weight")
    args.pcs = form.pcs
    return _save(args, args.format)


def run_flame(args: argparse.Namespace) -> int:
    name = "svg" if args.output == "-" else _PICTURES.get(Path(args.output).suffix.lower())
    if name is None:
        raise UsageError(f"flame writes .svg or .html; '{args.output}' is neither")
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
            f"unknown format '{text}'; formats: {', '.join(formats.FORMATS)}"
        )
    return text
