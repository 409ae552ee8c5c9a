"""The short form of `./dev bench correctness`: known figures, within their bounds."""

from __future__ import annotations

import pytest

import accuracy
from harness import default_timer

SECONDS = 2.0  # of samples at the asked rate
MEASURES = [accuracy.known_shares, accuracy.equal_threads, accuracy.kernel_time,
            accuracy.aliasing]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_what_is_known_is_what_is_shown(measure):
    seconds = SECONDS / default_timer().kept
    missed = [row for row in measure(seconds) if not row.good]
    assert not missed
