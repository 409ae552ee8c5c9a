"""Perfetto traces, as protoc reads them: the samples that getCpuSamples tells, with all their names."""

from __future__ import annotations

import base64
from collections import Counter

import pytest
from harness import Client, profiled, workload
from perfetto_trace import decoded

MONOTONIC = 3
CLEARED, NEEDS_STATE = 1, 2


class Reading:
    """What a viewer makes of the packets, in their order."""

    def __init__(self, packets: list[dict]) -> None:
        self.tables: dict = {}
        self.processes: dict = {}
        self.threads: dict = {}
        self.samples: list = []  # (time_us, tid, names, leaf first)
        self.stacks_told: list = []
        assert packets[0]["sequence_flags"] == [CLEARED]
        assert packets[0]["clock_snapshot"][0]["primary"] == [MONOTONIC]
        for packet in packets[1:]:
            assert packet["sequence_flags"] == [NEEDS_STATE]
            for data in packet.get("interned_data", []):
                self.intern(data)
            for track in packet.get("track", []):
                self.name(track)
            for sample in packet.get("perf_sample", []):
                self.add(packet, sample)

    def intern(self, data: dict) -> None:
        for table, entries in data.items():
            for entry in entries:
                place = self.tables.setdefault(table, {})
                assert entry["iid"][0] not in place
                place[entry["iid"][0]] = entry
                if table == "callstacks":
                    self.stacks_told.append(tuple(entry["frames"]))

    def name(self, track: dict) -> None:
        for process in track.get("process", []):
            self.processes[process["pid"][0]] = process["name"][0]
        for thread in track.get("thread", []):
            self.threads[thread["tid"][0]] = thread["name"][0]

    def function(self, frame: int) -> str:
        entry = self.tables["frames"][frame]
        mapping = self.tables["mappings"][entry["mapping"][0]]
        assert self.tables["mapping_paths"][mapping["paths"][0]]["text"][0]
        return self.tables["function_names"][entry["function"][0]]["text"][0]

    def add(self, packet: dict, sample: dict) -> None:
        assert packet["clock"] == [MONOTONIC]
        stack = self.tables["callstacks"][sample["callstack"][0]]["frames"]
        names = tuple(self.function(frame) for frame in reversed(stack))
        assert packet["timestamp"][0] % 1000 == 0
        self.samples.append((packet["timestamp"][0] // 1000, sample["tid"][0], names))


@pytest.fixture(scope="module")
def service():
    with profiled([workload("threads")]) as service:
        yield service


def listed(client, process) -> Counter:
    """As getCpuSamples tells them: as often as the periods they stand for, as the trace does."""
    reply = client.call("getCpuSamples", isolateId=process.id)
    names = [function["function"]["name"] for function in reply["functions"]]
    return Counter(
        (sample["timestamp"], sample["tid"], tuple(names[one] for one in sample["stack"]))
        for sample in reply["samples"]
    )


def test_samples_are_those_of_the_list(service):
    with Client(service.uri) as client:
        process = client.processes()[0]
        reply = client.call("getPerfettoCpuSamples", isolateId=process.id)
        reading = Reading(decoded(reply["samples"]))
        assert reply["sampleCount"] == len(reading.samples) > 0
        assert Counter(reading.samples) == listed(client, process)
        assert process.name in reading.processes.values()
        assert {tid for _, tid, _ in reading.samples} <= set(reading.threads)


def test_a_stack_is_told_once(service):
    with Client(service.uri) as client:
        reply = client.call("getPerfettoCpuSamples", isolateId=client.processes()[0].id)
        reading = Reading(decoded(reply["samples"]))
        assert len(set(reading.stacks_told)) == len(reading.stacks_told) < len(reading.samples)


def test_the_timeline_names_processes_and_threads(service):
    with Client(service.uri) as client:
        reading = Reading(decoded(client.call("getPerfettoVMTimeline")["trace"]))
        assert client.processes()[0].name in reading.processes.values()
        assert not reading.samples


def test_the_timeline_with_samples_has_those_of_the_window(service):
    with Client(service.uri) as client:
        process = client.processes()[0]
        samples = client.call("getCpuSamples", isolateId=process.id)["samples"]
        times = sorted(sample["timestamp"] for sample in samples)
        first, last = times[len(times) // 4], times[len(times) // 2]
        trace = client.call(
            "getPerfettoVMTimelineWithCpuSamples",
            timeOriginMicros=first,
            timeExtentMicros=last - first,
        )["trace"]
        told = [time_us for time_us, _, _ in Reading(decoded(trace)).samples]
        window = client.call(
            "getCpuSamples",
            isolateId=process.id,
            timeOriginMicros=first,
            timeExtentMicros=last - first,
        )["samples"]
        assert sorted(told) == sorted(sample["timestamp"] for sample in window) != []


def test_traces_may_be_put_one_behind_the_other(service):
    with Client(service.uri) as client:
        timeline = base64.b64decode(client.call("getPerfettoVMTimeline")["trace"])
        samples = base64.b64decode(
            client.call("getPerfettoCpuSamples", isolateId=client.processes()[0].id)["samples"]
        )
        packets = decoded(base64.b64encode(timeline + samples).decode())
        cleared = [i for i, packet in enumerate(packets) if packet["sequence_flags"] == [CLEARED]]
        assert len(cleared) == 2
        assert Reading(packets[cleared[1] :]).samples
