"""Where a service is: what stands for its URI on a command line.

    isoscope tree info.json         the file that `isoscope run --write-service-info` wrote
    isoscope tree - < info.json     the same, or the URI itself, from standard input
    ISOSCOPE_URI=URI isoscope tree  no SOURCE at all: a URI or such a file

Everybody can read a command line, in /proc, and a URI has the token in it; none of these shows it.

Errors   ValueError says what was wrong.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from typing import Optional

from ..transport import unix_path, websocket_uri

VARIABLE = "ISOSCOPE_URI"
_INFO_BYTES_MAX = 4096  # one line; profiles are longer
_IS_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|unix:")


def is_uri(text: str) -> bool:
    return _IS_URI.match(text) is not None


def checked(uri: str) -> str:
    if unix_path(uri) is None:
        websocket_uri(uri)
    return uri


def place(text: str) -> str:
    """The URI that text is or leads to; a file that is no service info stays itself."""
    if text == "-":
        return _from_stdin()
    if is_uri(text):
        return checked(text)
    return _in_file(text) or text


def from_environment() -> Optional[str]:
    """None: it is not set."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        found = place(text)
    except ValueError as error:
        raise ValueError(f"${VARIABLE}: {error}") from error
    if not is_uri(found) and not os.path.exists(found):
        raise ValueError(f"${VARIABLE}: '{text}' is neither a URI nor a file")
    if not is_uri(found):
        raise ValueError(f"${VARIABLE}: '{text}' is neither a URI nor a service info file")
    return found


def _in_file(path: str) -> Optional[str]:
    """Of a service info file; None: it is another's."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _INFO_BYTES_MAX:
            return None
        with open(path, encoding="utf-8") as file:
            return _in_info(file.read())
    except (OSError, UnicodeDecodeError):
        return None  # who reads it as a profile will say why


def _in_info(text: str) -> Optional[str]:
    try:
        info = json.loads(text)
    except ValueError:
        return None
    uri = info.get("uri") if isinstance(info, dict) else None
    return checked(uri) if isinstance(uri, str) and is_uri(uri) else None


@functools.lru_cache(maxsize=None)
def _from_stdin() -> str:
    text = sys.stdin.read(_INFO_BYTES_MAX).strip()
    found = checked(text) if is_uri(text) else _in_info(text)
    if found is None:
        raise ValueError('standard input is neither a URI nor service info ({"uri": ...})')
    return found
