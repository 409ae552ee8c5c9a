"""Dart DevTools' snapshot of its Performance screen: frames, and a Perfetto trace of all the rest.

DevTools draws the chart of frames from an offline file, whoever wrote it. A frame is late where its
build or its raster part takes more whole milliseconds than the refresh rate leaves. Lost: what
perfetto.py loses.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from ...profile import Profile
from ...timeline import FRAME, Event, Timeline
from .. import devtools
from . import perfetto
from ..common import write_json

_SCREEN = "performance"
_REFRESH_RATE = 60


def write(profile: Profile, out: BinaryIO) -> None:
    trace = io.BytesIO()
    perfetto.write(profile, trace)
    timeline = profile.timeline or Timeline()
    frames = [_frame(event) for event in timeline.events() if event.kind == FRAME]
    snapshot = {
        "traceBinary": list(trace.getvalue()),
        "flutterFrames": sorted(frames, key=lambda frame: (frame["startTime"], frame["number"])),
        "selectedFrameId": None,
        "displayRefreshRate": _REFRESH_RATE,
        "rebuildCountModel": None,
        "selectedTab": 0,
    }
    write_json(devtools.snapshot_of(_SCREEN, snapshot), out)


def _frame(event: Event) -> dict[str, Any]:
    elapsed = event.duration_ns // 1000
    build, raster = _part(event, "build"), _part(event, "raster")
    if "build" not in event.arguments and "raster" not in event.arguments:
        build = elapsed
    return {
        "number": event.id, "startTime": event.start_ns // 1000, "elapsed": elapsed,
        "build": build, "raster": raster, "vsyncOverhead": _part(event, "vsyncOverhead"),
    }  # fmt: skip


def _part(event: Event, name: str) -> int:
    value = event.arguments.get(name, 0)
    return max(int(value), 0) if isinstance(value, (int, float)) else 0
