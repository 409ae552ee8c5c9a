"""What `isoscope top` shows: a window of samples and how it is looked at, as a page or as JSON.

    Window + View -> page_of -> Page        Window -> json_of -> one object

Shares are of the CPU time shown, of the samples in wall mode. CPU is that of one processor: two busy threads have 200 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from ....live import FunctionRow, ThreadRow, Window
from ....model import KINDS, MS
from ....profile import CPU, SAMPLES
from ....text import Style, counted, duration, fit_function, printable, shorten_left, weight_text
from ...terminal.page import Column, Page, Row

FUNCTIONS, THREADS = "functions", "threads"
SORTS = {FUNCTIONS: ("self", "total", "name"), THREADS: ("CPU", "samples", "name")}
_FEW = 30  # samples: a share of so few is a guess, and says so
_HOT = 0.1

KEYS = [
    ("f t", "functions, threads (Tab switches)"),
    ("s", "sort by the next column"),
    ("w", "switch between the last seconds and all since top started"),
    ("space p", "pause the view; sampling goes on"),
    ("up down", "select a row"),
    ("enter", "on a thread: show only its functions; escape: show all"),
    ("h ?", "show this list"),
    ("q", "quit"),
]


@dataclass
class View:
    """How the window is looked at; keys change it."""

    view: str = FUNCTIONS
    sort: str = "self"
    thread: Optional[int] = None  # of the window's profile: only its functions
    whole: bool = False  # not the last seconds: all
    paused: bool = False
    help: bool = False
    selected: Optional[int] = None
    unit: str = "percent"  # of self and total
    names: Optional[int] = None  # characters of a function's name, at most

    def press(self, key: str, threads: list[ThreadRow]) -> None:
        """threads: as they are shown. What no key is, does nothing."""
        if key in ("h", "?"):
            self.help = not self.help
        elif key in ("p", " "):
            self.paused = not self.paused
        elif key == "w":
            self.whole = not self.whole
        elif key in ("f", "t", "tab"):
            self._show({"f": FUNCTIONS, "t": THREADS}.get(key, self._other()))
        elif key == "s":
            sorts = SORTS[self.view]
            self.sort = sorts[(sorts.index(self.sort) + 1) % len(sorts)]
        elif key in ("up", "down", "home"):
            step = {"up": -1, "down": 1}.get(key, -1_000_000)
            self.selected = max(0, (-1 if self.selected is None else self.selected) + step)
        elif key == "enter" and self.view == THREADS and threads:
            self.thread = threads[min(self.selected or 0, len(threads) - 1)].number
            self._show(FUNCTIONS)
        elif key == "escape":
            self.help, self.selected, self.thread = False, None, None

    def _other(self) -> str:
        return THREADS if self.view == FUNCTIONS else FUNCTIONS

    def _show(self, view: str) -> None:
        if view == THREADS:
            self.thread = None
        if view != self.view:
            self.view, self.sort, self.selected = view, SORTS[view][0], None


def thread_rows(window: Window, view: View) -> list[ThreadRow]:
    keys: dict[str, Any] = {
        "CPU": lambda row: (-row.cpu_us, -row.count, row.thread.tid),
        "samples": lambda row: (-row.count, -row.cpu_us, row.thread.tid),
        "name": lambda row: (row.thread.name, row.thread.tid),
    }
    return sorted(window.threads(), key=keys[view.sort if view.view == THREADS else "CPU"])


def function_rows(window: Window, view: View) -> list[FunctionRow]:
    keys: dict[str, Any] = {
        "self": lambda row: (-_self(window, row), -_total(window, row), row.function.name),
        "total": lambda row: (-_total(window, row), -_self(window, row), row.function.name),
        "name": lambda row: (row.function.name, row.function.id),
    }
    return sorted(
        window.functions(view.thread), key=keys[view.sort if view.view == FUNCTIONS else "self"]
    )


def _self(window: Window, row: FunctionRow) -> int:
    return row.self_us if window.by_time else row.self_count


def _total(window: Window, row: FunctionRow) -> int:
    return row.total_us if window.by_time else row.total_count


def page_of(
    window: Window, view: View, *, title: str, note: str = "", rows_max: int = 1000
) -> Page:
    """note: what the reader should know besides, such as why there is nothing."""
    if view.help:
        keys = [Row([key, does]) for key, does in KEYS]
        return Page([title, ""], [Column("key"), Column("what it does", grows=True)], keys, [""])
    threads = window.threads()
    sampled = [row for row in threads if view.thread in (None, row.number)]
    count, cpu_us = sum(row.count for row in sampled), sum(row.cpu_us for row in sampled)
    if view.thread is not None:
        thread = window.profile.threads[view.thread]
        title += f" > {printable(thread.name)} ({thread.tid})"
    head = [title, _summary(window, view, count, cpu_us), ""]
    whole = _Whole(count, cpu_us if window.by_time else count)
    table = _function_table if view.view == FUNCTIONS else _thread_table
    columns, rows = table(window, view, whole)
    selected = None
    if view.selected is not None and rows:
        selected = view.selected = min(view.selected, len(rows) - 1)
    return Page(head, columns, rows[:rows_max], [note] if note else [], selected)


class _Whole(NamedTuple):
    samples: int
    weight: int  # what shares are of


def _summary(window: Window, view: View, count: int, cpu_us: int) -> str:
    span = f" in the last {window.span_us / 1e6:.1f} s" + (", all of them" if view.whole else "")
    profile = window.profile
    kind = KINDS[profile.kind]
    parts = [f"{counted(count, 'sample')}{span}", f"{_cpu(cpu_us, window)} {kind.amount or 'CPU'}"]
    if not window.span_us and count:
        parts = [f"{counted(count, 'sample')} without times", f"{cpu_us / 1000:,.1f} ms CPU"]
    if not profile.is_many:
        parts.append(f"one per {duration(max(profile.period_us, profile.true_period_us))}")
    lost = sum(profile.lost.values())
    if lost:
        parts.append(f"{lost:,} lost")
    return ", ".join(parts) + ("  [paused]" if view.paused else "")


def _function_table(
    window: Window, view: View, whole: _Whole
) -> tuple[list[Column], list[Row]]:
    columns = [
        Column("self", True, least=7, marked=view.sort == "self"),
        Column("total", True, least=7, marked=view.sort == "total"),
        Column(_rate_word(window), True, least=6),
        Column("function", grows=True, least=32, marked=view.sort == "name", fit=fit_function),
        Column("library", grows=True, fit=shorten_left),
    ]
    rows = [
        Row(
            [
                _amount(_self(window, row), row.self_count, row.self_us, whole, view),
                _amount(_total(window, row), row.total_count, row.total_us, whole, view),
                _cpu(row.self_us, window) if row.self_count else "",
                Style(names=view.names).function(row.function.name),
                row.function.library.name if row.function.library else "",
            ],
            _self(window, row) >= _HOT * whole.weight,
        )
        for row in function_rows(window, view)
    ]
    return columns, rows


def _thread_table(window: Window, view: View, whole: _Whole) -> tuple[list[Column], list[Row]]:
    several = len(window.profile.processes) > 1
    columns = [
        Column(_rate_word(window), True, least=6, marked=view.sort == "CPU"),
        Column("samples", True, least=7, marked=view.sort == "samples"),
        Column("tid", True),
        Column("thread", least=15, marked=view.sort == "name"),
        *([Column("process", grows=True)] if several else []),
        Column("hottest function", grows=True, fit=fit_function),
    ]
    rows = [
        Row(
            [
                _cpu(row.cpu_us, window),
                _share(row.count, _Whole(whole.samples, whole.samples)),
                str(row.thread.tid),
                row.thread.name or "?",
                *([row.thread.process.label] if several else []),
                Style(names=view.names).function(row.hottest.name) if row.hottest else "",
            ],
            (row.cpu_us if window.by_time else row.count) >= _HOT * whole.weight,
        )
        for row in thread_rows(window, view)
    ]
    return columns, rows


def _amount(weight: int, count: int, us: int, whole: _Whole, view: View) -> str:
    if view.unit == "samples" and count:
        return f"{count:,}"
    if view.unit in ("ms", "bytes") and us:
        return weight_text(us, view.unit)
    return _share(weight, whole) if view.unit == "percent" else ""


def _share(part: int, whole: _Whole) -> str:
    if not part:
        return ""
    return f"{'~' if whole.samples < _FEW else ''}{100 * part / whole.weight:.1f} %"


def _rate_word(window: Window) -> str:
    return "per s" if KINDS[window.profile.kind].unit != MS else "waited" if window.profile.is_many else "CPU"


def _cpu(cpu_us: int, window: Window) -> str:
    unit = KINDS[window.profile.kind].unit
    if unit != MS:
        rate = cpu_us * 1e6 / window.span_us if window.span_us else cpu_us
        return f"{weight_text(rate, unit)}{'/s' if window.span_us else ''}"
    if not window.span_us:
        return f"{cpu_us / 1000:,.1f} ms" if cpu_us else "0.0 %"
    share = 100 * cpu_us / window.span_us
    return f"{share:.1f} %" if share < 9.95 else f"{share:.0f} %"


def json_of(window: Window, view: View, *, reason: str = "") -> dict[str, Any]:
    functions, threads = function_rows(window, view), thread_rows(window, view)
    return {
        "type": "isoscope.top",
        **({"kind": window.profile.kind} if window.profile.is_many else {}),
        "weight": CPU if window.by_time else SAMPLES,
        "spanMicros": window.span_us,
        "sampleCount": sum(row.count for row in threads),
        "lost": dict(window.profile.lost),
        "functions": [
            {
                "name": row.function.name,
                "library": row.function.library.name if row.function.library else "",
                "self": row.self_count,
                "total": row.total_count,
                "selfMicros": row.self_us,
                "totalMicros": row.total_us,
            }
            for row in functions
        ],
        "threads": [
            {
                "tid": row.thread.tid,
                "name": row.thread.name,
                "process": row.thread.process.id,
                "samples": row.count,
                "cpuMicros": row.cpu_us,
                "hottest": row.hottest.name if row.hottest else "",
            }
            for row in threads
        ],
        **({"reason": reason} if reason else {}),
    }
