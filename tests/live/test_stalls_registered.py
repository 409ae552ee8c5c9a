"""Loops that a program tells of (loop.h): their names and limits, and what is no stall in them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import pytest
from harness import Client, service_of, until, workload
from stall_loop import Stall, Step, all_stalls, loops, overlap, steps_of, wrong_times

LIMIT_US = 400_000  # the program's own
TRIES = 10
LATE_TRIES, TOLD_S = 4, 20


@contextmanager
def ran(*words: str) -> Iterator[tuple[Client, list[Step]]]:
    """A run that ended, with all said of its last word, which must be a stall. Nobody looked while it lasted, if the
    machine stood still: never so each time."""
    for attempt in reversed(range(LATE_TRIES)):
        with service_of([workload("registered_loop"), *words], "--quiet", stdout=-1) as service:
            service.wait_for_end()
            steps = steps_of(service.process.stdout.read1(1 << 20).decode())
            with Client(service.uri) as client:
                try:
                    until(lambda: (s := stalls_at(client, steps[-1])) and not s[0]["ongoing"], "the last stall", TOLD_S)
                except AssertionError:
                    if attempt:
                        continue
                    raise
                yield client, steps
                return


def stalls_at(client: Client, step: Step) -> list[Stall]:
    return [stall for stall in all_stalls(client) if overlap(stall, step)]


def test_it_has_its_own_name_and_limit():
    with ran("busy:300", "busy:600") as (client, (short, long)):
        (loop,) = loops(client)
        assert (loop["name"], loop["kind"], loop["limits"]["stall"]) == ("jobs", "registered", 400)
        assert loop["dispatches"] == 2 and loop["ended"]
        (stall,) = stalls_at(client, long)
        assert stall["name"] == "jobs" and stall["limitMicros"] == LIMIT_US
        assert wrong_times(stall, long) == ""
        if short.max_us < LIMIT_US:
            assert stalls_at(client, short) == []


@pytest.mark.parametrize("word", ["idle=busy:150,busy:150,busy:150", "progress=busy:150,busy:150,busy:150,busy:150"])
def test_what_rests_or_goes_on_is_no_stall(word):
    for _ in range(TRIES):
        with ran(word, "busy:600") as (client, (step, _last)):
            if max(part.ns for part in step.parts) / 1e3 > 0.7 * LIMIT_US:
                continue  # it had to wait for its processor
            assert stalls_at(client, step) == []
            return
    pytest.skip("the machine was too busy, each time")


def test_dispatches_within_a_dispatch_are_one():
    with ran("nested=busy:250,busy:250") as (client, (step,)):
        (stall,) = stalls_at(client, step)
        assert wrong_times(stall, step) == ""
        assert loops(client)[0]["dispatches"] == 1


def test_a_loop_that_answers_pings_is_watched_by_them():
    """The last job is late. When it began is known to a ping: they come each fifth of the limit."""
    with ran("ping", "busy:100", "lock:1500") as (client, (short, long)):
        (stall,) = stalls_at(client, long)
        assert stall["name"] == "jobs" and stall["cause"] in {"lock", "starved", "host"}
        assert wrong_times(stall, long) == ""
        assert loops(client)[0]["delay"]["count"] > 0
        if short.max_us < LIMIT_US:
            assert stalls_at(client, short) == []
