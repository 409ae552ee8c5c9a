"""Stalls and loops, as a service tells them.

Units   *_us: microseconds. The first sample was at BASE_US.
"""

from __future__ import annotations

import copy
from typing import Any

from isoscope import Process

PROCESS = Process("isolates/42", "server", 42)
BASE_US = 5_000_000


def stall(number: int = 1, *, at_us: int = 2_100_000, ms: tuple[int, int] = (611, 611), **more: Any) -> dict[str, Any]:
    """One that waited for a lock. at_us: from BASE_US on."""
    begin = BASE_US + at_us
    told: dict[str, Any] = {
        "number": number, "isolateId": PROCESS.id, "pid": 42, "tid": 42, "thread": "server", "loop": 1,
        "name": "server", "level": "stall", "ongoing": False, "told": True, "equals": 1, "updates": 0,
        "limitMicros": 250_000, "startMicros": [begin, begin + 4000],
        "durationMicros": [ms[0] * 1000, ms[1] * 1000],
        "timeOriginMicros": begin, "timeExtentMicros": ms[1] * 1000, "cause": "lock",
        "causeText": "it waited in futex for thread 43 'worker', which stood in flush_log",
        "runningMicros": 11_000, "runnableMicros": 1000, "sleepingMicros": ms[1] * 1000 - 12_000, "faults": 0,
        "hostLateMicros": 0, "systemCall": "futex",
        "holder": {"tid": 43, "thread": "worker", "function": "flush_log"},
        "culprit": {"function": "pthread_mutex_lock", "library": "libc.so.6", "micros": 590_000, "looks": 29,
                    "share": 0.967},
        "caller": {"function": "write_log", "library": "server", "file": "/src/log.c", "line": 42},
        "looks": 30, "tag": "request", "slice": "GET /", "prefix": ["main", "run_loop", "on_request"],
        "story": [
            {"function": "parse", "fromMicros": begin, "toMicros": begin + 21_000, "looks": 1},
            {"function": "pthread_mutex_lock", "fromMicros": begin + 21_000, "toMicros": begin + 611_000,
             "looks": 29},
        ],
        "stacks": [
            {"micros": begin + 600_000, "state": "Lock",
             "functions": ["pthread_mutex_lock", "write_log", "on_request", "run_loop", "main"]},
        ],
    }  # fmt: skip
    return {**told, **more}


def busy(number: int = 2, **more: Any) -> dict[str, Any]:
    """One that computed, in the application's own code, and lasts."""
    place = {"function": "compress", "library": "server"}
    told = stall(number, at_us=7_000_000, ms=(2250, 2254), level="hang", ongoing=True, cause="busy",
                 causeText="it computed: it ran for 2200 ms", equals=3, runningMicros=2_200_000,
                 culprit={**place, "micros": 2_000_000, "looks": 50, "share": 1.0}, caller=place)  # fmt: skip
    for word in ("systemCall", "holder", "tag", "slice"):
        del told[word]
    return {**told, **more}


def _times(count: int, *bounds: int) -> dict[str, Any]:
    p50, p95, p99, most = bounds or (0, 0, 0, 0)
    return {"count": count, "p50": [p50 // 2, p50], "p95": [p95 // 2, p95], "p99": [p99 // 2, p99],
            "max": [most, most], "sum": 0, "buckets": []}  # fmt: skip


LIMITS = {"jank": 50, "stall": 250, "hang": 2000, "dead": 5000}
LOOP: dict[str, Any] = {
    "number": 1, "isolateId": PROCESS.id, "pid": 42, "tid": 42, "thread": "server", "name": "server", "kind": "epoll",
    "ended": False, "watched": True, "busy": True, "dispatches": 12_345, "dispatch": _times(12_345, 127, 4095, 611_000, 2_254_000),
    "delay": _times(7, 127, 255, 255, 1023), "blockingMicros": 2_765_000,
    "levels": {"jank": 4, "stall": 1, "hang": 1, "dead": 0}, "causes": {"lock": 1, "busy": 1}, "dismissed": 0,
    "limits": LIMITS,
}  # fmt: skip
UNWATCHED = {"isolateId": PROCESS.id, "pid": 42, "tid": 45, "thread": "uring", "systemCall": "io_uring_enter"}
FRAMES = {"refreshRate": 60, "count": 0, "dropped": 0,
          "levels": {"best": 0, "normal": 0, "middle": 0, "high": 0, "frozen": 0}}  # fmt: skip


def loop_stats(**more: Any) -> dict[str, Any]:
    told = {"type": "_LoopStats", "limits": LIMITS, "watch": "auto", "loops": [LOOP], "unwatched": [UNWATCHED],
            "frames": FRAMES, "cpuHigh": []}  # fmt: skip
    return copy.deepcopy({**told, **more})


def quiet_loop(**more: Any) -> dict[str, Any]:
    none = {"jank": 0, "stall": 0, "hang": 0, "dead": 0}
    return {**LOOP, "levels": none, "causes": {}, "dispatch": _times(12_345, 127, 1023, 2047, 12_000), **more}


def event(kind: str, told: dict[str, Any], time_ms: int = 1_700_000_000_123) -> dict[str, Any]:
    """On the stream Extension."""
    data = {name: value for name, value in told.items() if name != "stacks"}
    return {"type": "Event", "kind": "Extension", "timestamp": time_ms, "extensionKind": f"Isoscope.Stall.{kind}",
            "extensionData": data}  # fmt: skip
