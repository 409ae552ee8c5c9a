"""`isoscope watch SOURCE STREAMS`: what the service sends unasked, a line each."""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import os
import sys
import time
from typing import Any, Mapping, Optional

from ...client import Client
from ...errors import RpcError, ServiceEnded
from ...rpc import Event
from ...text import printable
from .. import following, options, source
from ..ending import ended
from ..exits import DONE, FAILED, UsageError
from ..place import VARIABLE, is_uri
from ..recording import Recording

# Those that say something of a native program; any other can be named.
_STREAMS = ["VM", "Isolate", "Profiler", "Logging", "Extension", "Service", "Timeline"]
_OUTPUT = ("Stdout", "Stderr")


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "watch",
        run,
        help="print events as they come",
        description=f"Print events as they come. Streams: {', '.join(_STREAMS)} (default: these), Stdout, "
                    "Stderr. watch ends with the service or with COMMAND.",
        examples=[
            "isoscope watch here.json",
            "isoscope watch here.json Profiler Isolate --json -n 10",
            "isoscope watch Isolate Stdout -- make",
        ],
    )
    parser.add_argument("words", metavar="[SOURCE] STREAM", nargs="*",
                        help="a service's info file or URI (not with `-- COMMAND`), then names of streams")
    options.add_run_options(parser)
    parser.add_argument("-n", metavar="N", type=options.positive, dest="count",
                        help="stop after N events")
    parser.add_argument("--for", metavar="SECONDS", type=options.seconds, dest="for_us",
                        help="stop after this time")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(args: argparse.Namespace) -> int:
    words = list(args.words)
    has_source = args.command is None and words and _is_place(words[0])
    args.source = options.checked_uri(words.pop(0)) if has_source else None
    source.check(args)
    streams = words or _STREAMS
    if args.source is not None:
        return _follow(args, args.source, streams, None)
    capture = ["--capture-output"] if set(streams) & set(_OUTPUT) else []
    with source.record(args, more=capture) as recording:
        _follow(args, recording.uri, streams, recording)
    return recording.status


def _is_place(word: str) -> bool:
    """Or a stream, of the service that the environment names."""
    return word == "-" or is_uri(word) or os.path.exists(word) or VARIABLE not in os.environ


def _follow(
    args: argparse.Namespace, uri: str, streams: list[str], recording: Optional[Recording]
) -> int:
    deadline = time.monotonic() + args.for_us / 1e6 if args.for_us is not None else None
    count = 0
    with source.connect(args, uri) as client:
        _listen(client, streams)
        try:
            for event in following.events(client, deadline, recording):
                print(_json(event) if args.json else _text(event), flush=True)
                count += 1
                if count == args.count:
                    break
        except ServiceEnded:
            print("isoscope: the service has ended", file=sys.stderr)
    if not count:
        print("isoscope: no events", file=sys.stderr)
    return DONE if count else FAILED


def _listen(client: Client, streams: list[str]) -> None:
    for stream in streams:
        try:
            client.listen(stream)
        except RpcError as error:
            raise UsageError(
                f"watch: the service has no stream '{stream}' ({error.details or error.message}); "
                f"there are: {', '.join(_STREAMS + list(_OUTPUT))}"
            ) from error


def _text(event: Event) -> str:
    wire = event.event
    moment = following.clock(int(wire.get("timestamp", 0)))
    what = printable(_told(wire))
    kind = wire.get("kind", "?")
    return f"{moment}  {event.stream_id:<10} {kind:<20} {what}".rstrip()


def _told(wire: Mapping[str, Any]) -> str:
    """What the kind alone does not say."""
    if "bytes" in wire:
        try:
            return base64.b64decode(str(wire["bytes"])).decode("utf-8", "replace").rstrip("\n")
        except binascii.Error:
            return str(wire["bytes"])
    if "_samples" in wire:
        return f"{wire['_samples']:,} samples"
    if "flag" in wire:
        return f"{wire['flag']} = {wire.get('newValue')}"
    if "extensionKind" in wire:
        return f"{wire['extensionKind']} {json.dumps(wire.get('extensionData'))}"
    if "logRecord" in wire:
        record = wire["logRecord"]
        return str(record.get("message", {}).get("valueAsString", ""))
    if "service" in wire:
        return f"{wire['service']} as {wire.get('method')}"
    name = str(wire.get("isolate", {}).get("name", "") or wire.get("vm", {}).get("name", ""))
    return ended(name, wire["_exit"]) if "_exit" in wire else name


def _json(event: Event) -> str:
    return json.dumps({"streamId": event.stream_id, "event": event.event})
