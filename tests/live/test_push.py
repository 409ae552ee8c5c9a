"""`--push`: profiles of each window at an engine, and engines that are dead, slow, busy, elsewhere or mad."""

from __future__ import annotations

import base64
import email.utils
import json
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from harness import ISOSCOPE, Client, attached, end, service_of, until, workload
from mock_engine import Answer, Engine, Request, dead_port
from pulled import Pulled, sums_of
from pushing import SPIN, build_of, pushed, waiting, words

API = "/push.v1.PusherService/Push"


@pytest.fixture
def queue(tmp_path) -> Path:
    return tmp_path / "queue"


def profile_of(request: Request) -> Pulled:
    return Pulled(request.body)


def sums(requests: list[Request], kind: str) -> tuple[Counter, Counter]:
    """Over all windows."""
    own, total = Counter(), Counter()
    for request in requests:
        one, other = profile_of(request).sums(kind)
        own += one
        total += other
    return own, total


def series(name: str) -> tuple[str, dict[str, str]]:
    """service{a=b,c=d}"""
    service, _, labels = name.rstrip("}").partition("{")
    return service, dict(one.split("=") for one in labels.split(","))


def test_all_windows_together_have_the_samples_of_the_python_client(queue):
    with Engine() as engine, service_of([SPIN, "3"], *words(engine.url, queue)) as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            profile = client.profile()
        counts = sums_of(profile, lambda _: 1)
        until(lambda: sum(sums(engine.requests, "samples")[0].values()) >= sum(counts[0].values()), "the last window")
        requests = engine.requests
    assert len(requests) >= 3
    assert sums(requests, "samples") == counts
    rounding = len(profile) * 500
    for name, us in sums_of(profile, profile.weights_us.__getitem__)[1].items():
        assert abs(sums(requests, "cpu")[1][name] - us * 1000) <= rounding
    windows = [profile_of(one) for one in requests]
    for before, after in zip(windows, windows[1:]):
        assert after.time_ns - before.time_ns == pytest.approx(before.duration_ns, abs=2_000_000)
    assert waiting(queue) == []


def test_ingest_gets_labels_times_and_a_profile_as_the_body(queue):
    with Engine() as engine:
        done = pushed(engine.url, queue, "--push-label", "env=test", "--push-label", "zone=a b")
        (first, *_) = engine.requests
    assert (done.returncode, done.stderr) == (0, "")
    assert first.path == "/ingest"
    assert first.headers["Content-Type"] == "application/octet-stream"
    assert (first.query["format"], first.query["spyName"]) == ("pprof", "isoscope")
    service, labels = series(first.query["name"])
    assert service == "spin_two_to_one"
    assert set(labels) - {"container_id", "container_runtime", "pod_uid", "systemd_unit"} == {"env", "zone", "host", "pid", "build_id"} and labels["zone"] == "a b"
    assert labels["build_id"] == build_of(SPIN)
    pulled = profile_of(first)
    begin = pulled.time_ns / 1e9
    assert int(first.query["from"]) <= begin <= begin + pulled.duration_ns / 1e9 <= int(first.query["until"]) + 1
    # A label that is another in each thread would be a series of its own at the engine.
    assert {key for sample in pulled.samples for key in pulled.labels(sample)} == {"process"}


