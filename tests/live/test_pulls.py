"""Profiles by HTTP: `go tool pprof`, scrapers, and totals that are the Python client's."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from accuracy import band
from harness import DEADLINE_S, Client, default_timer, profiled, service_of, serving, record, until, workload
from pulled import Pulled, ask, place, sums_of

# What Parca and Alloy scrape when nobody says otherwise.
SCRAPED = ["allocs", "block", "goroutine", "mutex", "profile?seconds=1"]


@pytest.fixture(scope="module")
def spinning():
    with service_of([workload("spin_two_to_one"), "1000"]) as service:
        until(lambda: Pulled.of(service, "debug/pprof/profile?seconds=0").samples, "samples")
        yield service


@pytest.fixture(scope="module")
def spun():
    with profiled([workload("spin_two_to_one"), "0.5"]) as service:
        yield service


def assert_equal(pulled: tuple[Counter, Counter], right: tuple[Counter, Counter], within: dict[str, float]):
    """Self and total of each function."""
    for one, other in zip(pulled, right):
        assert set(one) == set(other)
        for name, value in other.items():
            assert abs(one[name] - value) <= within.get(name, 0), (name, one[name], value)


@pytest.mark.parametrize("command", [
    [workload("threads")],
    [workload("forks")],
    ["/usr/bin/python3", "-c", "import json\nfor _ in range(300): json.loads(json.dumps(list(range(3000))))"],
], ids=["threads", "processes", "Python"])  # fmt: skip
def test_totals_of_each_function_are_the_python_clients(command):
    with profiled(command) as service:
        pulled = Pulled.of(service, "debug/pprof/profile?seconds=0")
        with Client(service.uri) as client:
            profile = client.profile()
    counts = sums_of(profile, lambda _: 1)
    assert_equal(pulled.sums("samples"), counts, {})
    # The client rounds each sample to microseconds.
    rounding = {name: 500 * count for name, count in counts[1].items()}
    assert_equal(pulled.sums("cpu"), sums_of(profile, lambda at: profile.weights_us[at] * 1000), rounding)
    threads = Counter(profile.threads[one].tid for one in profile.sample_threads)
    assert pulled.sums("samples", "tid")[0] == threads
    assert pulled.sums("samples", "process")[0] == Counter(
        profile.threads[one].process.name for one in profile.sample_threads)


def test_totals_of_memory_are_the_python_clients():
    with profiled([workload("allocates"), "leaks"], "--alloc=4096") as service:
        pulled = Pulled.of(service, "debug/pprof/allocs")
        heap = Pulled.of(service, "debug/pprof/heap")
        growth = Pulled.of(service, "pprof/growth")
        with Client(service.uri) as client:
            allocated, living = client.profile(kind="alloc"), client.profile(kind="live")
    assert pulled.types == [("alloc_objects", "count"), ("alloc_space", "bytes"),
                            ("inuse_objects", "count"), ("inuse_space", "bytes")]
    assert (pulled.default_type, heap.default_type) == ("alloc_space", "inuse_space")
    assert (pulled.period_type, pulled.period) == (("space", "bytes"), 4096)
    assert len(allocated) and len(living)
    for one, profile, kind in ((pulled, allocated, "alloc"), (pulled, living, "inuse"), (growth, living, "inuse")):
        assert_equal(one.sums(f"{kind}_space"), sums_of(profile, profile.weights_us.__getitem__), {})
        objects = sums_of(profile, profile.objects.__getitem__)
        # The wire has hundredths of each sample's objects; here each entry has a whole number.
        rounding = dict.fromkeys(objects[1], 0.01 * len(profile) + 0.5 * len(one.samples))
        assert_equal(one.sums(f"{kind}_objects"), objects, rounding)


def test_wall_time_and_time_off_cpu_are_of_wall_mode():
    with profiled(["sleep", "1.5"], "--mode", "wall", "--period", "5000") as service:
        with Client(service.uri) as client:
            count = len(client.profile())
        wall, off_cpu = (Pulled.of(service, f"debug/pprof/{path}?seconds=0") for path in ("wall", "offcpu"))
    assert (wall.types, off_cpu.types) == ([("samples", "count"), ("wall", "nanoseconds")],
                                           [("samples", "count"), ("off_cpu", "nanoseconds")])
    samples, ns = (sum(wall.sums(kind)[0].values()) for kind in ("samples", "wall"))
    assert samples == count and ns == count * 5_000_000
    assert 0.7 * ns < sum(off_cpu.sums("off_cpu")[0].values()) <= ns


def test_in_cpu_mode_wall_time_is_empty_and_says_why():
    with profiled([workload("spin_two_to_one"), "0.2"]) as service:
        pulled = Pulled.of(service, "debug/pprof/wall?seconds=0")
    assert pulled.samples == []
    assert "threads that wait are not sampled: run the program with --mode wall" in pulled.comments


def test_totals_of_waits_are_the_python_clients():
    with profiled([workload("waits_for_locks"), "kinds"], "--lock=10") as service:
        with Client(service.uri) as client:
            for path, kind in (("mutex", "lock"), ("contention", "lock"), ("block", "wait")):
                pulled = Pulled.of(service, f"pprof/{path}")
                profile = client.profile(kind=kind)
                assert pulled.types == [("contentions", "count"), ("delay", "nanoseconds")]
                counts = sums_of(profile, lambda _: 1)
                rounding = {name: 500 * count for name, count in counts[1].items()}
                assert_equal(pulled.sums("delay"),
                             sums_of(profile, lambda at: profile.weights_us[at] * 1000), rounding)  # noqa: B023
                assert bool(profile.nodes) == bool(pulled.samples)


def test_a_saved_session_is_pulled_whole_whatever_seconds_are_asked_for(tmp_path):
    file = tmp_path / "spin.isoscope"
    assert record(file, [workload("spin_two_to_one"), "0.5"]).returncode == 0
    with serving(file) as service:
        pulled = Pulled.of(service, "debug/pprof/profile?seconds=60", timeout=20)
        with Client(service.uri) as client:
            profile = client.profile()
    assert_equal(pulled.sums("samples"), sums_of(profile, lambda _: 1), {})


# What go tool pprof and scrapers see


@pytest.fixture
def go(tmp_path):
    """go tool pprof, whose files stay where the test's are."""
    command = shutil.which("go", path=f"/usr/bin:{os.environ['PATH']}") or pytest.skip("needs Debian's golang-go")

    def run(*words: str) -> str:
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PPROF_TMPDIR": str(tmp_path)}
        return subprocess.run([command, "tool", "pprof", *words], check=True, timeout=100, text=True,
                              capture_output=True, env=environment).stdout  # fmt: skip

    return run


