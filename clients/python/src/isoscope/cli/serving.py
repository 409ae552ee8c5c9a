"""A server of ours that takes a service's place: says where it is, and serves until it is ended.

    with LocalServer(...) as server:
        serve(server, args.service_info)     # until Ctrl-C, SIGTERM or server.stop()

Errors   CannotWrite, for the info file.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Any, Optional

from ..errors import CannotWrite
from ..transcripts.local_server import LocalServer
from . import options


def add_options(parser: Any) -> None:
    parser.add_argument("--port", metavar="N", type=options.positive, default=0,
                        help="port to listen on (default: a free one)")
    parser.add_argument("--write-service-info", metavar="FILE", dest="service_info",
                        help="write the URI to FILE, which all commands take as SOURCE")


def serve(server: LocalServer, service_info: Optional[str]) -> None:
    previous = signal.signal(signal.SIGTERM, lambda number, frame: server.stop())
    try:
        if service_info is not None:
            _write_info(service_info, server.uri)
        # The line that tools look for; there is no program whose output it could be in.
        print(f"The Dart VM service is listening on {server.uri}", flush=True)
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, previous)


def _write_info(path: str, uri: str) -> None:
    """Whole or not at all, and for this user only: who has the URI may ask."""
    part = f"{path}.{os.getpid()}"
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"uri": uri}, file)
        os.replace(part, path)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from error
