"""`isoscope docs [PAGE]`: the documentation, as the command has it in itself.

The pages are written into the user's cache, since a browser opens files; the same ones are in the page of each
service, below docs/.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from ... import __version__
from ...command import page_file
from ...errors import IsoscopeError
from .. import options
from ..exits import DONE, UsageError


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "docs",
        run,
        help="open the documentation in a browser",
        description="Open the documentation in a browser. It is in the command itself and needs no network. Without a "
        "display the address of the page is printed.",
        examples=["isoscope docs", "isoscope docs stalls", "isoscope docs --list", "isoscope docs --write here"],
    )
    parser.add_argument("page", nargs="?", metavar="PAGE", help="its page, as --list names them")
    parser.add_argument("--list", action="store_true", help="print the names of the pages")
    parser.add_argument("--write", metavar="FOLDER", help="write the pages there, and open nothing")
    parser.add_argument("--browser", action=argparse.BooleanOptionalAction, default=True,
                        help="open the page in a browser, where there is a display")


def run(args: argparse.Namespace) -> int:
    files = _read("files.txt").decode().split()
    pages = sorted(file[: -len(".html")] for file in files if file.endswith(".html") and file != "index.html")
    if args.list:
        print("\n".join(pages))
        return DONE
    if args.page and args.page not in pages:
        raise UsageError(f"docs: there is no page '{args.page}'; there are: {', '.join(pages)}")
    folder = Path(args.write) if args.write else _cache()
    _write(files, folder)
    address = (folder / f"{args.page or 'index'}.html").resolve().as_uri()
    print(f"Written to {folder}" if args.write else f"Open in a browser: {address}", flush=True)
    display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if args.browser and display and not args.write:
        webbrowser.open(address)
    return DONE


def _read(name: str) -> bytes:
    return gzip.decompress(page_file(f"docs/{name}"))


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    # A relative one is to be ignored (XDG base directories).
    home = Path(base) if base and os.path.isabs(base) else Path.home() / ".cache"
    return home / "isoscope" / f"docs-{__version__}"


def _write(files: list[str], folder: Path) -> None:
    """Each file whole or not at all: another one may be reading it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as out:
                out.write(_read(file))
            os.chmod(out.name, 0o644)
            os.replace(out.name, folder / file)
    except OSError as error:
        raise IsoscopeError(f"cannot write the documentation to {folder}: {error.strerror}; "
                            "--write FOLDER takes another place") from error
