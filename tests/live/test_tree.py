"""`isoscope tree` against a real service."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from harness import DEADLINE_S, ISOSCOPE, profiled, service_of, workload

SPIN = [workload("spin_two_to_one"), "0.5"]


@pytest.fixture(scope="module")
def service():
    with profiled(SPIN) as service:
        yield service


def tree(uri, *words):
    return subprocess.run(
        [ISOSCOPE, "tree", uri, *words], capture_output=True, text=True, timeout=DEADLINE_S
    )


def test_the_tree_shows_where_the_ways_part(service):
    done = tree(service.uri)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search("[├└]─ spin_twice", done.stdout)
    assert re.search("[├└]─ spin_once", done.stdout)


def test_json_agrees_with_the_text(service):
    everything = json.loads(tree(service.uri, "--json").stdout)
    # By function, not by name: the loader and the program have a `_start` each.
    assert sum(f["self"] for f in everything["functions"]) == everything["sampleCount"]
    summary = tree(service.uri, "--hot", "2").stdout
    assert summary.startswith(f"{everything['sampleCount']:,} samples over ")
    total = everything["cpuMicros"]
    assert everything["weight"] == "cpu"
    assert sum(f["selfMicros"] for f in everything["functions"]) == total
    (twice,) = (f["selfMicros"] for f in everything["functions"] if f["name"] == "spin_twice")
    assert f"{100 * twice / total:.1f} %" in summary


def test_the_process_can_be_named(service):
    assert tree(service.uri, "--process", "spin_two_to_one").returncode == 0
    done = tree(service.uri, "--process", "nobody")
    assert done.returncode == 1 and "spin_two_to_one" in done.stderr


def test_a_count_bounds_the_samples(service):
    assert tree(service.uri, "--count", "7", "--json").stdout.count('"sampleCount": 7,') == 1


def test_a_wrong_token_cannot_connect(service):
    address = service.uri.rsplit("/", 2)[0]
    done = tree(f"{address}/AAAAAAAAAAAAAAAAAAAAAA==/")
    assert done.returncode == 3 and "refuses the token" in done.stderr


def test_a_paused_profiler_is_named_as_the_reason():
    with service_of([workload("spin_two_to_one"), "60"], "--paused") as service:
        done = tree(service.uri)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the profiler is off" in done.stderr


def test_a_service_that_has_ended_cannot_be_connected_to():
    with service_of(SPIN) as service:
        uri = service.uri
    done = tree(uri)
    assert done.returncode == 3 and "no service answers" in done.stderr
