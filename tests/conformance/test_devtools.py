"""What Dart DevTools does, on a program under `isoscope run`; it must not trip (devtools.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import replay  # noqa: F401, E402 - finds the harness
from devtools import SCREENS, Ask, DevTools, Tripped  # noqa: E402
from harness import record, service_of, serving, until, workload  # noqa: E402


RECORDED_US = 700  # no period of its drop-down


@pytest.fixture
def devtools():
    with service_of([workload("spin_two_to_one"), "1000"]) as service:
        one = DevTools(service.uri)
        until(lambda: one.ask("getVM")["isolates"], "the program's isolate")
        yield one
        one.close()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    file = tmp_path_factory.mktemp("session") / "spin.isoscope"
    record(file, [workload("spin_two_to_one"), "1"], "--period", str(RECORDED_US))
    return file


@pytest.fixture
def on_session(session):
    with serving(session) as service:
        one = DevTools(service.uri)
        yield one
        one.close()


def test_it_connects_to_a_saved_session(on_session):
    on_session.connect()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_gets_what_it_reads_of_a_saved_session(on_session, screen):
    on_session.connect()
    on_session.screen(screen, refused=("clearVMTimeline",))


def test_the_cpu_profiler_loads_a_saved_session_and_cannot_record(on_session):
    """It asks for its own period when it opens; what it hears is that it has it."""
    on_session.connect()
    on_session.open_cpu_profiler()
    samples = on_session.load_all()
    assert samples["samplePeriod"] == RECORDED_US
    names = {function["function"]["name"] for function in samples["functions"]}
    assert samples["sampleCount"] > 100 and {"main", "spin_twice", "spin_once"} & names
    on_session.refused(Ask("clearCpuSamples", {"isolateId": "$isolate"}))
    assert on_session.load_all() == samples


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
    changed = [event["flag"] for event in devtools.events if event["kind"] == "VMFlagUpdate"]
    assert changed == ["profiler"]
    devtools.open_cpu_profiler()
    devtools.record()


def test_an_unknown_method_is_an_error_that_devtools_can_read(devtools):
    devtools.ask("ext.flutter.nope", error="caught")
