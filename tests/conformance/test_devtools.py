"""What Dart DevTools does, on a program under `isoscope run`; it must not trip (devtools.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import replay  # noqa: F401, E402 - finds the harness
from devtools import SCREENS, DevTools, Tripped  # noqa: E402
from harness import service_of, until, workload  # noqa: E402


@pytest.fixture
def devtools():
    with service_of([workload("spin_two_to_one"), "1000"]) as service:
        one = DevTools(service.uri)
        until(lambda: one.ask("getVM")["isolates"], "the program's isolate")
        yield one
        one.close()


def test_it_connects(devtools):
    devtools.connect()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_gets_what_it_reads(devtools, screen):
    devtools.connect()
    devtools.screen(screen)


def test_the_cpu_profiler_opens_records_and_stops(devtools):
    devtools.connect()
    devtools.open_cpu_profiler()
    samples = devtools.record()
    names = {function["function"]["name"] for function in samples["functions"]}
    assert {"main", "spin_two", "spin_one"} & names


def test_the_profiler_that_was_off_is_turned_on_by_its_button(devtools):
    devtools.connect()
    devtools.ask("setFlag", {"name": "profiler", "value": "false"})
    isolate = {"isolateId": devtools.places["$isolate"]}
    with pytest.raises(Tripped, match="error 100"):
        devtools.ask("getCpuSamples", isolate)
    devtools.events.clear()
    devtools.ask("setFlag", {"name": "profiler", "value": "true"})
    assert [event["flag"] for event in devtools.events] == ["profiler"]
    devtools.open_cpu_profiler()
    devtools.record()


def test_an_unknown_method_is_an_error_that_devtools_can_read(devtools):
    devtools.ask("ext.flutter.nope", error="caught")
