"""`isoscope timeline SOURCE`: the slices that a program told, by name, or the longest ones."""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any, Callable

from ... import filters
from ...client import Client
from ...errors import RpcError
from ...timeline import Event, Timeline
from ...timeline.slices import SliceRow, longest, slice_table
from .. import options, source
from ..exits import NothingToShow, UsageError
from ..place import is_uri
from ..terminal.page import Column, Page, Row, text_of
from ..terminal.progress import working
from ..terminal.style import style_here

_NO_SUCH_METHOD = -32601
_SORTS: dict[str, Callable[[SliceRow], Any]] = {
    "total": lambda row: -row.total_ns,
    "self": lambda row: -row.self_ns,
    "count": lambda row: -row.count,
    "max": lambda row: -row.max_ns,
    "name": lambda row: (row.name, row.stream),
}  # fmt: skip


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "timeline",
        run,
        help="print the slices that a program told, by name",
        description="Print each name of slices once: how many there are, their time in total and in "
                    "themselves, the median, the 95th percentile and the longest. Slices come from "
                    "<isoscope/isoscope.h>, ITT and NVTX. One that has not ended counts until now.",
        examples=[
            "isoscope timeline here.json",
            "isoscope timeline --longest 10 --last 5 here.json",
            "isoscope timeline --stream Dart --thread render -- ./game",
        ],
    )
    options.add_place(parser)
    group = parser.add_argument_group("filters")
    group.add_argument("--process", metavar="NAME|ID", help="only this process")
    group.add_argument("--thread", metavar="NAME|TID", help="only this thread")
    group.add_argument("--stream", metavar="NAME", help="only this stream (category)")
    group.add_argument("--name", metavar="REGEX", type=options.regex, help="only slices whose name matches")
    group.add_argument("--from", metavar="SECONDS", type=options.seconds, dest="from_us",
                       help="start of the range, counted from the first event; what overlaps it counts whole")
    group.add_argument("--to", metavar="SECONDS", type=options.seconds, dest="to_us",
                       help="end of the range, counted from the first event")
    group.add_argument("--last", metavar="SECONDS", type=options.seconds, dest="last_us",
                       help="only the last SECONDS before the newest event's end")
    parser.add_argument("--longest", metavar="N", type=options.positive,
                        help="print the N longest slices instead, each with its arguments")
    parser.add_argument("--sort", choices=tuple(_SORTS), default="total",
                        help="column to sort by (default: total)")
    parser.add_argument("--rows", metavar="N", type=options.positive, help="print at most N rows")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(args: argparse.Namespace) -> int:
    source.check(args)
    if args.longest and (args.rows or args.sort != "total"):
        raise UsageError("--longest has its own number and order: no --rows and no --sort")
    status = 0
    if args.command is not None:
        with source.record(args) as recording:
            recording.wait()
            timeline = _of_service(args, recording.uri)
        status = recording.status
    elif is_uri(args.source):
        timeline = _of_service(args, args.source)
    else:
        timeline = _of_file(args)
    chosen = _chosen(args, timeline)
    print(json.dumps(_json(args, chosen)) if args.json else "\n".join(_text(args, chosen)))
    return status


def _of_service(args: argparse.Namespace, uri: str) -> Timeline:
    with source.connect(args, uri) as client:
        process = None
        if args.process is not None:
            process = source.processes(client, args)[0]
        try:
            with working("reading events"):
                timeline = client.timeline(process=process)
        except RpcError as error:
            if error.code != _NO_SUCH_METHOD:
                raise
            raise NothingToShow("this service has no _getTimeline: it is another's, or older") from error
        if not len(timeline):
            raise NothingToShow(_why_none(client, timeline))
    return timeline


def _of_file(args: argparse.Namespace) -> Timeline:
    from ... import formats  # only then: it knows many

    with working(f"reading {args.source}"):
        timeline = formats.open(args.source).timeline
    if timeline is None or not len(timeline):
        raise NothingToShow(f"no events in {os.path.basename(args.source)}: sessions keep those that "
                            "programs told (isoscope record)")  # fmt: skip
    if args.process is None:
        return timeline
    known = {thread.process.id: thread.process for thread in timeline.threads}.values()
    ids = {p.id for p in known if args.process in (p.name, p.number, p.id)}
    if not ids:
        raise filters.NoMatch(f"no process '{args.process}' has events; there are: {_list(p.label for p in known)}")
    return timeline.of_processes(ids)


def _why_none(client: Client, timeline: Timeline) -> str:
    if timeline.history.get("lost"):
        return f"no events: all {timeline.history['lost']:,} were lost: a thread's ring was full"
    recorded = client.call("getVMTimelineFlags").get("recordedStreams") or []
    if not recorded:
        return "no events: no stream is recorded (setVMTimelineFlags; DevTools' Performance screen turns streams off)"
    if timeline.history.get("evicted"):
        return f"no events: {timeline.history['evicted']:,} were let go of to make room"
    if not client.processes():
        return source.no_process(client)
    return (
        "no events: the program has told none. It tells them by <isoscope/isoscope.h> "
        "(docs/api.md), by ITT or by NVTX"
    )


