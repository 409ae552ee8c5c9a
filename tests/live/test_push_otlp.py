"""`--push otlp+http://...`: OTLP profiles at a receiver, and receivers in trouble."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from harness import BUILD, Client, attached, end, service_of, until, workload
from mock_engine import Answer, Engine, Request, dead_port
from otlp import Otlp, log_records
from pulled import sums_of
from pushing import SPIN, build_of, pushed, waiting, words

PATH = "/v1development/profiles"
# ExportProfilesServiceResponse: partial_success {rejected_profiles: 2, error_message: "too deep"}
PARTIAL = b"\x0a\x0c\x08\x02\x12\x08too deep"


@pytest.fixture
def queue(tmp_path) -> Path:
    return tmp_path / "queue"


@pytest.fixture
def engine():
    with Engine() as engine:
        yield engine


def otlp(request: Request) -> Otlp:
    return Otlp(request.content)


def url(engine: Engine) -> str:
    return f"otlp+{engine.url}"


def sums(requests: list[Request], kind: str, attribute: str = "") -> tuple[Counter, Counter]:
    own, total = Counter(), Counter()
    for request in map(otlp, requests):
        for profile in request.profiles:
            if profile.type[0] == kind:
                one, other = profile.sums(attribute)
                own += one
                total += other
    return own, total


def test_all_windows_together_have_the_samples_of_the_python_client(queue, engine):
    with service_of([SPIN, "3"], *words(url(engine), queue)) as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            profile = client.profile()
        counts = sums_of(profile, lambda _: 1)
        until(lambda: sum(sums(engine.requests, "samples")[0].values()) >= sum(counts[0].values()), "the last window")
    assert len(engine.requests) >= 3
    assert sums(engine.requests, "samples") == counts
    rounding = len(profile) * 500
    for name, us in sums_of(profile, profile.weights_us.__getitem__)[1].items():
        assert abs(sums(engine.requests, "cpu")[1][name] - us * 1000) <= rounding
    windows = [otlp(one).profiles[0] for one in engine.requests]
    for before, after in zip(windows, windows[1:]):
        assert after.time_ns - before.time_ns == pytest.approx(before.duration_ns, abs=2_000_000)
    assert waiting(queue) == []


def test_a_request_is_as_the_protocol_wants_it_and_its_resource_is_named(queue, engine):
    begun = time.time()
    done = pushed(url(engine), queue, "--push-label", "service.version=7", "--push-label", "env=test")
    assert (done.returncode, done.stderr) == (0, "")
    (first, *_) = engine.requests
    assert (first.path, first.query) == (PATH, {})
    assert first.headers["Content-Type"] == "application/x-protobuf"
    assert first.headers["Content-Encoding"] == "gzip"
    request = otlp(first)
    resource = request.resource
    for where in ("container.id", "container.runtime", "k8s.pod.uid", "systemd.unit"):  # as this machine runs tests
        assert resource.pop(where, "unknown")
    assert resource.pop("process.pid") > 0
    assert resource == {"service.name": "spin_two_to_one", "service.version": "7", "env": "test",
                        "host.name": os.uname().nodename, "process.executable.build_id.gnu": build_of(SPIN)}
    assert request.scope[0] == "isoscope"
    cpu, samples = request.profiles  # amounts first: the first one is what readers show
    assert (cpu.type, samples.type) == (("cpu", "nanoseconds"), ("samples", "count"))
    assert cpu.period_type == samples.period_type == ("cpu", "nanoseconds") and cpu.period == 1_000_000
    assert begun - 1 < cpu.time_ns / 1e9 < cpu.time_ns / 1e9 + cpu.duration_ns / 1e9 < time.time() + 1
    ids = [one.id for request in engine.requests for one in otlp(request).profiles]
    assert len(set(ids)) == len(ids)
    assert cpu.attributes["pprof.profile.comment"][0].startswith("isoscope ")
    assert {key for _, attributes, _ in cpu.samples for key in attributes} == {"process.executable.name"}
    assert request.mappings()[SPIN] == {"process.executable.build_id.gnu": build_of(SPIN)}


def test_zstd_has_the_same_profile_in_it(queue, engine):
    with service_of([SPIN, "1.5"], *words(url(engine), queue, "--push-compression", "zstd")) as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            counts = sums_of(client.profile(), lambda _: 1)
        until(lambda: sum(sums(engine.requests, "samples")[0].values()) >= sum(counts[0].values()), "the last window")
    assert {one.headers["Content-Encoding"] for one in engine.requests} == {"zstd"}
    assert sums(engine.requests, "samples") == counts


@pytest.mark.parametrize("status", [400, 415])
def test_a_receiver_that_does_not_read_zstd_gets_gzip_at_once_and_nothing_is_lost(queue, status):
    with Engine(Answer(status, unread=frozenset({"zstd"}))) as engine:
        done = pushed(url(engine), queue, "--push-compression", "zstd")
    packed, *others = engine.requests
    assert done.returncode == 0 and done.stderr.count("does not read zstd: profiles go with gzip") == 1
    assert packed.headers["Content-Encoding"] == "zstd" and packed.content == others[0].content
    assert {one.headers["Content-Encoding"] for one in others} == {"gzip"}
    assert waiting(queue) == [] and "refused" not in done.stderr


def test_what_no_packing_makes_good_is_refused_and_counted_once(queue):
    with Engine(Answer(400)) as engine:
        done = pushed(url(engine), queue, "--push-compression", "zstd")
    packings = [one.headers["Content-Encoding"] for one in engine.requests]
    assert packings == ["zstd", "gzip"] * (len(packings) // 2)
    assert re.search(rf"0 profiles sent; 0 wait in .*, {len(packings) // 2} refused", done.stderr)


def test_each_kind_that_is_sampled_is_a_request_of_its_own(queue, engine):
    pushed(url(engine), queue, "--alloc=4096", command=[workload("allocates"), "leaks"])
    pushed(url(engine), queue, "--lock=10", command=[workload("waits_for_locks"), "kinds"])
    types = {one.type for request in engine.requests for one in otlp(request).profiles}
    assert types >= {("cpu", "nanoseconds"), ("samples", "count"), ("alloc_space", "bytes"), ("alloc_objects", "count"),
                     ("inuse_space", "bytes"), ("contentions", "count"), ("delay", "nanoseconds")}


def test_waiting_threads_are_off_cpu_for_as_long_as_they_wait(queue, engine):
    begun = time.monotonic()
    pushed(url(engine), queue, "--mode", "wall", "--period", "5000", command=["sleep", "2"])
    lasted = time.monotonic() - begun
    profiles = [one for request in engine.requests for one in otlp(request).profiles]
    off_cpu = [one for one in profiles if one.type == ("off_cpu", "nanoseconds")]
    assert off_cpu and all(one.period_type == ("", "") for one in off_cpu)
    slept = sum(sum(one.sums()[0].values()) for one in off_cpu) / 1e9
    assert 1 <= slept <= lasted
    # A sample that slept is no CPU time: receivers multiply samples by the period.
    assert sum(sums(engine.requests, "samples")[0].values()) - slept / 0.005 < 50


def test_processes_are_told_apart_and_tags_up_to_a_bound(queue, engine):
    script = "import sys\nfor _ in range(3000000): pass"
    pushed(url(engine), queue, command=["sh", "-c", f"{SPIN} 0.5; /usr/bin/python3 -c '{script}'"])
    names = sums(engine.requests, "samples", "process.executable.name")[1]
    assert names["spin_two_to_one"] > 0 and any(name.startswith("python3") for name in names)
    interpreted = [attributes for request in engine.requests
                   for attributes in map(otlp(request).attributes, otlp(request).dictionary["location_table"][1:])]
    assert {"native", "cpython"} <= {one["profile.frame.type"] for one in interpreted if one}


def test_a_program_that_runs_already_is_pushed(queue, engine):
    program = subprocess.Popen([SPIN, "30"])
    try:
        with attached(program.pid, *words(url(engine), queue)):
            until(lambda: engine.requests, "a profile")
        request = otlp(engine.requests[0])
        assert request.resource["process.pid"] == program.pid
        assert request.profile("samples").sums()[1]["main"] > 0
    finally:
        end(program)


def test_stalls_are_logs_once_each_at_their_end(queue, engine):
    with service_of([str(BUILD / "examples/loop"), "900"], *words(url(engine), queue)) as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            stalls = [one for one in client.stalls() if one["told"]]
        assert stalls
        logs = lambda: [one for one in engine.requests if one.path == "/v1/logs"]  # noqa: E731
        records = until(lambda: len(found := [record for one in logs() for record in log_records(
            gzip.decompress(one.body))]) >= len(stalls) and found, "the stalls")
    assert logs()[0].headers["Content-Type"] == "application/x-protobuf"
    assert sorted(one.attributes["isoscope.stall.duration_ms"] for one in records) == sorted(
        one["durationMicros"][0] // 1000 for one in stalls)
    for record in records:
        assert record.event == "isoscope.stall" and record.severity in ((13, "WARN"), (17, "ERROR"))
        assert 0 < record.observed_ns - record.time_ns < 60e9 and abs(time.time() - record.time_ns / 1e9) < 600
        assert record.resource["service.name"] == "loop"
        assert str(record.body).startswith("loop (") and "took" in str(record.body)
        assert record.attributes["process.executable.name"] == "loop"
        assert record.attributes["code.function.name"] in str(record.attributes["code.stacktrace"])


# Receivers in trouble


def test_a_dead_receiver_costs_nothing_and_a_later_run_sends_what_waits(queue):
    port = dead_port()
    address = f"otlp+http://127.0.0.1:{port}"
    done = pushed(address, queue, command=("sh", "-c", f"{SPIN} 1.5; exit 3"))
    assert done.returncode == 3 and "profiles wait in" in done.stderr
    waited = waiting(queue)
    assert len(waited) >= 2
    with Engine(port=port) as engine:
        pushed(address, queue, command=("true",))
        times = [otlp(one).profiles[0].time_ns for one in engine.requests]
    assert len(times) >= len(waited) and times == sorted(times)
    assert waiting(queue) == []


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_receiver_gets_the_same_profile_again(queue, status):
    with Engine(Answer(status, {"Retry-After": "2"})) as engine, service_of([SPIN, "1000"], *words(url(engine), queue)):
        until(lambda: engine.requests, "a profile")
        engine.answer = Answer()
        until(lambda: len(engine.requests) > 1, "another try")
        first, second = engine.requests[:2]
        assert second.at - first.at >= 2 and second.body == first.body
        until(lambda: not waiting(queue), "the rest")


@pytest.mark.parametrize("status, told", [
    (400, "answers with status 400: no such field"),
    (500, "answers with status 500: no such field"),
    (415, "answers with status 415: no such field"),
])  # fmt: skip
def test_what_is_refused_is_not_tried_again_and_the_receivers_reason_is_said(queue, status, told):
    body = b"\x08\x03\x12\x0dno such field"
    with Engine(Answer(status, body=body)) as engine:
        done = pushed(url(engine), queue)
    assert done.stderr.count(told) == 1 and waiting(queue) == []
    assert re.search(rf", {len(engine.requests)} refused", done.stderr)


def test_a_redirect_is_not_followed(queue):
    with Engine() as elsewhere, Engine(Answer(307, {"Location": f"{elsewhere.url}{PATH}"})) as engine:
        done = pushed(url(engine), queue)
        assert engine.requests and not elsewhere.requests
    assert "answers with status 307: it is elsewhere; give that address" in done.stderr


def test_what_a_receiver_took_and_left_out_is_counted_and_said(queue):
    with Engine(Answer(200, {"Content-Type": "application/x-protobuf"}, PARTIAL)) as engine:
        done = pushed(url(engine), queue)
    assert "answers with status 200: too deep. Such profiles are dropped" in done.stderr
    assert re.search(rf"0 profiles sent; 0 wait in .*, {len(engine.requests)} refused", done.stderr)


@pytest.mark.parametrize("raw", [b"", b"\0\xff garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"],
                         ids=["nothing", "bytes", "half a body"])
def test_an_answer_that_is_none_is_trouble_and_no_loss(queue, raw):
    with Engine(Answer(raw=raw)) as engine, service_of([SPIN, "1000"], *words(url(engine), queue)):
        until(lambda: engine.requests, "a profile")
        engine.answer = Answer()
        until(lambda: any(one.body == engine.requests[0].body for one in engine.requests[1:]), "the same again")


def test_a_silent_receiver_holds_nothing_up(queue):
    with Engine(Answer(seconds=1000)) as engine:
        begun = time.monotonic()
        done = pushed(url(engine), queue)
        assert time.monotonic() - begun < 28  # the request itself would last for 30 seconds
    assert done.returncode == 0
    assert waiting(queue) and re.search(r"[1-9] wait in", done.stderr)


def test_a_mad_body_with_a_good_status_is_taken_for_an_answer(queue):
    with Engine(Answer(200, body=os.urandom(2000).replace(b"\x0a", b"x"))) as engine:
        done = pushed(url(engine), queue)
    assert (done.returncode, done.stderr) == (0, "")
    assert engine.requests and waiting(queue) == []
