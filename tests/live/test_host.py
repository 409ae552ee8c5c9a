"""`isoscope serve --socket`: programs of a host, each user's apart."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from harness import ISOSCOPE, is_service, started_by, until
from host_service import NOBODY, SPIN, STRANGER, hello, host_service, reason_for_no_users
from isoscope.errors import CannotConnect, RpcError

USERS = pytest.mark.skipif(reason_for_no_users() is not None, reason=reason_for_no_users() or "")


@pytest.fixture
def host():
    with host_service() as service:
        yield service


def test_many_programs_feed_one_service_and_ps_lists_them(host):
    pids = [host.start() for _ in range(5)]
    with host.client() as client:
        for pid in pids:
            found = host.until_sampled(client, pid)
            assert found["sampling"] and found["periodMicros"] == 10000
        assert set(pids) <= set(host.listed(client))
        few = client.methods.private_get_process_list(search=str(pids[2]), count=1)
        assert [one["pid"] for one in few["processes"]] == [pids[2]]
    told = json.loads(host.command("ps", "--json").stdout)
    assert set(pids) <= {one["pid"] for one in told}
    page = host.command("ps", "python").stdout.splitlines()
    assert page[0].split()[:3] == ["PID", "USER", "SAMPLING"]
    assert {int(line.split()[0]) for line in page[1:]} >= set(pids)


def test_functions_of_a_sampled_program_have_names(host):
    pid = host.start()
    with host.client() as client:
        host.until_sampled(client, pid)
    shown = host.command("open", "--print").stdout.strip()
    hot = subprocess.run([ISOSCOPE, "hot", shown], capture_output=True, text=True, timeout=120)
    assert "<module>" in hot.stdout or "_PyEval" in hot.stdout, hot.stdout + hot.stderr


@USERS
def test_a_user_sees_his_own_programs_and_root_those_of_all(host):
    mine, nobodys, strangers = host.start(), host.start(uid=NOBODY), host.start(uid=STRANGER)
    for uid, pid in ((None, mine), (NOBODY, nobodys), (STRANGER, strangers)):
        with host.client(uid) as client:
            host.until_sampled(client, pid)
            assert set(host.listed(client)) == {pid}
            assert client.call("getVM")["pid"] == pid
    assert [line[0] for line in host.ask(NOBODY)] == [str(NOBODY)]
    assert {line[0] for line in host.ask()} == {"0", str(NOBODY), str(STRANGER)}
    shown = host.command("ps", "--json", uid=NOBODY)
    assert [one["pid"] for one in json.loads(shown.stdout)] == [nobodys], shown.stderr
    assert {one["pid"] for one in json.loads(host.command("ps", "--json").stdout)} == {
        mine, nobodys, strangers}
    assert host.command("open", "--user", "root", uid=NOBODY).returncode == 2


@USERS
def test_a_room_has_its_users_rights_and_no_others(host):
    host.start(uid=NOBODY)
    host.uri(NOBODY)

    def room():
        return [pid for pid in started_by(host.process.pid) if os.stat(f"/proc/{pid}").st_uid == NOBODY]

    pid = until(room, "the user's service")[0]
    status = Path(f"/proc/{pid}/status").read_text()
    ids = {line.split(":")[0]: line.split()[1:] for line in status.splitlines()}
    assert set(ids["Uid"]) == {str(NOBODY)} and ids["NoNewPrivs"] == ["1"]
    assert ids["CapEff"] == ["0" * 16] and "0" not in ids["Groups"]
    held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    assert not any("TCP" in name for name in held)
    token = host.uri().rsplit("/", 2)[1]
    assert token.encode() not in Path(f"/proc/{pid}/environ").read_bytes()


@USERS
def test_nobody_switches_another_users_program(host):
    mine = host.start()
    with host.client() as client:
        host.until_sampled(client, mine)
        refused = host.command("ctl", str(mine), "off", uid=NOBODY)
        assert refused.returncode == 1 and f"no process {mine} is sampled here" in refused.stderr
        assert host.listed(client)[mine]["sampling"]
        attached = host.command("ctl", str(mine), "attach", uid=NOBODY)
        assert attached.returncode == 1 and "not of this user" in attached.stderr


@USERS
def test_members_of_the_admin_group_see_all():
    group = next(line.split(":") for line in Path("/etc/group").read_text().splitlines()
                 if line.split(":")[2] == str(NOBODY))[0]
    with host_service("--admin-group", group) as host:
        host.start(uid=STRANGER)
        with host.client(STRANGER):
            assert {line[0] for line in host.ask(NOBODY)} == {str(NOBODY), str(STRANGER)}
            assert {line[0] for line in host.ask(STRANGER)} == {str(STRANGER)}


@USERS
def test_a_member_of_the_admin_group_lists_opens_and_switches_what_others_run():
    group = next(line.split(":") for line in Path("/etc/group").read_text().splitlines()
                 if line.split(":")[2] == str(NOBODY))[0]
    with host_service("--admin-group", group) as host:
        pid = host.start(uid=STRANGER)
        with host.client(STRANGER) as client:
            host.until_sampled(client, pid)
            (listed,) = json.loads(host.command("ps", "--json", uid=NOBODY).stdout)
            assert (listed["pid"], listed["user"]) == (pid, str(STRANGER))
            opened = host.command("open", "--print", "--user", str(STRANGER), uid=NOBODY)
            assert opened.stdout.strip() == host.uri(STRANGER)
            assert host.command("ctl", str(pid), "off", uid=NOBODY).returncode == 0
            assert not host.listed(client)[pid]["sampling"]
            refused = host.command("open", "--print", "--user", "root", uid=STRANGER)
            assert refused.returncode == 2 and "no programs of user 'root' that you may see" in refused.stderr


@USERS
def test_a_child_that_becomes_another_user_is_sampled_on_by_one_of_both(host):
    """By the user whom it had when its feed began: before it changed, or after."""
    code = ("import os\nif os.fork() == 0:\n"
            f"    os.setgid({NOBODY}); os.setuid({NOBODY})\n" + "    n = 0\n    while True: n += 1\n"
            "os.wait()\n")
    parent = host.start(code)
    try:
        with host.client() as mine, host.client(NOBODY) as nobodys:
            child = until(lambda: started_by(parent), "the child")[0]
            both = [mine, nobodys]
            client = until(lambda: [one for one in both if child in host.listed(one)], "the child's feed")
            assert len(client) == 1
            host.until_sampled(client[0], child)
    finally:
        for pid in started_by(parent):
            os.kill(pid, signal.SIGKILL)


def test_who_has_no_token_is_refused(host):
    place = host.uri().rsplit("/", 2)[0]
    for path in ("/", "/nonsense/", "/AAAAAAAAAAAAAAAAAAAAAA==/getVM"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(place + path, timeout=60)
        assert refused.value.code == 403
    page = urllib.request.urlopen(host.uri(), timeout=60)
    assert page.status == 200 and b"isoscope" in page.read(2000)
    metrics = urllib.request.Request(place + "/metrics", headers={
        "Authorization": "Bearer " + host.uri().rsplit("/", 2)[1]})
    assert urllib.request.urlopen(metrics, timeout=60).status == 200
    away = urllib.request.Request(host.uri() + "getVM", headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(away, timeout=60)
    assert refused.value.code == 403


def test_nonsense_at_the_socket_is_closed_and_nothing_else_happens(host):
    pid = host.start()
    with host.client() as client:
        host.until_sampled(client, pid)
        hello_of = struct.pack("=IHH", 0x6D6F7369, 9999, 1)
        null = os.open("/dev/null", os.O_RDWR)
        for message, descriptors in ((b"x", []), (b"\0" * 4096, [null]), (hello_of, [null] * 4),
                                     (struct.pack("=IHH", 0x6D6F7369, 1, 77), [])):
            assert hello(host.socket, message, descriptors).recv(100) == b""
        os.close(null)
        before = host.listed(client)[pid]["samples"]
        host.until_sampled(client, pid, before + 5)
        assert set(host.listed(client)) == {pid}


def test_ctl_switches_one_program_and_gives_it_a_period(host):
    switched, other = host.start(), host.start()
    with host.client() as client:
        host.until_sampled(client, switched)
        assert host.command("ctl", str(switched), "off").returncode == 0
        assert not host.listed(client)[switched]["sampling"]

        def stands():
            first = host.listed(client)
            host.until_sampled(client, other, first[other]["samples"] + 20)
            return host.listed(client)[switched]["samples"] == first[switched]["samples"]

        until(stands, "no more samples")
        assert host.command("ctl", str(switched), "on", "--period", "1000").returncode == 0
        found = host.listed(client)
        assert found[switched]["periodMicros"] == 1000 and found[other]["periodMicros"] == 10000
        host.until_sampled(client, switched, found[switched]["samples"] + 50)
        assert host.command("ctl", str(switched), "default").returncode == 0
        assert host.listed(client)[switched]["periodMicros"] == 10000
        with pytest.raises(RpcError):
            client.methods.private_set_process_sampling(pid=1, sampling="off")
        with pytest.raises(RpcError):
            client.methods.private_set_process_sampling(pid=other, sampling="on", period_micros=1)
    nothing = host.command("ctl", "1", "on")
    assert nothing.returncode == 1 and "no process 1 is sampled here" in nothing.stderr


def test_a_room_that_is_killed_comes_again_with_its_programs(host):
    pid = host.start()
    with host.client() as client:
        host.until_sampled(client, pid)
    room = [child for child in started_by(host.process.pid) if is_service(child)][0]
    os.kill(room, signal.SIGKILL)

    def again():
        with suppress(CannotConnect, IndexError), host.client() as client:
            return pid in host.listed(client)
        return False

    until(again, "the program in the new service")
    assert "was killed by signal 9" in host.errors()


def test_programs_find_a_service_that_was_restarted(host):
    pid = host.start()
    with host.client() as client:
        host.until_sampled(client, pid)
    assert host.end() == 0
    assert sorted(part.name for part in host.folder.iterdir()) == ["state", "stderr"]
    host.again()
    with host.client() as client:
        host.until_sampled(client, pid)


def test_a_running_program_is_attached_to_and_left(host):
    program = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        with host.client() as client:
            others = client.methods.private_get_process_list(others=True)
            assert program.pid in {one["pid"] for one in others["others"]} and others["attaches"]
            client.methods.private_attach(pid=program.pid, via="suspend")
            assert host.until_sampled(client, program.pid)["timer"] == "suspend"
            with pytest.raises(RpcError) as refused:
                client.methods.private_attach(pid=program.pid)
            assert "sampled already" in refused.value.details
            client.methods.private_detach(pid=program.pid)
            until(lambda: program.pid not in host.listed(client), "its end in the list")
            with pytest.raises(RpcError):
                client.methods.private_detach(pid=program.pid)
            with pytest.raises(RpcError):
                client.methods.private_attach(pid=2 ** 22 + 1)
        status = Path(f"/proc/{program.pid}/status").read_text()
        assert "TracerPid:\t0" in status and program.poll() is None
    finally:
        program.kill()
        program.wait()


def test_options_that_mean_nothing_are_refused():
    for words, what in (([], "no file given"), (["--socket", "/tmp/x", "--allow-dds"], "--allow-dds"),
                        (["--socket", "/tmp/x", "--disable-service-auth-codes"],
                         "a host service tells users by their tokens: "
                         "--disable-service-auth-codes is of other services"),
                        (["--admin-group", "no-such-group", "--socket", "/tmp/x"], "no-such-group"),
                        (["--period", "5000", "x.isoscope"], "--period"),
                        (["--state", "/tmp", "x.isoscope"], "--state is of a host service"),
                        (["--push", "http://h", "--push-queue", "/tmp", "x.isoscope"], "--push-queue has no meaning with it"),
                        (["--socket", "/tmp/x", "--push", "http://h", "--push-skip", "2"], "--push-skip is of session files"),
                        (["--socket", "/tmp/x", "--push", "http://h", "--push-queue", "/tmp"],
                         "--push-queue: a host service's profiles wait in a folder of each user"),
                        (["--socket", "/tmp/x", "--push", "h"], "does not begin with http://HOST"),
                        (["--socket", "/tmp/x", "--state", ""], "is no folder's name"),
                        (["--socket", "/tmp/" + 102 * "x"], "the socket's path is too long")):
        refused = subprocess.run([ISOSCOPE, "serve", *words], capture_output=True, text=True, timeout=60)
        assert refused.returncode == 2 and what in refused.stderr, refused.stderr


def test_a_socket_that_somebody_listens_to_stays(host):
    second = subprocess.run([ISOSCOPE, "serve", "--socket", host.socket], capture_output=True, text=True,
                            timeout=60)
    assert second.returncode == 125 and "another service listens" in second.stderr
    assert host.ask()