def _chosen(args: argparse.Namespace, timeline: Timeline) -> Timeline:
    """What the filters leave; NothingToShow where that is no slice."""
    first, last = timeline.first_ns, timeline.last_ns
    if args.last_us is not None:
        timeline = timeline.window(last - args.last_us * 1000, None)
    elif args.from_us is not None or args.to_us is not None:
        timeline = timeline.window(
            None if args.from_us is None else first + args.from_us * 1000,
            None if args.to_us is None else first + args.to_us * 1000,
        )
    if not len(timeline):
        raise NothingToShow(f"no events in this range. There are some from 0 to {(last - first) / 1e9:.3f} s")
    threads = _threads(args, timeline)
    streams = _streams(args, timeline)
    name = re.compile(args.name) if args.name else None
    places = [
        place
        for place in timeline.slices()
        if timeline.event_threads[place] in threads
        and timeline.streams[place] in streams
        and (name is None or name.search(timeline.texts[timeline.names[place]]))
    ]
    if not places:
        others = sum(1 for _ in timeline.slices())
        raise NothingToShow(
            f"no slices match the filters; there are {others:,} without them" if others
            else f"no slices among {len(timeline):,} events: instants, counters or frames only"
        )  # fmt: skip
    return timeline.choose(places)


def _threads(args: argparse.Namespace, timeline: Timeline) -> set[int]:
    known = timeline.threads
    if args.thread is None:
        return set(range(len(known)))
    chosen = {n for n, thread in enumerate(known) if args.thread in (thread.name, str(thread.tid))}
    if not chosen:
        names = _list(thread.name or str(thread.tid) for thread in known)
        raise filters.NoMatch(f"no thread '{args.thread}' has events; there are: {names}")
    return chosen


def _streams(args: argparse.Namespace, timeline: Timeline) -> set[int]:
    used = set(timeline.streams)
    if args.stream is None:
        return used
    chosen = {number for number in used if timeline.texts[number] == args.stream}
    if not chosen:
        names = _list(timeline.texts[number] for number in used)
        raise filters.NoMatch(f"no stream '{args.stream}' has events; there are: {names}")
    return chosen


def _list(names: Any) -> str:
    return ", ".join(sorted(dict.fromkeys(names))) or "none"


# What is printed.


def _rows(args: argparse.Namespace, timeline: Timeline) -> list[SliceRow]:
    return sorted(slice_table(timeline), key=_SORTS[args.sort])[: args.rows]


def _json(args: argparse.Namespace, timeline: Timeline) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "isoscope.timeline", "history": timeline.history}
    if args.longest:
        events = [timeline.event(place) for place in longest(timeline, args.longest)]
        return {**told, "slices": [_event_json(event) for event in events]}
    return {**told, "names": [_row_json(row) for row in _rows(args, timeline)]}


def _row_json(row: SliceRow) -> dict[str, Any]:
    return {
        "name": row.name, "stream": row.stream, "count": row.count, "totalNanos": row.total_ns,
        "selfNanos": row.self_ns, "p50Nanos": row.percentile_ns(50), "p95Nanos": row.percentile_ns(95),
        "maxNanos": row.max_ns, "open": row.open, "cutOff": row.cut_off,
    }  # fmt: skip


def _event_json(event: Event) -> dict[str, Any]:
    return {
        "name": event.name, "stream": event.stream, "isolateId": event.thread.process.id,
        "tid": event.thread.tid, "thread": event.thread.name, "startNanos": event.start_ns,
        "durationNanos": event.duration_ns, "depth": event.depth, "mark": event.mark or None,
        "arguments": event.arguments,
    }  # fmt: skip


def _text(args: argparse.Namespace, timeline: Timeline) -> list[str]:
    style = style_here(None)
    page = _longest_page(args, timeline) if args.longest else _names_page(args, timeline)
    return [*_losses(timeline), *text_of(page, style.width, style)]


def _losses(timeline: Timeline) -> list[str]:
    words = {
        "lost": "events lost in the program: a thread's ring was full",
        "evicted": "old events let go of to make room",
        "unstored": "events that the service had no memory for, or that could not be true",
        "unmatched": "ends without a begin",
        "tooDeep": "slices inside of too many others",
        "backward": "ends before their begin",
    }
    return [f"{timeline.history[key]:,} {what}" for key, what in words.items() if timeline.history.get(key)]


def _names_page(args: argparse.Namespace, timeline: Timeline) -> Page:
    titles = ("count", "total", "self", "p50", "p95", "max")
    columns = [Column(title, right=True) for title in titles]
    rows = [_row(row) for row in _rows(args, timeline)]
    return Page(columns=[*columns, Column("slice", grows=True), Column("stream")], rows=rows)


def _row(row: SliceRow) -> Row:
    times = (row.total_ns, row.self_ns, row.percentile_ns(50), row.percentile_ns(95), row.max_ns)
    notes = [f"{row.open:,} open"] if row.open else []
    notes += [f"{row.cut_off:,} cut off"] if row.cut_off else []
    name = f"{row.name} ({', '.join(notes)})" if notes else row.name
    return Row([f"{row.count:,}", *map(_time, times), name, row.stream])


def _longest_page(args: argparse.Namespace, timeline: Timeline) -> Page:
    columns = [Column("duration", right=True), Column("at", right=True), Column("thread")]
    columns += [Column("slice", grows=True), Column("stream"), Column("arguments", grows=True)]
    first = timeline.first_ns
    rows = [_longest_row(timeline.event(place), first) for place in longest(timeline, args.longest)]
    return Page(columns=columns, rows=rows)


_NOTES = {"": "", "Open": " (open)", "CutOff": " (cut off)"}


def _longest_row(event: Event, first_ns: int) -> Row:
    said = ", ".join(f"{name}={value}" for name, value in event.arguments.items())
    thread = event.thread.name or str(event.thread.tid)
    at = f"{(event.start_ns - first_ns) / 1e9:.6f}"
    return Row([_time(event.duration_ns), at, thread, event.name + _NOTES[event.mark], event.stream, said])


def _time(ns: int) -> str:
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= factor:
            return f"{ns / factor:,.3f} {unit}"
    return f"{ns} ns"
