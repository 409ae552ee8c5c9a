"""A host service (`isoscope serve --socket PATH`), asked at its socket where a user's service is.

    rooms(path) -> the asker's own first; an admin is told of everybody's

The socket knows who asks by the kernel's word, so nothing is told to it. What it tells has a token in it.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Any, List, NamedTuple, Optional

from ..errors import CannotConnect
from .exits import UsageError

VARIABLE = "ISOSCOPE_SOCKET"
_MAGIC, _VERSION, _ASK = 0x6D6F7369, 1, 2  # sampler/feed/message.h
_REPLY_BYTES_MAX = 256 * 1024
_PATIENCE_S = 10


class Room(NamedTuple):
    """A user's part of the service."""

    uid: int
    user: str
    uri: str


def add_socket(parser: Any) -> None:
    parser.add_argument(
        "--socket", metavar="PATH",
        help=f"of the host service (default: ${VARIABLE}, else the system's or the user's own service)")


def path(given: Optional[str]) -> str:
    """Where the service is asked."""
    if given or os.environ.get(VARIABLE):
        return given or os.environ[VARIABLE]
    places = ["/run/isoscope/feed.sock"]
    if "XDG_RUNTIME_DIR" in os.environ:
        places.append(os.path.join(os.environ["XDG_RUNTIME_DIR"], "isoscope", "feed.sock"))
    for place in places:
        if os.path.exists(place):
            return place
    raise UsageError(f"there is no host service at {' or '.join(places)}: "
                     "`isoscope serve --socket PATH` starts one, --socket PATH names it")


def rooms(where: str) -> List[Room]:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.settimeout(_PATIENCE_S)
            asking.connect(where)
            asking.send(struct.pack("=IHH", _MAGIC, _VERSION, _ASK))
            text = asking.recv(_REPLY_BYTES_MAX).decode("utf-8", "replace")
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotConnect(f"no host service answers at {where}: {reason}") from error
    found = [line.split(" ") for line in text.splitlines()]
    if not found or any(len(words) != 3 or not words[0].isdigit() for words in found):
        raise CannotConnect(f"the service at {where} has no place for this user, "
                            "or is no host service; what it says on stderr tells more")
    return [Room(int(uid), user, uri) for uid, user, uri in found]


def room_of(where: str, user: Optional[str]) -> Room:
    """The asker's own, or that of a user whom he may see."""
    known = rooms(where)
    for room in known:
        if user is None or user in (room.user, str(room.uid)):
            return room
    raise UsageError(f"there are no programs of user '{user}' that you may see; "
                     f"there are: {', '.join(room.user for room in known)}")
