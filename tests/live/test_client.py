"""Both clients against a real service; the Dart VM, where there is one, is in tests/conformance."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from harness import Client, profiled, service_of, workload

import isoscope


@pytest.fixture(scope="module")
def service():
    with profiled([workload("forks")]) as service:
        yield service


def told(profile):
    return Counter(
        (row.time_us, row.thread.process.id, row.thread.tid, row.weight_us, row.user_tag, row.state,
         row.whole, tuple((f.function.id, f.line, f.inlined) for f in profile.stack(row.node)))
        for row in profile.samples()
    )  # fmt: skip


def test_a_profile_is_what_the_lists_say(service):
    with Client(service.uri) as client:
        profile = client.profile()
        lists = isoscope.Profile()
        for process in client.processes():
            lists.add(process, client.cpu_samples(process))
        one_by_one = client.profile(processes=client.processes())
    assert len(profile.processes) > 1
    assert told(profile) == told(lists) == told(one_by_one)
    assert (profile.period_us, profile.lost) == (lists.period_us, lists.lost)
    assert profile.lost == one_by_one.lost


def test_the_asyncio_client_says_the_same(service):
    async def read():
        async with isoscope.AsyncClient(service.uri) as client:
            return await asyncio.gather(client.profile(), client.processes(), client.flags())

    profile, processes, flags = asyncio.run(asyncio.wait_for(read(), 60))
    with Client(service.uri) as client:
        assert told(profile) == told(client.profile())
        assert (processes, flags) == (client.processes(), client.flags())


def test_after_a_reconnection_streams_and_followers_go_on(service):
    with isoscope.Client(service.uri) as client:
        client.listen("VM")
        updates = client.samples_table(count=5)
        first = next(updates)
        client.reconnect()
        second = next(updates)
        assert not second.reset and len(second)
        assert first.samples[-1].timestamp_us != second.samples[-1].timestamp_us
        client.set_flag("profile_period", "2000")
        assert client.next_event("VM", timeout_s=20).event["kind"] == "VMFlagUpdate"
        client.set_flag("profile_period", "1000")


def test_events_come_to_the_asyncio_client():
    async def listen(uri):
        async with isoscope.AsyncClient(uri) as client:
            async for event in client.events("Profiler", timeout_s=20):
                if event.event["kind"] == "_SamplesAvailable":
                    return await client.profile()

    with service_of([workload("spin_two_to_one"), "3"]) as service:
        assert len(asyncio.run(asyncio.wait_for(listen(service.uri), 60))) > 0


def test_a_wrong_token_is_refused_in_both(service):
    uri = service.uri.rsplit("/", 2)[0] + "/AAAAAAAAAAAAAAAAAAAAAA==/"
    with pytest.raises(isoscope.CannotConnect, match="refuses the token"):
        isoscope.Client(uri)
    with pytest.raises(isoscope.CannotConnect, match="refuses the token"):
        asyncio.run(isoscope.AsyncClient(uri).connect())
