"""The short form of `./dev bench correctness`: known figures, within their bounds."""

from __future__ import annotations

import pytest

import accuracy
from harness import default_timer, measured

SECONDS = 2.0  # of samples at the asked rate
CPU_TIMER_SECONDS = 4.0  # the kernel's tick makes 400 samples of them, and more
MEASURES = [accuracy.known_shares, accuracy.equal_threads, accuracy.kernel_time,
            accuracy.aliasing]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
@measured
def test_what_is_known_is_what_is_shown(measure):
    if measure is accuracy.aliasing and not default_timer().is_trap:
        pytest.skip("the kernel's own tick makes ours, and nothing moves it")
    seconds = SECONDS / default_timer().kept
    missed = [row for row in measure(seconds) if not row.good]
    assert not missed


@measured
def test_the_cpu_timer_sees_the_kernel_also_where_perf_may_not():
    missed = [row for row in accuracy.kernel_time(CPU_TIMER_SECONDS, "cpu") if not row.good]
    assert not missed
