"""One finding: what is wrong, what shows it, what to do, and how to see for oneself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .chance import Share
from .commands import Check
from .places import Place
from .words import Sentence

CPU, LOCK, STALL, ALLOCATION, IO, FAULT = KINDS = ("cpu", "lock", "stall", "allocation", "io", "fault")
SAMPLES_LEAST = 30  # fewer prove nothing


@dataclass(frozen=True)
class Finding:
    kind: str  # of KINDS
    title: Sentence
    share: Share
    of: str  # what the share is of
    place: Optional[Place]
    path: tuple[str, ...]  # functions, the outermost first
    evidence: tuple[Sentence, ...]
    cause: Sentence
    next: Sentence
    check: Check
    rank: float  # the larger, the earlier it is told


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"
