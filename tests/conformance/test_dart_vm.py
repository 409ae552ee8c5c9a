"""What was asked of a real Dart VM is asked of ours, and the answers compared (replay.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from replay import DART_VM, Allowed, replayed  # noqa: E402
from shapes import Difference, Shapes  # noqa: E402


@pytest.fixture(scope="module")
def report():
    return replayed(list(DART_VM["topics"]))


@pytest.fixture(scope="module")
def allowed():
    return Allowed.load()


def test_answers_are_those_of_the_vm_but_for_what_was_reviewed(report, allowed):
    assert report.asked > 400
    differing = {f"{difference.where}: {difference.what}": requests[0]
                 for difference, requests in report.found.items() if not allowed.entry(difference)}
    assert not differing


def test_a_difference_that_is_gone_is_allowed_no_more(report, allowed):
    assert not allowed.unused(report)


def test_every_allowed_difference_has_its_reason(allowed):
    assert all(len(entry["reason"]) > 0 for entry in allowed.entries)


# The comparison itself


@pytest.mark.parametrize("value, difference", [
    ({"type": "T", "a": 1}, Difference("T.b", "missing")),
    ({"type": "T", "a": "1", "b": []}, Difference("T.a", "string instead of integer")),
    ({"type": "T", "a": 1, "b": ["x"]}, Difference("T.b", "string instead of U")),
    ({"type": "T", "a": 1, "b": [], "c": 0}, Difference("T.c", "not known to the VM")),
    ({"type": "T", "a": 1, "b": [{"type": "U"}]}, Difference("U.d", "missing")),
])
def test_a_shape_that_differs_is_named(value, difference):
    shapes = Shapes()
    shapes.learn({"type": "T", "a": 1, "b": [{"type": "U", "d": None}]}, "m")
    assert list(shapes.differences(value, "m", {"T"})) == [difference]


def test_what_was_sometimes_absent_may_be_and_private_members_are_ours_to_add():
    shapes = Shapes()
    shapes.learn({"type": "T", "a": 1}, "m")
    shapes.learn({"type": "T"}, "m")
    assert not list(shapes.differences({"type": "T", "_own": 1}, "m", {"T"}))
