"""The browser page as one file, with a profile inside: all views, no service, no request. Its content
security policy sees to the last.

    one_page.html (of `isoscope page-file`) <- the page's own files, as gzip in base64
                                            <- a file that the page opens, in base64

The file is a session, or what else the profile was read from; where a part of it is left out, CpuSamples. The browser
page saves the same page (clients/web, data/files/one_page.ts). Lost: nothing of that file.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import re
from typing import BinaryIO

from ..command import page_file
from ..profile import Profile
from . import cpu_samples, session
from .common import AUTO, MICROS, SAMPLES, UTF8
from .flame_style import title_of

_PARTS = ("app.css", "app.js", "chunk.js", "later.js", "one_page.html")
_GZIP = b"\x1f\x8b"
_LOOKS = {AUTO: "", SAMPLES: "#unit=samples", MICROS: "#unit=time"}


def write(profile: Profile, out: BinaryIO, *, weight: str = AUTO, held: bytes = b"") -> None:
    """held: the file that the profile was read from, where nothing was left out."""
    out.write(page_of(title_of(profile), _packed(held or _cpu_samples(profile)), _LOOKS[weight]).encode(*UTF8))


def page_of(name: str, content: bytes, look: str = "") -> str:
    """look: the fragment of a link to the view that it opens at."""
    files = {part: page_file(part) for part in _PARTS}
    words = {part: _base64(file) for part, file in files.items()}
    words["TITLE"] = html.escape(f"{name} · isoscope")
    words["FILE"], words["LOOK"] = html.escape(name), html.escape(look)
    words["PROFILE"] = _base64(content)
    page = gzip.decompress(files["one_page.html"]).decode()
    # In one go: what is put in is not looked through again.
    return re.sub(r"@([\w.]+)@", lambda found: words.get(found[1], found[0]), page)


def _cpu_samples(profile: Profile) -> bytes:
    out = io.BytesIO()
    cpu_samples.write(profile, out)
    return out.getvalue()


def _packed(content: bytes) -> bytes:
    """Unless it is."""
    known = session.knows(content) or content.startswith(_GZIP)
    return content if known else gzip.compress(content, mtime=0)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
