"""The Python client on a real Dart VM, where ./dev conformance has fetched one into the build
folder."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ISOSCOPE_BUILD") or ROOT / "build").resolve()
DART_SASS = BUILD / "conformance" / "package" / "dart-sass" / "src"
TIMEOUT_S = 120

sys.path[:0] = [str(ROOT / "clients" / "python" / "src")]

from isoscope import AsyncClient, Client, call_tree  # noqa: E402

# Deep recursion that keeps the compiler busy for some seconds.
SCSS = """
@use "sass:math";
@function fib($n) { @if $n < 2 { @return $n; } @return fib($n - 1) + fib($n - 2); }
@for $i from 1 through 200 { .rule-#{$i} { width: fib(15) + $i * 1px; } }
"""


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    if not (DART_SASS / "dart").exists():
        pytest.skip("there is no Dart VM; ./dev conformance fetches one")
    folder = tmp_path_factory.mktemp("sass")
    (folder / "big.scss").write_text(SCSS)
    # DDS and the token are left out; paused at its end, so that the service stays.
    process = subprocess.Popen(
        [DART_SASS / "dart", "--disable-dart-dev", "--no-dds", "--enable-vm-service=0",
         "--disable-service-auth-codes", "--profiler", "--pause-isolates-on-exit",
         DART_SASS / "sass.snapshot", folder / "big.scss", folder / "out.css"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = next(line for line in process.stdout if "listening on" in line)
        yield re.findall(r"http://\S+", told)[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def profile(uri):
    with Client(uri) as client:
        client.listen("Debug")
        (main,) = client.processes()
        event = client.call("getIsolatePauseEvent", isolateId=main.id)
        while event["kind"] != "PauseExit":
            event = client.next_event("Debug", timeout_s=TIMEOUT_S).event
        return client.profile()


def test_its_samples_become_a_call_tree(profile):
    tree = call_tree(profile)
    assert tree.sample_count > 100 and [root.name.split()[0] for root in tree.roots] == ["main"]
    rows = {row.name: row for row in tree.functions()}
    visit = next(name for name in rows if name.endswith("visitFunctionExpression"))
    assert rows[visit].total_count > 0.5 * tree.sample_count >= rows[visit].self_count
    assert rows[visit].library == "package:sass/src/visitor/evaluate.dart"
    assert sum(row.self_count for row in rows.values()) <= tree.sample_count


def test_it_tells_of_itself_in_the_protocols_words(uri):
    with Client(uri) as client:
        assert client.version()["major"] == 4
        assert client.flags()["profiler"] == "true"
        with pytest.raises(Exception, match="Cannot set flag"):
            client.set_flag("no_such_flag", "1")


def test_streams_and_reconnection_work_there_too(uri):
    with Client(uri) as client:
        client.listen("VM")
        client.reconnect()
        client.set_flag("profile_period", "2000")
        assert client.next_event("VM", timeout_s=TIMEOUT_S).event["kind"] == "VMFlagUpdate"


def test_the_asyncio_client_reads_the_same(uri, profile):
    async def read():
        async with AsyncClient(uri) as client:
            return await client.profile()

    # The VM's answers to us are samples of the isolate, too: later ones than the profile's.
    again = asyncio.run(read()).window(profile.first_us, profile.last_us)
    assert list(again.times_us) == list(profile.times_us)
