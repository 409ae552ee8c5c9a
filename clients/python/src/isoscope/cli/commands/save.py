"""`isoscope save SOURCE -o FILE`: all that a running service has, as a session file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, BinaryIO

from ... import formats
from ...errors import CannotWrite
from ...formats import session
from .. import options
from ..exits import DONE
from ..source import check, connect
from ..terminal.progress import working


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "save",
        run,
        help="save a service's profile as a session file",
        description="Save all that a running service has as a session file: samples, names, lines, "
        "processes and losses. Such a file is a SOURCE of every command that takes profile files; `isoscope "
        "serve` serves it again. A session that is there is replaced, anything else is left alone.",
        examples=[
            "isoscope save here.json -o monday.isoscope",
            "isoscope tree monday.isoscope",
        ],
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="file to write")
    parser.add_argument("--sources", action="store_true",
                        help="with the text of the sampled source files that the service gives (--source-root)")
    options.add_source(parser, files=False)
    parser.set_defaults(period=None, mode=None)


def run(args: argparse.Namespace) -> int:
    check(args)
    path = Path(args.output)
    formats.check_place(path)
    start = _start_of(path) if path.is_file() else b""
    if start and not session.knows(start):
        raise CannotWrite(f"cannot write {path}: it is there, and is no session")
    with connect(args, args.source) as client:
        with working("reading the session", lambda: f"{client.arrived_bytes / 1e6:.1f} MB"):
            content = client.session(sources=args.sources)
    with working(f"writing {path}"):
        formats.write_whole(path, lambda out: _put(out, content))
    print(f"isoscope: wrote {path}, {len(content):,} bytes", file=sys.stderr)
    return DONE


def _put(out: BinaryIO, content: bytes) -> None:
    out.write(content)


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(session.HEAD_SIZE)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error
