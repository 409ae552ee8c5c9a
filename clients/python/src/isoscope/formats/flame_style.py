"""What the pictures of flame graphs have in common: words, colours by library, what is worth saying."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Optional

from ..model import KINDS, MS
from ..profile import CPU, Profile
from ..text import counted, weight_text
from ..trees.calltree import call_tree
from ..trees.flame import Box, Layout, layout
from .colours import OTHERS, PALETTE, shaded, slots_of, step_of
from .common import MICROS, SAMPLES, chosen

_WORTH_A_WORD = 0.01  # of all samples missing or cut


@dataclass
class Picture:
    """A flame graph with all that is written on it."""

    boxes: list[Optional[Box]]  # callers first, then from left to right; None: all of it, row 0
    rows: int
    total: int
    title: str
    summary: list[str]  # the first line says what was seen, others what is missing
    unit: str  # SAMPLES or MICROS
    libraries: list[tuple[str, int, str]]  # name, self, colour; the rest is OTHERS
    weights: str = MS  # MICROS are weights of this unit

    def colour(self, library: str) -> str:
        return next((c for name, _, c in self.libraries if name == library), OTHERS)

    def fill(self, box: Box) -> str:
        step = step_of(self.own(box), box.width)
        return shaded(self.colour(box.node.library), box.node.name, step)

    def row(self, box: Box) -> int:
        return box.row + (self.boxes[0] is None)

    def own(self, box: Box) -> int:
        """Of the width, what no callee has."""
        return _own(box, self.unit)

    def value(self, value: int) -> str:
        """As "1,234 samples", "1.23 s", "1.2 MiB" or "1,234"."""
        if self.unit == MICROS:
            return _weight(value, self.weights)
        return counted(value, "sample")

    def share(self, value: int) -> str:
        return f"{100 * value / self.total:.1f} %" if self.total else "0 %"


def picture(profile: Profile, weight: str) -> Picture:
    weight = chosen(profile, weight)
    drawn = layout(call_tree(profile, weight=CPU if weight == MICROS else SAMPLES))
    # Of two boxes that begin at one place the upper one is the caller.
    in_order = sorted(drawn.boxes(), key=lambda box: (box.start, box.row))
    boxes: list[Optional[Box]] = [*in_order]
    rows = len(drawn.rows)
    if rows == 0 or len(drawn.rows[0]) != 1:  # several processes, or a CPU time of 0
        boxes.insert(0, None)
        rows += 1
    libraries = _libraries(drawn, weight)
    return Picture(
        boxes, rows, drawn.width, title_of(profile), _summary(profile), weight, libraries, KINDS[profile.kind].unit
    )


def _weight(weight: int, unit: str) -> str:
    return duration(weight) if unit == MS else weight_text(weight, unit)


def duration(us: int) -> str:
    if us >= 1_000_000:
        return f"{us / 1e6:,.2f} s"
    return f"{us / 1e3:,.1f} ms" if us >= 1000 else f"{us} us"


def _own(box: Box, unit: str) -> int:
    return box.node.self_us if unit == MICROS else box.node.self_count


def _libraries(drawn: Layout, unit: str) -> list[tuple[str, int, str]]:
    """Those with a colour of their own, the busiest first."""
    selves: Counter[str] = Counter()
    for box in drawn.boxes():
        if box.node.library:
            selves[box.node.library] += _own(box, unit)
    busiest = sorted(selves.items(), key=lambda entry: (-entry[1], entry[0]))
    slots = slots_of(selves)
    return [(name, own, PALETTE[slots[name]]) for name, own in busiest if name in slots]


def title_of(profile: Profile) -> str:
    labels = [process.label for process in profile.processes]
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return profile.meta.get("program") or ", ".join(labels[:3]) + more or "profile"


def _summary(profile: Profile) -> list[str]:
    count = len(profile)
    parts = [counted(count, "sample")]
    if profile.is_many:
        amount = _weight(sum(profile.weights_us), KINDS[profile.kind].unit)
        parts.append(f"{amount} {KINDS[profile.kind].amount}")
    elif cpu_us := sum(profile.weights_us):
        parts.append(f"{duration(cpu_us)} of CPU time")
    if profile.period_us and not profile.is_many:
        parts.append(f"one per {duration(profile.period_us)}")
    if extent := profile.last_us - profile.first_us:
        parts.append(f"over {duration(extent)}")
    threads = len(set(profile.sample_threads))
    parts.append(counted(threads, "thread"))
    lines = [" · ".join(parts)]
    lost = sum(profile.lost.values())
    if lost >= max(1, _WORTH_A_WORD * count):
        lines.append(f"{lost:,} samples were lost")
    if len(profile.cut) >= max(1, _WORTH_A_WORD * count):
        lines.append(f"{100 * len(profile.cut) / count:.1f} % of the stacks are truncated: they do not "
                     "reach the thread's start")
    return lines