def test_the_push_api_gets_json_and_the_users_headers(queue, tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("X-Scope-OrgID: team\nAuthorization: Basic dTpw\n")
    with Engine() as engine:
        pushed(engine.url + API, queue, "--push-headers", str(headers), "--push-label", "service_name=shop")
        (first, *_) = engine.requests
    assert (first.path, first.headers["Content-Type"]) == (API, "application/json")
    assert (first.headers["X-Scope-OrgID"], first.headers["Authorization"]) == ("team", "Basic dTpw")
    assert first.headers["Content-Encoding"] == "gzip"
    (one,) = json.loads(first.content)["series"]
    labels = {label["name"]: label["value"] for label in one["labels"]}
    assert (labels["__name__"], labels["service_name"]) == ("process_cpu", "shop")
    (sample,) = one["samples"]
    assert Pulled(base64.b64decode(sample["rawProfile"], validate=True)).samples


def test_each_kind_that_is_sampled_is_a_profile_of_its_own(queue):
    with Engine() as engine:
        pushed(engine.url + API, queue, "--alloc=4096", "--lock=10", command=[workload("allocates"), "leaks"])
        pushed(engine.url + API, queue, "--lock=10", command=[workload("waits_for_locks"), "kinds"])
        names = {label["value"] for one in engine.requests for label in json.loads(one.content)["series"][0]["labels"]
                 if label["name"] == "__name__"}
    assert names >= {"process_cpu", "memory", "mutex"}


def test_a_program_that_runs_already_is_pushed_under_its_name(queue):
    program = subprocess.Popen([SPIN, "30"])
    try:
        with Engine() as engine, attached(program.pid, *words(engine.url, queue)):
            until(lambda: engine.requests, "a profile")
            service, labels = series(engine.requests[0].query["name"])
            pulled = profile_of(engine.requests[0])
        assert service == "spin_two_to_one" and labels["pid"] == str(program.pid)
        assert pulled.sums("samples")[1]["main"] > 0
    finally:
        end(program)


@pytest.mark.parametrize("status", [400, 415, 501])
def test_a_push_api_that_does_not_read_gzip_gets_json_as_it_is(queue, status):
    with Engine(Answer(status, unread=frozenset({"gzip"}))) as engine:
        done = pushed(engine.url + API, queue)
        packed, *plain = engine.requests
    assert done.returncode == 0 and done.stderr.count("does not read gzip: profiles go unpacked") == 1
    assert packed.headers["Content-Encoding"] == "gzip" and packed.content == plain[0].content
    assert plain and all("Content-Encoding" not in one.headers for one in plain)
    assert waiting(queue) == [] and "refused" not in done.stderr


# Engines in trouble


def test_a_dead_engine_costs_the_program_nothing_and_a_later_run_sends_what_waits(queue):
    port = dead_port()
    url = f"http://127.0.0.1:{port}"
    begun = time.monotonic()
    done = pushed(url, queue, command=("sh", "-c", f"{SPIN} 1.5; exit 3"))
    assert done.returncode == 3
    assert time.monotonic() - begun < 20
    assert "profiles wait in" in done.stderr and f"{queue}/" in done.stderr
    waited = waiting(queue)
    assert len(waited) >= 2
    with Engine(port=port) as engine:
        pushed(url, queue, command=("true",))
        times = [profile_of(one).time_ns for one in engine.requests]
    assert len(times) >= len(waited) and times == sorted(times)  # the oldest first
    assert waiting(queue) == []


NOT_LOST = "dropped: 0 for want of room, 0 older than an hour, 0 refused"


def test_one_that_never_answers_holds_nothing_up(queue):
    with Engine(Answer(seconds=1000)) as engine:
        done = pushed(engine.url, queue)
        assert len(engine.requests) == 1
    assert done.returncode == 0
    assert "Timeout" not in done.stderr  # the end broke the request off, which by itself lasts for 30 seconds
    waits = len(waiting(queue))
    assert waits >= 2 and f"0 profiles sent; {waits} wait in " in done.stderr and NOT_LOST in done.stderr


def in_seconds(seconds: int) -> str:
    """The date has whole seconds: up to one of them is lost."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize("told, least", [(lambda: "3", 3), (lambda: in_seconds(6), 3)], ids=["seconds", "date"])
def test_a_busy_one_is_left_alone_for_as_long_as_it_asks(queue, told, least):
    busy = Answer(429, made=lambda: {"Retry-After": told()})
    with Engine(busy) as engine, service_of([SPIN, "1000"], *words(engine.url, queue)):
        until(lambda: engine.requests, "a profile")
        engine.answer = Answer()
        until(lambda: len(engine.requests) > 1, "another try")
        first, second = engine.requests[:2]
        assert second.at - first.at >= least
        assert second.body == first.body
        until(lambda: not waiting(queue), "the rest")


def test_trouble_is_said_once_and_its_end_too(queue, tmp_path):
    said = tmp_path / "said"
    with Engine(Answer(503)) as engine, said.open("w") as out:
        with service_of([SPIN, "1000"], *words(engine.url, queue), stderr=out):
            until(lambda: len(engine.requests) > 2, "three tries")
            engine.answer = Answer()
            until(lambda: "answers again" in said.read_text(), "its end")
            until(lambda: not waiting(queue), "the rest")
    text = said.read_text()
    assert text.count("answers with status 503; profiles wait in") == 1
    assert text.count("answers again") == 1


MAD = {
    "nothing": Answer(raw=b""),
    "bytes": Answer(raw=b"\0\xff garbage\r\n\r\n"),
    "half": Answer(raw=b"HTTP/1.1 20"),
    "ssh": Answer(raw=b"SSH-2.0-x\r\n"),
    "half-a-body": Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    "half-closed": Answer(half_closed=True),
}


@pytest.mark.parametrize("name", MAD)
def test_an_answer_that_is_none_is_trouble_and_no_loss(queue, name):
    with Engine(MAD[name]) as engine, service_of([SPIN, "1000"], *words(engine.url, queue)):
        until(lambda: engine.requests, "a profile")
        engine.answer = Answer()
        until(lambda: any(one.body == engine.requests[0].body for one in engine.requests[1:]), "the same again")


@pytest.mark.parametrize("name", MAD)
def test_what_a_mad_engine_was_sent_waits_is_counted_and_goes_once_when_it_is_sane(queue, name):
    with Engine(MAD[name]) as engine:
        done = pushed(engine.url, queue)
        tried = {one.body for one in engine.requests}
    waits = len(waiting(queue))
    assert done.returncode == 0 and tried and waits >= 2
    assert f"0 profiles sent; {waits} wait in " in done.stderr and NOT_LOST in done.stderr
    with Engine(port=engine.port) as sane:
        later = pushed(sane.url, queue, "--stats", command=("true",))
        bodies = [one.body for one in sane.requests]
    assert f"{len(bodies)} profiles sent; 0 wait in " in later.stderr and NOT_LOST in later.stderr
    assert len(set(bodies)) == len(bodies) >= waits and tried <= set(bodies)


def test_an_answer_without_end_is_broken_off_and_its_status_holds(queue):
    with Engine(Answer(endless=True)) as engine:
        with service_of([SPIN, "1000"], *words(engine.url, queue)):
            until(lambda: len(engine.requests) > 2, "three profiles")
        bodies = [one.body for one in engine.requests]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_said_once_and_each_profile_is_counted(queue, status):
    with Engine() as elsewhere, Engine(Answer(status, {"Location": f"{elsewhere.url}/ingest"})) as engine:
        done = pushed(engine.url, queue)
        assert engine.requests and not elsewhere.requests
    assert done.stderr.count(f"answers with status {status}: it is elsewhere; give that address") == 1
    assert waiting(queue) == []
    assert re.search(rf"0 profiles sent; 0 wait in .*, {len(engine.requests)} refused", done.stderr)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_a_troubled_engine_did_not_take_waits_and_is_counted(queue, status):
    with Engine(Answer(status)) as engine:
        done = pushed(engine.url, queue)
        assert engine.requests
    waits = len(waiting(queue))
    assert done.returncode == 0 and waits >= 2
    assert re.search(rf"0 profiles sent; {waits} wait in ", done.stderr)
    assert done.stderr.count(f"answers with status {status}; profiles wait in") == 1


@pytest.mark.parametrize("status", [400, 401, 413, 422])
def test_what_is_refused_is_dropped_counted_and_said_once_with_the_reason(queue, status):
    with Engine(Answer(status, body=b"too many samples\nmore")) as engine:
        done = pushed(engine.url, queue)
    assert done.returncode == 0
    assert done.stderr.count(f"answers with status {status}: too many samples. Such profiles are dropped") == 1
    assert re.search(rf"0 profiles sent; 0 wait in .*, {len(engine.requests)} refused", done.stderr)


def test_a_queue_that_cannot_be_written_is_said_before_the_program_runs(tmp_path):
    (tmp_path / "file").write_text("")
    mark = tmp_path / "ran"
    done = pushed("http://127.0.0.1:1", tmp_path / "file", command=("touch", str(mark)))
    assert done.returncode == 125 and "cannot make" in done.stderr
    assert not mark.exists()


@pytest.mark.parametrize("given, told", [
    (["--push", "localhost:4040"], "--push: 'localhost:4040' does not begin with http://HOST"),
    (["--push", "http://u:p@h"], "put it into a file of headers"),
    (["--push", "http://h/x"], "/push.v1.PusherService/Push"),
    (["--push", "http://h", "--push-label", "service.version=1"], "only an OTLP receiver takes a name with '.'"),
    (["--push-label", "a=b"], "--push-label is of --push URL"),
    (["--push-compression", "zstd"], "--push-compression is of --push URL"),
    (["--push", "http://h", "--push-compression", "zstd"], "--push-compression zstd is of an OTLP receiver"),
    (["--push", "otlp+http://h", "--push-compression", "xz"], "'xz' is neither gzip nor zstd"),
    (["--push", "http://h", "--push-label", "a"], "'a' is not NAME=VALUE"),
    (["--push", "http://h", "--push-headers", "/no/such"], "--push-headers: '/no/such': No such file"),
    (["--push", "http://h", "--push-window", "0"], "--push-window"),
])  # fmt: skip
def test_wrong_words_are_named(given, told):
    done = subprocess.run([ISOSCOPE, "run", *given, "--", "true"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and told in done.stderr
