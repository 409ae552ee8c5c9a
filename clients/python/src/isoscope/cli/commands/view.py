"""`isoscope view SOURCE`: a profile in the browser page.

A service's page is its own. A file is served with the page on 127.0.0.1 until Ctrl-C, and so is what
`-- COMMAND` has recorded (view_server.py).
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import webbrowser
from pathlib import Path
from typing import Any

from ... import formats
from ...transport import unix_path
from .. import options
from ..exits import DONE, UsageError
from ..place import is_uri
from ..source import check, file_profile, is_filtered, read
from ..view_server import ViewServer


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "view",
        run,
        help="open a profile in the browser page",
        description="Open a profile in the browser page. A file is served on 127.0.0.1 at an address that "
        "nobody can guess, until Ctrl-C. The page can filter, so no filter is needed here.",
        examples=[
            "isoscope view cpu.pb.gz",
            "isoscope view here.json",
            "isoscope view --thread worker-1 profile.speedscope.json",
            "isoscope view -- ./program",
        ],
    )
    options.add_place(parser)
    options.add_filters(parser)
    parser.add_argument("--port", metavar="N", type=options.positive, default=0,
                        help="port to serve on (default: a free one)")
    parser.add_argument("--browser", action=argparse.BooleanOptionalAction, default=True,
                        help="open the address in a browser, where there is a display")


def run(args: argparse.Namespace) -> int:
    check(args)
    if args.command is None and is_uri(args.source):
        return _of_service(args)
    # What cannot be read is told here, not in the page.
    if args.command is None and not is_filtered(args) and formats.is_for_page(file_profile(args)):
        name, content, status = os.path.basename(args.source), Path(args.source).read_bytes(), DONE
    else:
        source = read(args)
        out = io.BytesIO()
        formats.write(source.profile, "cpusamples", out)
        name, content, status = source.name, out.getvalue(), source.status
    with ViewServer(name, content, args.port) as server:
        show(args, server.address)
        print("Ctrl-C ends it.", flush=True)
        signal.signal(signal.SIGTERM, lambda number, frame: server.stop())
        try:
            server.serve()
        except KeyboardInterrupt:
            print()
    return status


def _of_service(args: argparse.Namespace) -> int:
    """Its page needs nothing of us."""
    if is_filtered(args) or args.port:
        raise UsageError("view: a service shows its own page; select filters there")
    if unix_path(args.source) is not None:
        raise UsageError("view: a browser cannot open a unix socket; run isoscope without --socket")
    show(args, args.source)
    return DONE


def show(args: argparse.Namespace, address: str) -> None:
    print(f"Open in a browser: {address}", flush=True)
    # Without a display webbrowser would run a text browser, in this terminal.
    display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if args.browser and display:
        webbrowser.open(address)
