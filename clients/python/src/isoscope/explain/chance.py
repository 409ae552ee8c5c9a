"""How exact a share of samples is: 95 %, as if each sample were drawn by itself (a binomial's).

Wilson's range, which is right for few samples and for shares near 0 and 1, too.
"""

from __future__ import annotations

from math import sqrt
from typing import Iterable, NamedTuple

Z = 1.96  # 19 of 20


class Share(NamedTuple):
    value: float  # 0 to 1
    error: float  # half of the range

    @property
    def least(self) -> float:
        return max(0.0, self.value - self.error)


EXACT_NONE = Share(0.0, 0.0)


def share(part: float, whole: float, samples: float) -> Share:
    """part and whole: weights. samples: that the whole was seen in."""
    if whole <= 0 or samples <= 0:
        return EXACT_NONE
    value = min(1.0, part / whole)
    square = Z * Z / samples
    return Share(value, Z / (1 + square) * sqrt(value * (1 - value) / samples + square / (4 * samples)))


def effective(weights: Iterable[int]) -> float:
    """As many equal samples would say as much (Kish)."""
    total = squares = 0
    for weight in weights:
        total += weight
        squares += weight * weight
    return total * total / squares if squares else 0.0
