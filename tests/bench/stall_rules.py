"""What other monitors say of a dispatch whose parts are known: their rules, as far as they are known, over the
program's own times. It is not their code.

    for rule in RULES:
        rule.verdict(step, limit_ms)        # '-': nothing

Constants are those of their sources or documents. A monitor whose limit can be chosen gets the one that isoscope
has; one that looks in a period of its own is asked for each phase, and the commonest answer counts.
"""

from __future__ import annotations

from collections import Counter
from typing import Callable, NamedTuple, Optional

from stall_loop import Step

MS = 1_000_000


def running_at(step: Step, after_ns: int) -> Optional[str]:
    """The part that runs so long after the dispatch began."""
    at = step.begin_ns + after_ns
    return next((part.name for part in step.parts if part.begin_ns <= at < part.end_ns), None)


def whole_ns(step: Step) -> int:
    return step.end_ns - step.begin_ns


def commonest(verdicts: list[str]) -> str:
    return Counter(verdicts).most_common(1)[0][0]


def block_canary(step: Step, _limit_ms: int) -> str:
    """When it is over, and only if it took longer than 1,000 ms: the stacks at 0.8 of that, and from there each
    1,000 ms, none preferred. Which of them is to blame is for the reader."""
    threshold = 1000 * MS
    if whole_ns(step) <= threshold:
        return "-"
    seen = []
    at = threshold * 4 // 5
    while at < whole_ns(step):
        seen += filter(None, [running_at(step, at)])
        at += threshold
    return f"after it: {', '.join(dict.fromkeys(seen))}"


def pcs_at(step: Step, after_ns: int) -> Optional[str]:
    """As Matrix compares tops: by address. Of two_places each of its two loops is another, 3 ms each."""
    name = running_at(step, after_ns)
    return f"{name}+{after_ns // (3 * MS) % 2}" if name == "two_places" else name


def longest_run(ring: list[Optional[str]]) -> int:
    """The place of the entry whose run of equals is the longest so far, the latest of equals."""
    runs = [0]
    for before, top in zip(ring, ring[1:]):
        runs.append(runs[-1] + 1 if top == before else 0)
    return max(range(len(runs)), key=lambda place: (runs[place], place))


def matrix(step: Step, _limit_ms: int) -> str:
    """Each second: has it run for more than 2 s? Then of the last 20 stacks, 50 ms apart, that with the longest run
    of one top address, the latest of equals."""
    verdicts = []
    for phase in range(0, 1000, 50):
        check = next((at for at in range(phase, whole_ns(step) // MS, 1000) if at > 2000), None)
        if check is None:
            verdicts.append("-")
            continue
        ring = [pcs_at(step, at * MS) for at in range(check - 19 * 50, check + 1, 50)]
        best = longest_run(ring)
        verdicts.append(f"while it lasts, at {round(check, -3) / 1000:.0f} s: {(ring[best] or '?').split('+')[0]}")
    return commonest(verdicts)


def envoy(step: Step, _limit_ms: int) -> str:
    """A touch by the loop is missed for 200 ms: counted. No stack."""
    return "a miss is counted" if whole_ns(step) > 200 * MS else "-"


def glommio(step: Step, limit_ms: int) -> str:
    """The queue is 10 ms over its expected time: a signal, and the stack of that moment in its handler."""
    at = (limit_ms + 10) * MS
    if whole_ns(step) <= at:
        return "-"
    return f"one stack: {running_at(step, at)}"


class Rule(NamedTuple):
    name: str
    verdict: Callable[[Step, int], str]


RULES = [Rule("BlockCanary", block_canary), Rule("Matrix (iOS)", matrix), Rule("Envoy's watchdog", envoy),
         Rule("glommio", glommio)]
