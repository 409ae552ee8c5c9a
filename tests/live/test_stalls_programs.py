"""Loops of programs that nobody has changed: they are found, and so is what makes them late."""

from __future__ import annotations

import os

import pytest
from stall_loop import all_stalls
from stall_programs import Program
from stall_servers import SERVERS
from stall_toolkits import TOOLKITS, Gtk


@pytest.fixture(params=[*SERVERS, *TOOLKITS], ids=lambda kind: kind.name)
def program(request, short_path) -> Program:
    kind = request.param
    if reason := kind.missing():
        pytest.skip(reason)
    os.chmod(short_path, 0o777)  # of those that give up root
    with kind(short_path).running() as running:
        running.learned()
        yield running


def test_what_makes_it_late_is_named(program):
    for case in program.cases():
        program.late(case)


def test_a_loop_within_a_loop_is_no_stall(short_path):
    """A dialog of GTK waits for its answer in a loop of its own."""
    if reason := Gtk.missing():
        pytest.skip(reason)
    with Gtk(short_path).running() as program:
        program.learned()
        dialog, slept = program.case("asked", set(), ""), program.cases()[0]
        cursor = program.client.call("_getStalls")["next"]
        dialog.act()
        program.late(slept)  # so the one before it was judged
        assert [s for s in all_stalls(program.client, since=cursor)
                if s["cause"] not in {"sleep", "starved", "host", "busy"}] == []
