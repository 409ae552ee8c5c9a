"""`isoscope replay FILE --uri URI`: what was recorded is said again, and the answers compared.
`isoscope replay --server FILE`: the service's part."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional

from ...client import Client
from ...errors import IsoscopeError, RpcError
from ...text import printable
from ...transcripts import report
from ...transcripts.judges import ByteJudge, Judge, ShapeJudge
from ...transcripts.local_server import LocalServer
from ...transcripts.player import PlayerHandler
from ...transcripts.replay import Replay
from ...transcripts.script import Script
from ...transcripts.service import ServiceAddress
from ...transcripts.transcript import Transcript
from .. import options, serving
from ..exits import DONE, FAILED, USAGE, UsageError
from .transcript import service_uri

SAME, DIFFERENT, NOT_RUN = DONE, FAILED, USAGE
_CONNECT_S = 10.0
_DEADLINE_S = 10


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "replay",
        run,
        help="replay a transcript to a service, or in a service's place",
        description="Say to a service what clients said in a transcript (isoscope transcript), in its order, and "
        "compare the answers; a difference is shown with its place, what was expected and what came. "
        "With --server, answer clients as the recorded service did.",
        examples=[
            "isoscope replay t.jsonl --uri here.json",
            "isoscope replay t.jsonl --uri here.json --timing x2 --junit replay.xml",
            "isoscope replay --server t.jsonl --write-service-info there.json",
        ],
        more="replay itself returns 0 where all is the same, 1 where something differs, or a client asked what the\n"
        "transcript has not, and 2 where it could not be run, to its end.",
    )
    parser.add_argument("transcript", metavar="FILE", help="what `isoscope transcript` wrote")
    parser.add_argument("--uri", metavar="SOURCE", type=options.uri,
                        help="the service's URI or its info file; default: $ISOSCOPE_URI")
    parser.add_argument("--timing", metavar="fast|original|xN", type=_speed, default=None,
                        help="as fast as the answers come (default), as it was, or N times as fast")
    parser.add_argument("--compare", choices=("shape", "bytes"),
                        help="what must be the same: the outcome and the types of all members, or every byte "
                             "(default: bytes where the service says that it serves saved sessions, else shape)")
    parser.add_argument("--deadline", metavar="SECONDS", type=options.seconds, default=_DEADLINE_S * 1_000_000,
                        help=f"how long each reply and event is waited for (default: {_DEADLINE_S})")
    parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit's XML, too")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    serve = parser.add_argument_group("in a service's place")
    serve.add_argument("--server", action="store_true",
                       help="answer as the recorded service did, until Ctrl-C or SIGTERM. A request that is not in "
                            "the transcript gets an error, and is told at the end")
    serving.add_options(serve)


def _speed(text: str) -> Optional[float]:
    """How many times as fast as it was; None: as fast as it goes."""
    if text == "fast":
        return None
    try:
        speed = 1.0 if text == "original" else float(text[1:]) if text[:1] == "x" else 0.0
    except ValueError:
        speed = 0.0
    if not 0 < speed < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is neither fast, original nor x and a number, such as x2")
    return speed


def run(args: argparse.Namespace) -> int:
    try:
        _check(args)
        transcript = Transcript.read(args.transcript)
        for warning in transcript.warnings:
            print(f"isoscope: {printable(warning)}", file=sys.stderr)
        return _serve(args, transcript) if args.server else _replay(args, transcript)
    except IsoscopeError as error:  # all of them mean the same here
        print(f"isoscope: {printable(str(error))}", file=sys.stderr)
        return NOT_RUN


def _check(args: argparse.Namespace) -> None:
    if args.server and (args.uri or args.timing or args.junit or args.json):
        raise UsageError("replay: --uri, --timing, --junit and --json are not for --server")
    if not args.server and (args.port or args.service_info):
        raise UsageError("replay: --port and --write-service-info are for --server")


def _serve(args: argparse.Namespace, transcript: Transcript) -> int:
    script = Script(transcript)
    with LocalServer(PlayerHandler, args.port, script) as server:
        serving.serve(server, args.service_info)
    for request in script.unexpected:
        print(f"isoscope: not in the transcript: {printable(request)}", file=sys.stderr)
    if script.unasked:
        print(f"isoscope: {script.unasked:,} recorded requests did not come", file=sys.stderr)
    return DIFFERENT if script.unexpected else SAME


def _replay(args: argparse.Namespace, transcript: Transcript) -> int:
    service = ServiceAddress(service_uri(args, "replay"))
    with Client(service.uri, timeout_s=_CONNECT_S) as client:  # or says why not
        compare = args.compare or _fit_for(client)
    judge: Judge = ShapeJudge(transcript)
    if compare == "bytes":
        judge = ByteJudge(transcript, service)
    replay = Replay(transcript, service, judge, speed=args.timing, deadline_s=args.deadline / 1e6)
    problem = ""
    try:
        replay.run()
    except IsoscopeError as error:
        problem = str(error)
    _tell(args, replay, judge.name, problem)
    if problem:
        print(f"isoscope: {printable(problem)}", file=sys.stderr)
        return NOT_RUN
    return DIFFERENT if any(verdict.differences for verdict in replay.verdicts) else SAME


def _fit_for(client: Client) -> str:
    """A saved session gives the same bytes each time; what runs does not."""
    try:
        return "bytes" if "_saved" in client.call("getVM") else "shape"
    except RpcError:
        return "shape"


def _tell(args: argparse.Namespace, replay: Replay, compare: str, problem: str) -> None:
    verdicts = replay.verdicts
    if args.junit:
        report.write_junit(args.junit, report.suite_name(args.transcript), verdicts, problem)
    if args.json:
        print(json.dumps(report.json_of(verdicts, compare, replay.sent, problem)))
    else:
        print("\n".join(report.text_of(verdicts, compare, replay.sent)))
