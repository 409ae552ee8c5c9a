"""The table form of _getCpuSamples: what followed along equals what a list tells at the end."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from harness import Client, profiled, service_of, until, workload

PYTHON = ["/usr/bin/python3", "-c", "import ast\nfor i in range(60): ast.parse(open(ast.__file__).read())"]
PROGRAMS = {
    "threads": [workload("threads")],
    "tags": [workload("cooperates"), "tags", "0.5"],
    "forks": [workload("forks")],
    "python": PYTHON,
}


def as_told(samples, tags=True):
    """Each sample as plain values, whichever reply it comes from."""
    return Counter(
        (
            sample.timestamp_us,
            sample.tid,
            tuple(function.id for function in sample.stack),
            sample.lines,
            sample.inlined,
            sample.whole,
            sample.user_tag if tags else "",
        )
        for sample in samples
    )


def listed(client):
    return itertools.chain.from_iterable(
        samples.samples
        for process in client.processes()
        if (samples := client.cpu_samples(process))
    )


def drained(updates):
    """All there is by now, of a program that has ended."""
    samples = []
    for update in updates:
        assert not update.reset
        samples += update.samples
        if not update.samples and not update.more:
            return samples


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_followed_along_adds_up_to_the_list(program):
    with service_of(PROGRAMS[program]) as service, Client(service.uri) as client:
        updates = client.samples_table()
        first = next(updates).samples
        until(lambda: first.extend(next(updates).samples) or len(first) > 20, "the first samples")
        service.wait_for_end()
        told = as_told(first + drained(updates), tags=False)  # threads get their names late
        assert told == as_told(listed(client), tags=False)
        assert as_told(drained(client.samples_table())) == as_told(listed(client))


ATTEMPTS = 8  # names may be found before anybody asks: then nothing comes later


def test_names_that_come_later_are_told_to_who_did_not_wait():
    assert any(names_came_later() for _ in range(ATTEMPTS))


def names_came_later() -> bool:
    """Of one run: what was told without names, and with those that came later, is what is told at its end."""
    with service_of(PYTHON) as service, Client(service.uri) as client:
        updates, samples, names = client.samples_table(available=True), [], {}

        def follow():
            update = next(updates)
            assert not update.reset
            samples.extend(update.samples)
            names.update(update.renamed)
            return update

        until(lambda: follow() and len(samples) > 20, "the first samples")
        service.wait_for_end()
        list(listed(client))  # waits for names: from here on all is known
        follow()

        def outer(sample):
            """By today's names, without what is inlined: some learn that later than their name."""
            inlined = sample.inlined or (False,) * len(sample.stack)
            functions = [f for f, inner in zip(sample.stack, inlined) if not inner]
            stack = tuple(names.get(f.id, (f,))[-1].name for f in functions)
            return sample.timestamp_us, sample.tid, stack

        assert Counter(map(outer, samples)) == Counter(map(outer, listed(client)))
        unnamed = any("+0x" in function.name for sample in samples[:20] for function in sample.stack)
        return unnamed and bool(names)


def test_a_page_at_a_time_is_the_same():
    with profiled([workload("threads")]) as service, Client(service.uri) as client:
        in_pages = drained(client.samples_table(count=7))
        assert as_told(in_pages) == as_told(drained(client.samples_table()))


def test_the_same_cursor_gives_the_same_again_and_nothing_twice():
    with profiled([workload("threads")]) as service, Client(service.uri) as client:
        first = client.call("_getCpuSamples", form="table", count=10)
        second = client.call("_getCpuSamples", form="table", cursor=first["next"])
        assert second == client.call("_getCpuSamples", form="table", cursor=first["next"])
        assert second["functions"] == second["frames"] == second["libraries"] == []
        (tree,) = second["trees"]
        assert tree["nodes"] == {"callers": [], "frames": []} and tree["threads"] == []
        third = client.call("_getCpuSamples", form="table", cursor=second["next"])
        assert third["sampleCount"] == 0 and third["trees"] == []


def test_clearing_resets_every_cursor():
    with profiled([workload("threads")]) as service, Client(service.uri) as client:
        updates = client.samples_table()
        assert next(updates).samples
        (process,) = client.processes()
        client.call("clearCpuSamples", isolateId=process.id)
        update = next(updates)
        assert update.reset and not update.samples
        assert not next(updates).reset


def test_one_process_of_several():
    with profiled(PROGRAMS["forks"]) as service, Client(service.uri) as client:
        for process in client.processes():
            if samples := client.cpu_samples(process):
                told = as_told(drained(client.samples_table(process)))
                assert told == as_told(samples.samples)


def test_a_table_is_smaller_than_the_list():
    with profiled([workload("threads")]) as service, Client(service.uri) as client:
        table = len(json.dumps(client.call("_getCpuSamples", form="table")))
        assert table < len(json.dumps(client.call("_getCpuSamples"))) / 3


def test_listeners_hear_of_new_samples_a_few_times_a_second():
    with service_of([workload("spin_two_to_one"), "3"]) as service, Client(service.uri) as client:
        client.call("streamListen", streamId="Profiler")
        told = []
        while len(told) < 3:
            event = client.next_event()
            if event.event["kind"] == "_SamplesAvailable":
                told.append(event.event)
        times = [event["timestamp"] for event in told]
        assert all(later - before >= 150 for before, later in itertools.pairwise(times))
        assert all(event["_samples"] > 0 for event in told)
