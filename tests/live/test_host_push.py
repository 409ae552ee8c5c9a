"""`isoscope serve --socket --push`: each user's profiles, with his labels and from his queue."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from harness import until
from host_service import NOBODY, STRANGER, host_service, reason_for_no_users
from mock_engine import Engine, Request, dead_port
from pulled import Pulled
from test_push import series

USERS = pytest.mark.skipif(reason_for_no_users() is not None, reason=reason_for_no_users() or "")


def of_service(engine: Engine, name: str) -> list[Request]:
    return [one for one in engine.requests if series(one.query["name"])[0] == name]


def waiting(state: Path, uid: int) -> list[str]:
    return sorted(path.name for path in (state / str(uid) / "push").glob("*/*.profile"))


def test_programs_of_a_user_are_pushed_under_his_name_with_the_process_on_each_sample():
    me = pwd.getpwuid(os.geteuid()).pw_name
    with Engine() as engine, host_service("--push", engine.url, "--push-window", "1", "--push-label", "env=test",
                                          "--period", "1000") as host:
        first, second = host.start(), host.start()
        with host.client() as client:
            for pid in (first, second):
                host.until_sampled(client, pid)
        request = until(lambda: next(iter(of_service(engine, me)), None), "a profile")
        service, labels = series(request.query["name"])
        assert labels["user"] == me and labels["env"] == "test" and labels["host"] and "pid" not in labels
        pulled = Pulled(request.body)
        assert {key for sample in pulled.samples for key in pulled.labels(sample)} == {"process"}
        assert not waiting(host.folder / "state", os.geteuid())


def test_the_last_window_is_sent_when_the_service_ends():
    with Engine() as engine, host_service("--push", engine.url, "--push-window", "600", "--period", "1000") as host:
        pid = host.start()
        with host.client() as client:
            host.until_sampled(client, pid, 20)
        assert not engine.requests
        assert host.end() == 0
        assert len(engine.requests) == 1 and len(Pulled(engine.requests[0].body).samples) > 0


@USERS
def test_each_user_has_labels_and_a_queue_of_his_own():
    port = dead_port()
    with host_service("--push", f"http://127.0.0.1:{port}", "--push-window", "1", "--period", "1000") as host:
        state = host.folder / "state"
        for uid in (NOBODY, STRANGER):
            host.start(uid=uid)
        for uid in (NOBODY, STRANGER):
            until(lambda uid=uid: waiting(state, uid), f"a profile of {uid} in its queue")
            assert (state / str(uid)).stat().st_uid == uid and (state / str(uid)).stat().st_mode & 0o777 == 0o700
        assert not (state / "0").exists() or not waiting(state, 0)
        with Engine(port=port) as engine:
            names = {pwd.getpwuid(NOBODY).pw_name, str(STRANGER)}
            until(lambda: {series(one.query["name"])[0] for one in engine.requests} == names, "both users' profiles")
            for request in engine.requests:
                service, labels = series(request.query["name"])
                assert labels["user"] == service


@USERS
def test_who_may_not_read_the_headers_is_served_and_not_pushed():
    with Engine() as engine:
        headers = Path(f"/tmp/iso-headers-{os.getpid()}")
        headers.write_text("Authorization: Bearer secret\n")
        headers.chmod(0o600)
        try:
            with host_service("--push", engine.url, "--push-window", "1", "--push-headers", str(headers),
                              "--period", "1000") as host:
                mine, nobodys = host.start(), host.start(uid=NOBODY)
                with host.client() as client, host.client(NOBODY) as theirs:
                    host.until_sampled(client, mine)
                    host.until_sampled(theirs, nobodys)
                name = pwd.getpwuid(NOBODY).pw_name
                until(lambda: of_service(engine, "root"), "root's profile")
                assert engine.requests[0].headers["Authorization"] == "Bearer secret"
                assert f"profiles of user {name} are not pushed: --push-headers: '{headers}'" in host.errors()
                host.end()
                assert not of_service(engine, name)
        finally:
            headers.unlink()
