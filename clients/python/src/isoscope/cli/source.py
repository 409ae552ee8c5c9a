"""Where a command's profile comes from, and what part of it is wanted.

    isoscope tree info.json                          a service; place.py has the other ways
    isoscope tree profile.speedscope.json            a file
    isoscope tree -- sort big.txt                    a command, run now

    options.add_options(parser)   the words that every command on profiles takes
    read(args) -> Source          the profile; raises NothingToShow where it is empty

Errors   Those of the client, of formats.open, of filters; exits.py has their statuses.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import IO, Optional, Sequence

from .. import filters
from ..client import Client
from ..model import Process
from ..naming import named
from ..profile import Profile
from ..protocol import PrivateExit
from .ending import UNKNOWN
from .exits import NothingToShow, UsageError
from .place import VARIABLE, from_environment, is_uri
from .progress import working
from .recording import Recording


@dataclass(frozen=True)
class Source:
    profile: Profile
    name: str  # for titles
    status: int = 0  # what the command shall return: of `-- COMMAND` its own
    why_empty: str = ""  # where empty_ok


def check(args: argparse.Namespace) -> None:
    """That there is one source, and the window is one. Without any, the environment's is taken."""
    if args.source is None and args.command is None:
        try:
            args.source = from_environment()
        except ValueError as error:
            raise UsageError(str(error)) from error
    if (args.source is None) == (args.command is None):
        both = "" if args.source is None else "; only one of them"
        raise UsageError(
            f"{args.word} needs a URI, a file or `-- COMMAND`, or ${VARIABLE} in the "
            f"environment{both}"
        )
    if args.command is None and (args.period or args.mode):
        raise UsageError("--period and --mode are for `-- COMMAND`; a service has its own already")
    if "last_us" not in args:
        return
    if args.last_us is not None and (args.from_us is not None or args.to_us is not None):
        raise UsageError("--last is a window of its own; it takes no --from or --to")
    if None not in (args.from_us, args.to_us) and args.to_us < args.from_us:
        raise UsageError("--to lies before --from")


def read(args: argparse.Namespace, *, empty_ok: bool = False) -> Source:
    check(args)
    if args.command is not None:
        source = _of_command(args)
    elif is_uri(args.source):
        source = _of_service(args, args.source)
    else:
        source = _of_file(args)
    if source.why_empty and not empty_ok:
        raise NothingToShow(source.why_empty)
    return source


def _of_command(args: argparse.Namespace) -> Source:
    recording = record(args)
    with recording:
        recording.wait()
        source = _of_service(args, recording.uri)
    return Source(source.profile, " ".join(args.command), recording.status, source.why_empty)


def record(
    args: argparse.Namespace, output: Optional[IO[bytes]] = None, more: Sequence[str] = ()
) -> Recording:
    """output: where what the command writes goes; None: where ours does. more: options of run."""
    options = ["--period", str(args.period)] if args.period else []
    options += ["--mode", args.mode] if args.mode else []
    return Recording(args.command, [*options, *more], output)


def _of_service(args: argparse.Namespace, uri: str) -> Source:
    with connect(args, uri) as client:
        profile = pull(client, args)
        why_empty = "" if len(profile) else why_no_samples(client, profile)
    return filtered(args, Source(profile, uri, why_empty=why_empty))


def _of_file(args: argparse.Namespace) -> Source:
    from .. import formats  # only then: it knows many

    with working(f"reading {args.source}"):
        profile = formats.open(args.source)
    why_empty = "" if len(profile) else f"no samples: {args.source} holds none"
    return filtered(args, Source(profile, os.path.basename(args.source), why_empty=why_empty))


def file_profile(args: argparse.Namespace) -> Profile:
    """For commands that take no filter but --process. NothingToShow where it is empty."""
    from .. import formats

    with working(f"reading {args.source}"):
        profile = formats.open(args.source)
    if args.process is not None and len(profile):
        profile = filters.by_process(profile, args.process)
    if not len(profile):
        raise NothingToShow(f"no samples: {args.source} holds none")
    return profile


