"""When to try again to connect.

Units   *_s: seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True)
class Backoff:
    """Pauses that grow, up to a longest one: a service that starts is met soon, one that is away
    for long is not pestered."""

    first_s: float = 0.1
    factor: float = 2.0
    longest_s: float = 5.0
    tries: int = 8  # to connect; 0: until it works

    def __post_init__(self) -> None:
        if self.first_s < 0 or self.factor < 1 or self.longest_s < 0 or self.tries < 0:
            raise ValueError(f"{self}: pauses may not shrink, and nothing may be negative")

    def pauses(self) -> Iterator[float]:
        """One after each try that failed, but the last."""
        pause, tries = self.first_s, 1
        while tries != self.tries:
            yield min(pause, self.longest_s)
            pause, tries = min(pause * self.factor, self.longest_s), tries + 1
