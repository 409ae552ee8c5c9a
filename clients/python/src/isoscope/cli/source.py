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
import sys
from dataclasses import dataclass, replace
from typing import IO, Callable, Optional, Sequence

from .. import filters
from ..client import Client
from ..errors import CannotConnect, RpcError, ServiceEnded
from ..model import Process
from ..naming import named
from ..operations import METHOD_NOT_FOUND
from ..model import KINDS, LOCK, TIME, WAIT
from ..profile import Profile
from ..protocol import VM, PrivateExit
from ..text import printable
from ..timeline import Timeline
from ..trees.runtime_frames import ALL
from . import attached
from .ending import UNKNOWN
from .exits import NothingToShow, UsageError
from .options import kind_options, attach_options, run_options
from .place import VARIABLE, from_environment, is_uri
from .recording import Recording
from .served import is_session, served
from .terminal.progress import working


@dataclass(frozen=True)
class Source:
    profile: Profile
    name: str  # for titles
    status: int = 0  # what the command shall return: of `-- COMMAND` its own
    why_empty: str = ""  # where empty_ok


def check(args: argparse.Namespace, *, live: bool = False) -> None:
    """That there is one source, and the window is one. Without any, the environment's is taken. A process is attached
    to, and is the source from then on; live: at once, else when it was sampled for as long as is asked."""
    if getattr(args, "pid", None) is not None:
        _check_window(args)
        _attach(args, live)
        return
    if getattr(args, "via", None) is not None:
        raise UsageError("--via needs `-p PID`: it says how a process that runs already is sampled")
    if getattr(args, "kernel", False):
        raise UsageError("--kernel needs `-p PID`: under `isoscope run` nobody sees the kernel's frames")
    if args.source is None and args.command is None:
        try:
            args.source = from_environment()
        except ValueError as error:
            raise UsageError(str(error)) from error
    if (args.source is None) == (args.command is None):
        both = "" if args.source is None else "; only one of them is possible"
        raise UsageError(
            f"{args.word} needs a URI, a file, `-p PID`, `-- COMMAND` or ${VARIABLE} in the environment{both}"
        )
    given = run_options(args)
    if args.command is None and given:
        raise UsageError(f"{given[0]} needs `-- COMMAND`; a running service has its own")
    _check_window(args)


def _attach(args: argparse.Namespace, live: bool) -> None:
    if args.source is not None or args.command is not None:
        raise UsageError(f"--pid {args.pid} is a source: {args.word} takes no other one")
    options = run_options(args)
    off_cpu = getattr(args, "kind", TIME) == WAIT
    if kind_options(args) and not off_cpu:
        raise UsageError(f"--kind {args.kind} needs `-- COMMAND`: {KINDS[args.kind].many} of a process that runs "
                         "already are not seen")
    for word in options:
        if word.startswith("--") and word not in ("--period", "--mode"):
            raise UsageError(f"{word} needs `-- COMMAND`: nothing of ours is in a process that runs already")
    args.source = attached.begin(args.pid, [*options, *attach_options(args), *(["--off-cpu"] if off_cpu else [])])
    if not live:
        attached.wait(args.pid, getattr(args, "last_us", None) or attached.DEFAULT_US)


def _check_window(args: argparse.Namespace) -> None:
    if "last_us" not in args:
        return
    if args.last_us is not None and (args.from_us is not None or args.to_us is not None):
        raise UsageError("--last excludes --from and --to")
    if None not in (args.from_us, args.to_us) and args.to_us < args.from_us:
        raise UsageError("--to is before --from")


Ask = Callable[[Client, Profile], None]


def read(
    args: argparse.Namespace, *, empty_ok: bool = False, ask: Optional[Ask] = None
) -> Source:
    """ask: what else to ask of the service, while it is there, about what the filters leave."""
    check(args)
    if args.command is not None:
        source = _of_command(args, ask)
    elif is_uri(args.source):
        source = _of_service(args, args.source, ask)
    elif getattr(args, "kind", TIME) != TIME:
        source = _of_session(args, ask)
    else:
        source = _of_file(args)
    if source.why_empty and not empty_ok:
        raise NothingToShow(source.why_empty)
    return source


def _of_command(args: argparse.Namespace, ask: Optional[Ask]) -> Source:
    recording = record(args)
    with recording:
        recording.wait()
        try:
            source = _of_service(args, recording.uri, ask)
        except (CannotConnect, ServiceEnded) as error:
            if not recording.has_failed():
                raise
            raise CannotConnect(
                "isoscope's service ended before its samples were read; there is nothing to show"
            ) from error
    return Source(source.profile, " ".join(args.command), recording.status, source.why_empty)