def connect(args: argparse.Namespace, uri: str) -> Client:
    return Client(uri, name=named if getattr(args, "name_here", False) else None)


def pull(client: Client, args: argparse.Namespace, *, since_us: int = 0) -> Profile:
    chosen = processes(client, args) if args.process is not None else None
    with working("reading samples"):
        return client.profile(
            since_us=since_us,
            processes=chosen,
            count=getattr(args, "count", None) or 0,
            pcs=getattr(args, "pcs", False),
        )


def processes(client: Client, args: argparse.Namespace) -> list[Process]:
    """All of the service, or those that --process names."""
    processes, wanted = client.processes(), args.process
    if wanted is None:
        return processes
    chosen = [p for p in processes if wanted in (p.name, p.number, p.id)]
    if not chosen:
        there = ", ".join(p.label for p in processes) or "none"
        raise filters.NoMatch(f"there is no process '{wanted}'; there are: {there}")
    return chosen


def filtered(args: argparse.Namespace, source: Source) -> Source:
    """What the options leave of it."""
    if source.why_empty:
        return source
    profile = source.profile
    if args.process is not None and not (args.command or is_uri(args.source)):
        profile = filters.by_process(profile, args.process)
    if args.thread is not None:
        profile = filters.by_thread(profile, args.thread)
    if args.tag is not None:
        profile = filters.by_tag(profile, args.tag)
    chosen, profile = profile, _window(args, profile)
    if not len(profile):
        return Source(profile, source.name, why_empty=_why_filtered(args, chosen))
    profile = filters.by_stack(
        profile,
        focus=args.focus,
        ignore=args.ignore,
        hide=args.hide,
        system=args.system,
        inline=args.inline,
    )
    why = "" if len(profile) else "no samples: the filters leave none of them"
    return Source(profile, source.name, why_empty=why)


def _window(args: argparse.Namespace, profile: Profile) -> Profile:
    if args.last_us is not None:
        return profile.window(profile.last_us - args.last_us, None)
    if args.from_us is None and args.to_us is None:
        return profile
    origin = profile.first_us
    return profile.window(
        None if args.from_us is None else origin + args.from_us,
        None if args.to_us is None else origin + args.to_us,
    )


def _why_filtered(args: argparse.Namespace, chosen: Profile) -> str:
    """chosen: before the window was cut out of it."""
    if not len(chosen):
        return "no samples: what --process, --thread and --tag name together has none"
    until_s = (chosen.last_us - chosen.first_us) / 1e6
    return (
        f"no samples in this window: there are {len(chosen):,}, from 0 to {until_s:.3f} s; "
        "older ones may have been evicted"
    )


PROFILER_OFF = "no samples: the profiler is off (the program was started with --paused?)"
NO_PROCESS = (
    "no samples: no process has reported to the service yet; "
    "a static or privileged program never will"
)


def now_us(client: Client) -> int:
    """On the samples' clock."""
    return int(client.call("getVMTimelineMicros")["timestamp"])


def is_live(client: Client, process: Process) -> bool:
    """False: it has ended, and only its samples are there."""
    isolate = client.call("getIsolate", isolateId=process.id)
    return bool(isolate.get("_process", {}).get("live", isolate.get("type") != "Sentinel"))


def exit_of(client: Client) -> PrivateExit:
    """How the program ended; UNKNOWN while it runs, and where `isoscope run` did not start it."""
    return client.vm().get("_exit", UNKNOWN)


def why_no_samples(client: Client, profile: Profile) -> str:
    flags = client.flags()
    if flags.get("profiler") != "true":
        return PROFILER_OFF
    if not client.processes():
        return NO_PROCESS
    if sum(profile.lost.values()):
        causes = ", ".join(f"{cause} {n:,}" for cause, n in profile.lost.most_common())
        return f"no samples: all ticks were lost: {causes}"
    hint = "" if flags.get("profile_mode") == "wall" else "; `--mode wall` samples what sleeps, too"
    return f"no samples yet: they are taken while the program uses the CPU, and it used none{hint}"
