"""`isoscope transcript --uri URI -o FILE`: a proxy that writes down what its clients and a service say."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from typing import Any

from ...transcripts.local_server import LocalServer
from ...transcripts.proxy import Proxy, ProxyHandler
from ...transcripts.recorder import Recorder
from ...transcripts.service import ServiceAddress
from ...transport import WebSocketTransport
from .. import options, serving
from ..exits import DONE, FAILED, UsageError
from ..place import VARIABLE, from_environment

_CONNECT_S = 10.0
_LAST_WORDS_S = 2.0  # a service that ends has said why: that is passed on before we end


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "transcript",
        run,
        help="record what clients and a service say, as a file",
        description="Listen on 127.0.0.1 in a service's place, pass on what clients and the service say, and "
        "write it to a file: a JSON object per line. Any client can be pointed at it. It ends with Ctrl-C, "
        "SIGTERM or the service. `isoscope replay` takes the file.",
        examples=[
            "isoscope transcript --uri here.json -o t.jsonl",
            "isoscope transcript --uri here.json -o t.jsonl --write-service-info there.json",
            "isoscope tree there.json",
        ],
    )
    parser.add_argument("--uri", metavar="SOURCE", type=options.uri,
                        help="the service's URI or its info file (isoscope run --write-service-info); - reads "
                             f"either from standard input; default: ${VARIABLE}")
    parser.add_argument("-o", "--output", metavar="FILE", required=True,
                        help="the file to write; the service's token is not in it")
    serving.add_options(parser)


def run(args: argparse.Namespace) -> int:
    service = ServiceAddress(service_uri(args, "transcript"))
    WebSocketTransport(service.uri, _CONNECT_S).close()  # or says why not
    with LocalServer(ProxyHandler, args.port, None) as server:
        recorder = Recorder(args.output, service.name, server.name, [service.token, server.token], _tell)
        server.context = Proxy(service, recorder)
        threading.Thread(target=_end_with, args=(service, server), daemon=True).start()
        serving.serve(server, args.service_info)
        recorder.close()
        server.cut_off()
    clients = f"{recorder.clients} connection{'' if recorder.clients == 1 else 's'}"
    _tell(f"{args.output}: {clients}, {recorder.lines} lines")
    return FAILED if recorder.problem else DONE


def service_uri(args: argparse.Namespace, word: str) -> str:
    try:
        uri = args.uri or from_environment()
    except ValueError as error:
        raise UsageError(str(error)) from error
    if uri is None:
        raise UsageError(f"{word}: no service: give --uri, or set ${VARIABLE}")
    return str(uri)


def _tell(text: str) -> None:
    print(f"isoscope: {text}", file=sys.stderr, flush=True)


def _end_with(service: ServiceAddress, server: LocalServer) -> None:
    service.wait_for_end()
    _tell("the service has ended")
    _wait_for_clients(server)
    server.stop()


def _wait_for_clients(server: LocalServer) -> None:
    deadline = time.monotonic() + _LAST_WORDS_S
    while server.connections and time.monotonic() < deadline:
        time.sleep(0.02)