def record(
    args: argparse.Namespace, output: Optional[IO[bytes]] = None, more: Sequence[str] = ()
) -> Recording:
    """output: where what the command writes goes; None: where ours does. more: options of run."""
    return Recording(args.command, [*run_options(args), *kind_options(args), *more], output)


def _of_service(args: argparse.Namespace, uri: str, ask: Optional[Ask]) -> Source:
    with connect(args, uri) as client:
        profile = pull(client, args)
        something = len(profile) or has_events(profile)
        why_empty = "" if something else why_no_samples(client, profile)
        source = filtered(args, Source(profile, uri, why_empty=why_empty))
        if ask and not source.why_empty:
            ask(client, source.profile)
    return source


def _of_session(args: argparse.Namespace, ask: Optional[Ask]) -> Source:
    """What a service reads of a session file, and no other file has."""
    if not is_session(args.source):
        many = KINDS[args.kind].many
        raise UsageError(f"{args.source} has samples of time only; {many} are in session files (isoscope record, "
                         "isoscope save) and running services")
    with served(args.source) as uri:
        source = _of_service(args, uri, ask)
    return replace(source, name=os.path.basename(args.source))


def _of_file(args: argparse.Namespace) -> Source:
    profile = _opened(args)
    if not getattr(args, "events", False):
        profile.timeline = None
    something = len(profile) or has_events(profile)
    why_empty = "" if something else f"no samples in {args.source}"
    return filtered(args, Source(profile, os.path.basename(args.source), why_empty=why_empty))


def _opened(args: argparse.Namespace) -> Profile:
    from .. import formats  # only then: it knows many

    with working(f"reading {args.source}"):
        profile = formats.open(args.source)
    for note in profile.notes:
        print(f"isoscope: {args.source}: {note}", file=sys.stderr)
    return profile


def file_profile(args: argparse.Namespace) -> Profile:
    """For commands that take no filter but --process. NothingToShow where it is empty."""
    profile = _opened(args)
    if args.process is not None and len(profile):
        profile = filters.by_process(profile, args.process)
    if not len(profile):
        raise NothingToShow(f"no samples in {args.source}")
    return profile


def connect(args: argparse.Namespace, uri: str) -> Client:
    return Client(uri, name=named if getattr(args, "name_here", False) else None)


def pull(client: Client, args: argparse.Namespace, *, since_us: int = 0) -> Profile:
    chosen = processes(client, args) if args.process is not None else None
    with working("reading samples"):
        profile = client.profile(
            since_us=since_us,
            processes=chosen,
            count=getattr(args, "count", None) or 0,
            pcs=getattr(args, "pcs", False),
            kind=getattr(args, "kind", TIME),
        )
        if getattr(args, "events", False):
            profile.timeline = _events(client, chosen)
    return profile


def has_events(profile: Profile) -> bool:
    return profile.timeline is not None and len(profile.timeline) > 0


def _events(client: Client, processes: Optional[list[Process]]) -> Optional[Timeline]:
    """Of these processes (None: of all); None: the service is another's, and tells none in our way."""
    try:
        timeline = client.timeline()
    except RpcError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return None
    return timeline if processes is None else timeline.of_processes({p.id for p in processes})


def processes(client: Client, args: argparse.Namespace) -> list[Process]:
    """All of the service, or those that --process names."""
    processes, wanted = client.processes(), args.process
    if wanted is None:
        return processes
    chosen = [p for p in processes if wanted in (p.name, p.number, p.id)]
    if not chosen:
        there = ", ".join(p.label for p in processes) or "none"
        raise filters.NoMatch(f"no process '{wanted}'; there are: {there}")
    return chosen


_FILTERS = ("process", "thread", "tag", "from_us", "to_us", "last_us", "focus", "ignore", "hide")


def is_filtered(args: argparse.Namespace) -> bool:
    """The options leave something out of the source, or change it."""
    chosen = any(getattr(args, name) is not None for name in _FILTERS)
    return chosen or not args.system or not args.inline or args.frames != ALL or args.name_here


def filtered(args: argparse.Namespace, source: Source) -> Source:
    """What the options leave of it."""
    if source.why_empty:
        return source
    _check_times(args, source)
    profile = source.profile
    if not len(profile):
        profile.timeline = _filtered_events(args, profile)
        return source
    if args.process is not None and not (args.command or is_uri(args.source)):
        profile = filters.by_process(profile, args.process)
    if args.thread is not None:
        profile = filters.by_thread(profile, args.thread)
    if args.tag is not None:
        profile = filters.by_tag(profile, args.tag)
    chosen, profile = profile, _window(args, profile)
    profile.timeline = _filtered_events(args, chosen)
    if not len(profile):
        return Source(profile, source.name, why_empty=_why_filtered(args, chosen))
    profile = filters.by_stack(
        profile,
        focus=args.focus,
        ignore=args.ignore,
        hide=args.hide,
        system=args.system,
        inline=args.inline,
        frames=args.frames,
    )
    why = "" if len(profile) else "no samples match the filters"
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