def share(text: str, name: str) -> float:
    """Of -top: self in percent."""
    return float(re.search(rf"^\s*\S+\s+([0-9.]+)%.* {name}$", text, re.MULTILINE)[1])


def check_two_thirds(text: str) -> None:
    """A busy machine gives the program little of a window."""
    number, unit = re.search(r"Total samples = ([0-9.]+)(ms|s)", text).groups()
    samples = float(number) * (1e6 if unit == "s" else 1e3) / default_timer().true_period_us
    assert abs(share(text, "spin_twice") / 100 - 2 / 3) <= band(2 / 3, samples) + 0.01, text


def test_go_pulls_a_window_and_shows_it(spinning, go):
    text = go("-top", f"{spinning.uri}debug/pprof/profile?seconds=2")
    assert "Type: cpu" in text and "Duration: 2s" in text
    assert "File: spin_two_to_one" in text and "Build ID: " in text
    check_two_thirds(text)


def test_go_pulls_from_gperftools_paths_and_by_its_own_option(spinning, go):
    text = go("-top", "-seconds=1", f"{spinning.uri}pprof/profile")
    assert "Duration: 1s" in text
    check_two_thirds(text)


def test_go_takes_a_difference_of_two_windows(spinning, go):
    where = f"{spinning.uri}debug/pprof/profile?seconds=1"
    text = go("-top", "-diff_base", where, where)
    assert "Total samples" in text


def test_go_disassembles_what_it_pulled(spinning, go):
    text = go("-disasm", "spin_twice", f"{spinning.uri}debug/pprof/profile?seconds=1")
    assert re.search(r"^\s+[0-9.]+m?s\s+[0-9.]+m?s\s+[0-9a-f]+: \S+", text, re.MULTILINE), text[:2000]


