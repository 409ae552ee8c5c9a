"""`isoscope serve FILE... --push URL`: sessions at an engine, with the times that they have, and what is said of an
engine that did not take them all."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from harness import ISOSCOPE, Client, record, serving, until, workload
from mock_engine import Answer, Engine, Request, dead_port
from pulled import Pulled, sums_of
from pushing import SPIN

OK, USAGE, REFUSED, UNSENT = 0, 2, 4, 5
WINDOW_S = 1


@pytest.fixture(scope="module")
def session(tmp_path_factory) -> Path:
    """Two and a half seconds of one program: three windows."""
    file = tmp_path_factory.mktemp("saved") / "spin.isoscope"
    record(file, [SPIN, "2.5"], check=True)
    return file


def words(url: str, *files: Path, more: tuple[str, ...] = ()) -> list[str]:
    return [ISOSCOPE, "serve", *map(str, files), "--push", url, "--push-window", str(WINDOW_S), *more]


def pushed(url: str, *files: Path, more: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    return subprocess.run(words(url, *files, more=more), capture_output=True, text=True, timeout=120)


def samples(requests: list[Request]) -> tuple[Counter, Counter]:
    own, total = Counter(), Counter()
    for request in requests:
        one, other = Pulled(request.body).sums("samples")
        own += one
        total += other
    return own, total


def test_all_windows_together_have_the_sessions_samples_and_its_times(session):
    with serving(session) as service, Client(service.uri) as client:
        profile = client.profile()
        began_ms = client.call("getVM")["startTime"]
    counts = sums_of(profile, lambda _: 1)
    with Engine() as engine:
        done = pushed(engine.url, session)
        requests = engine.requests
    assert done.returncode == OK, done.stderr
    assert f"{session}: {len(requests)} profiles taken, 0 refused, 0 skipped" in done.stderr
    assert "listening" not in done.stderr
    assert samples(requests) == counts
    windows = [Pulled(request.body) for request in requests]
    assert len(windows) >= 3
    assert abs(windows[0].time_ns / 1e6 - began_ms) < WINDOW_S * 1000
    for before, after in zip(windows, windows[1:]):
        assert before.duration_ns == WINDOW_S * 10**9
        assert (after.time_ns - before.time_ns) % before.duration_ns == 0  # one without samples is not sent
    for request, window in zip(requests, windows):
        assert int(request.query["from"]) <= window.time_ns / 1e9 <= int(request.query["until"])
        service_name, _, labels = request.query["name"].partition("{")
        assert service_name == "spin_two_to_one" and re.search(r"host=[^,]+,pid=\d+", labels)


def test_several_files_go_one_after_the_other_each_with_its_own_times(session, tmp_path):
    other = tmp_path / "other.isoscope"
    record(other, [workload("waits"), "0.5"], check=True)
    with Engine() as engine:
        done = pushed(engine.url, other, session, more=("--push-label", "env=old"))
        requests = engine.requests
    assert done.returncode == OK, done.stderr
    names = [request.query["name"].partition("{")[0] for request in requests]
    assert names == sorted(names, key=["waits", "spin_two_to_one"].index) and len(set(names)) == 2
    assert all("env=old" in request.query["name"] for request in requests)
    first = {name: Pulled(request.body).time_ns for name, request in reversed(list(zip(names, requests)))}
    assert first["spin_two_to_one"] < first["waits"]  # which was recorded later, and came first


def test_memory_and_waits_of_a_session_are_profiles_of_their_own(tmp_path):
    file = tmp_path / "memory.isoscope"
    record(file, [workload("allocates"), "leaks"], "--alloc=4096", check=True)
    with Engine() as engine:
        done = pushed(engine.url + "/push.v1.PusherService/Push", file)
        kinds = {label["value"] for request in engine.requests
                 for label in json.loads(request.content)["series"][0]["labels"] if label["name"] == "__name__"}
    assert done.returncode == OK and "memory" in kinds


def test_what_an_engine_refuses_is_counted_and_the_status_says_so(session):
    with Engine(Answer(422, body=b"profile is too old")) as engine:
        done = pushed(engine.url, session)
        count = len(engine.requests)
    assert done.returncode == REFUSED
    assert done.stderr.count("answers with status 422: profile is too old. Such profiles are dropped") == 1
    assert f"0 profiles taken, {count} refused" in done.stderr


def test_a_dead_engine_is_given_up_and_the_rest_is_where_it_was(session):
    before = session.read_bytes()
    done = pushed(f"http://127.0.0.1:{dead_port()}", session, more=("--push-patience", "0"))
    assert done.returncode == UNSENT
    assert "0 profiles taken, 0 refused, 0 skipped; not all of it" in done.stderr
    assert f"the rest is in {session} still" in done.stderr and "--push-skip 0" in done.stderr
    assert session.read_bytes() == before


def test_an_engine_that_dies_in_the_middle_gets_the_rest_by_push_skip(session):
    with Engine() as whole:
        pushed(whole.url, session)
    with Engine(Answer(503, after=2)) as engine:
        done = pushed(engine.url, session, more=("--push-patience", "0"))
        assert done.returncode == UNSENT
        skip = int(re.search(r"--push-skip (\d+)", done.stderr)[1])
        taken = engine.requests[:2]
        engine.requests, engine.answer = [], Answer()
        done = pushed(engine.url, session, more=("--push-skip", str(skip)))
        rest = engine.requests
    assert skip == 2 and done.returncode == OK
    assert f"{len(rest)} profiles taken, 0 refused, 2 skipped" in done.stderr
    assert samples([*taken, *rest]) == samples(whole.requests)


def test_trouble_that_ends_in_time_loses_nothing(session):
    with Engine(Answer(503)) as engine:
        pushing = subprocess.Popen(words(engine.url, session), stderr=subprocess.PIPE, text=True)
        until(lambda: engine.requests, "a try")
        engine.answer = Answer()
        _, said = pushing.communicate(timeout=120)
        bodies = [request.body for request in engine.requests]
    assert pushing.returncode == OK
    assert "it answers with status 503; trying again for 60 seconds" in said and "answers again" in said
    assert bodies.count(bodies[0]) == 2 and len(bodies) == len(set(bodies)) + 1


def test_one_that_never_answers_is_left_at_ctrl_c(session):
    with Engine(Answer(seconds=1000)) as engine:
        pushing = subprocess.Popen(words(engine.url, session), stderr=subprocess.PIPE, text=True)
        until(lambda: engine.requests, "a request")
        pushing.send_signal(signal.SIGINT)
        _, said = pushing.communicate(timeout=120)
    assert pushing.returncode == UNSENT
    assert "it was told to end" in said and "--push-skip 0" in said and "trying again" not in said


def test_a_file_that_is_none_is_said_and_the_others_are_pushed(session, tmp_path):
    bad = tmp_path / "bad.isoscope"
    bad.write_bytes(b"nothing")
    with Engine() as engine:
        done = pushed(engine.url, bad, session)
        assert engine.requests
    assert done.returncode == USAGE and f"{bad}: byte " in done.stderr


@pytest.mark.parametrize("more, told", [
    (["--port", "1234"], "so --port has no meaning with it"),
    (["--align", "clock"], "so --align has no meaning with it"),
    (["--push-compression", "zstd"], "is of an OTLP receiver"),
    (["--push-queue", "x"], "--push-queue"),
])  # fmt: skip
def test_words_that_do_not_go_with_it_are_named(session, more, told):
    done = pushed("http://127.0.0.1:1", session, more=tuple(more))
    assert done.returncode == USAGE and told in done.stderr


def test_without_a_receiver_the_words_are_refused():
    done = subprocess.run([ISOSCOPE, "serve", "x.isoscope", "--push-skip", "3"], capture_output=True, text=True, timeout=60)
    assert done.returncode == USAGE and "--push-skip is of --push URL" in done.stderr