def _filtered_events(args: argparse.Namespace, profile: Profile) -> Optional[Timeline]:
    """profile: before the window was cut out of it, whose first sample the window counts from."""
    timeline = profile.timeline
    if timeline is None or not len(timeline):
        return timeline
    if args.thread is not None:
        timeline = timeline.of_threads(args.thread)
    first = profile.first_us * 1000 if len(profile) else timeline.first_ns
    last = profile.last_us * 1000 if len(profile) else timeline.last_ns
    if args.last_us is not None:
        return timeline.window(last - args.last_us * 1000, None)
    if args.from_us is None and args.to_us is None:
        return timeline
    return timeline.window(
        None if args.from_us is None else first + args.from_us * 1000,
        None if args.to_us is None else first + args.to_us * 1000,
    )


def _check_times(args: argparse.Namespace, source: Source) -> None:
    """Some files keep none, and all of their samples would be in any window."""
    wants = (args.from_us, args.to_us, args.last_us) != (None, None, None)
    profile = source.profile
    if wants and len(profile) > 1 and profile.first_us == profile.last_us:
        raise UsageError(f"the samples of {source.name} have no times: there is no window of them")


def _why_filtered(args: argparse.Namespace, chosen: Profile) -> str:
    """chosen: before the window was cut out of it."""
    if not len(chosen):
        return "no samples match --process, --thread and --tag together"
    until_s = (chosen.last_us - chosen.first_us) / 1e6
    return (
        f"no samples in this range. There are {len(chosen):,}, from 0 to {until_s:.3f} s; older samples "
        "may have been dropped"
    )


PROFILER_OFF = "no samples: the profiler is off (--paused, or a client turned it off)"
NO_PROCESS = (
    "no samples: no process has reported to the service yet; statically linked and privileged programs "
    "never do"
)


def unsampled(vm: VM) -> list[str]:
    """A line for each program that runs without being sampled."""
    return [
        f"not sampled: {printable(one['exe'])} ({one['pid']}"
        + (f", started {one['count']:,} times" if one["count"] > 1 else "")
        + f"): {one['reason']}"
        for one in vm.get("_unsampled", [])
    ]


def no_process(client: Client) -> str:
    """Why, where it is known."""
    known = unsampled(client.vm())
    if not known:
        return NO_PROCESS
    return "\n".join(["no samples: no process has reported to the service", *known])


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


def _runs(client: Client) -> bool:
    """Something does; so it is where a service cannot tell."""
    try:
        return any(is_live(client, process) for process in client.processes())
    except RpcError:
        return True


def _why_none_of_kind(client: Client, flags: dict[str, str], kind: str) -> str:
    option, many = KINDS[kind].option, KINDS[kind].many
    mean = flags.get(f"profile_{option}", "0")
    if mean == "0":
        return f"no samples: {many} are not sampled; start the program with `isoscope run --{option}`"
    if not client.processes():
        return no_process(client)
    if KINDS[kind].in_bytes:
        return (
            f"no samples: the program allocated little: one allocation in {int(mean):,} bytes is "
            "sampled (`isoscope run --alloc=BYTES`); of programs with a sanitizer, and of static ones, none is"
        )
    if KINDS[kind].is_counted:
        return (
            f"no samples: the program had few page faults: one in {int(mean):,} is sampled (`isoscope run --faults=N`); "
            "where the kernel refuses perf events, none is"
        )
    waited = "no thread has waited long for a lock that another one had" if kind == LOCK else "no thread has waited long"
    return (
        f"no samples: {waited}: one wait in {int(mean):,} µs waited is sampled (`isoscope run "
        "--lock=MICROSECONDS`); of static programs, and of locks that are no pthread's, none is"
    )


def why_no_samples(client: Client, profile: Profile) -> str:
    flags = client.flags()
    if profile.is_many:
        return _why_none_of_kind(client, flags, profile.kind)
    if flags.get("profiler") != "true":
        return PROFILER_OFF
    if not client.processes():
        return no_process(client)
    if sum(profile.lost.values()):
        causes = ", ".join(f"{cause} {n:,}" for cause, n in profile.lost.most_common())
        return f"no samples: all were lost: {causes}"
    if flags.get("profile_mode") == "wall":
        return "no samples yet: wall mode has not begun"
    hint = "`--mode wall` also samples threads that sleep"
    # It may have used some that was not worth a sample.
    if _runs(client):
        return f"no samples yet: the program has used little or no CPU time; {hint}"
    return f"no samples: the program used too little CPU time for one; {hint}"