@pytest.mark.parametrize("path", [*SCRAPED, "heap", "threadcreate"])
def test_what_is_scraped_by_default_is_a_valid_profile(spinning, path):
    pulled = Pulled.of(spinning, f"debug/pprof/{path}")
    assert f"isoscope {version()}" in pulled.comments
    assert bool(pulled.samples) == path.startswith("profile")
    if not pulled.samples:
        assert any("--alloc" in one or "--lock" in one or "no such profile" in one for one in pulled.comments)


def version() -> str:
    done = subprocess.run([str(Path(os.environ["ISOSCOPE_BUILD"]) / "bin" / "isoscope"), "--version"],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def test_a_window_has_the_samples_of_its_seconds_and_no_others(spinning):
    before = time.time_ns()
    pulled = Pulled.of(spinning, "debug/pprof/profile?seconds=1")
    assert pulled.duration_ns == 1_000_000_000
    assert before - 10_000_000 <= pulled.time_ns <= time.time_ns()
    assert 0 < sum(pulled.sums("cpu")[0].values()) <= 1.1e9
    mapping = pulled.mappings[1]  # the first is the program's
    assert pulled.strings[mapping["filename"][0]].endswith("/spin_two_to_one")
    assert all(mapping[f"has_{one}"] == [True] for one in ("functions", "filenames", "line_numbers", "inline_frames"))


def test_several_pull_at_once_and_wait_no_longer_for_it(spinning):
    pulls: list[Pulled] = []
    threads = [threading.Thread(
        target=lambda: pulls.append(Pulled.of(spinning, "debug/pprof/profile?seconds=2"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert ask(spinning, "getVersion")[0].status == 200
    assert not pulls  # the service is not held up until they have their answers
    for thread in threads:
        thread.join()
    assert len(pulls) == 8 and all(one.samples for one in pulls)


def test_the_end_of_the_program_ends_the_window_and_the_answer_still_comes(start):
    # With --keep: else the service waits some two seconds for who asks, and a busy machine takes longer to answer.
    running = start([sys.executable, "-c", "print('ready', flush=True); input(); sum(range(10**7))"],
                    "--keep", stdin=subprocess.PIPE)
    assert running.line() == "ready"
    pulls: list[Pulled] = []
    thread = threading.Thread(target=lambda: pulls.append(Pulled.of(running, "debug/pprof/profile?seconds=300")))
    thread.start()
    # It waits: there is a call with a place.
    until(lambda: connected(running), "the pull")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    thread.join(DEADLINE_S)
    assert pulls and pulls[0].duration_ns < 60e9
    assert sum(pulls[0].sums("samples")[0].values()) > 0


def connected(running) -> bool:
    """Somebody's connection to the port stands."""
    wanted = f":{place(running)[0]:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(wanted) and row[3] == "01" for row in rows)


@contextmanager
def asked(service, path):
    """A raw connection that has asked, and reads nothing."""
    port, token = place(service)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(f"GET /{token}/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield raw


def test_who_goes_while_he_waits_gives_his_place_back(spinning):
    for _ in range(70):  # there are 64 places
        with asked(spinning, "debug/pprof/profile?seconds=600") as raw:
            assert raw.recv(12) == b"HTTP/1.1 200"
    pulled = until(lambda: ask(spinning, "debug/pprof/profile?seconds=0")[0].status == 200, "a place")
    assert pulled


# Who may, and what is wrong


def test_the_token_may_come_in_a_header(spinning):
    port, token = place(spinning)
    bearer = f"Bearer {token}"
    assert ask(spinning, "/debug/pprof/profile?seconds=0", Authorization=bearer)[0].status == 200
    assert ask(spinning, "/metrics", Authorization=bearer)[0].status == 200
    # It is for who reads figures only.
    assert ask(spinning, "/getVM", Authorization=bearer)[0].status == 403
    assert ask(spinning, "/", Authorization=bearer)[0].status == 403


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": "Bearer x"}, {"Authorization": "Bearer "}, {"Authorization": "Basic dTpw"},
])  # fmt: skip
def test_nobody_gets_one_without_the_token(spinning, headers):
    response, _ = ask(spinning, "/debug/pprof/profile?seconds=0", **headers)
    assert response.status == 403


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"},
], ids=["host", "origin", "page"])  # fmt: skip
def test_pages_of_other_sites_get_none(spinning, headers):
    assert ask(spinning, "debug/pprof/profile?seconds=0", **headers)[0].status == 403


def test_a_page_of_this_machine_may_read_it(spinning):
    response, _ = ask(spinning, "debug/pprof/heap", Origin="http://localhost:9100")
    assert response.headers["Access-Control-Allow-Origin"] == "http://localhost:9100"


@pytest.mark.parametrize("words", ["seconds=x", "seconds=-1", "seconds=601", "seconds=", "seconds=1e3"])
def test_wrong_seconds_are_named(spinning, words):
    response, content = ask(spinning, f"debug/pprof/profile?{words}")
    assert response.status == 400
    assert f'it is "{words[8:]}"' in content.decode() and "from 0 (all that is kept) to 600" in content.decode()


def test_another_format_or_path_is_named(spinning):
    response, content = ask(spinning, "debug/pprof/heap?debug=1")
    assert response.status == 400 and b"debug is to be 0" in content
    response, content = ask(spinning, "debug/pprof/trace")
    assert response.status == 404 and b"there is no debug/pprof/trace" in content


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "OPTIONS"])
def test_other_methods_get_a_405(spinning, method):
    response, _ = ask(spinning, "debug/pprof/profile", method=method)
    assert (response.status, response.headers["Allow"]) == (405, "GET")


def test_the_list_and_the_command_line_are_text(spinning):
    response, content = ask(spinning, "debug/pprof/")
    assert response.status == 200 and response.headers["Content-Type"].startswith("text/plain")
    assert all(one.partition("?")[0] in content.decode() for one in SCRAPED)
    assert ask(spinning, "debug/pprof")[1] == content
    assert ask(spinning, "debug/pprof/cmdline")[1].split(b"\0")[-1] == b"1000"
    assert ask(spinning, "pprof/cmdline")[1].split(b"\n")[-1] == b"1000"
    assert f"{spinning.uri}debug/pprof/" in ask(spinning, "")[1].decode()


# Names of addresses


def test_addresses_of_a_profile_are_named(spinning):
    pulled = Pulled.of(spinning, "debug/pprof/profile?seconds=0")
    addresses = {one["address"][0]: pulled.names({"location_id": [number]})[-1]
                 for number, one in pulled.locations.items() if "address" in one}
    assert addresses
    body = "+".join(f"{address:#x}" for address in addresses)
    for folder in ("debug/pprof", "pprof"):
        assert ask(spinning, f"{folder}/symbol")[1] == b"num_symbols: 1\n"
        response, content = ask(spinning, f"{folder}/symbol", method="POST", body=body)
        assert response.status == 200
        head, *lines = content.decode().splitlines()
        found = {int(line.split("\t")[0], 16): line.split("\t")[1] for line in lines}
        assert head == "num_symbols: 1" and found == addresses


@pytest.mark.parametrize("body", [b"", b"+", b"\0\xff" * 1000, b"0x" + b"f" * 1000, b"zzz+0x", b"1" * 1024 * 1024],
                         ids=["nothing", "plus", "bytes", "long", "words", "a megabyte"])
def test_garbage_for_addresses_has_no_names(spinning, body):
    response, content = ask(spinning, "pprof/symbol", method="POST", body=body)
    assert (response.status, content) == (200, b"num_symbols: 1\n")


def test_too_many_addresses_and_such_without_a_length_are_refused(spinning):
    assert ask(spinning, "pprof/symbol", method="POST", body=b"1" * (1024 * 1024 + 1))[0].status == 413
    assert ask(spinning, "pprof/symbol", method="POST", body=iter([b"0x1"]))[0].status == 411
    response, _ = ask(spinning, "/pprof/symbol", method="POST", body=b"0x1")
    assert response.status == 403


def test_a_body_that_comes_in_pieces_is_whole_at_its_end(spinning):
    port, token = place(spinning)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(f"POST /{token}/pprof/symbol HTTP/1.0\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n0x".encode())
        for byte in b"1+0x2":
            raw.sendall(bytes([byte]))
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\nnum_symbols: 1\n")
