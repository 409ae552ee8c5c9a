"""How a program ended, in words."""

import pytest
from isoscope.cli.ending import ended, how


@pytest.mark.parametrize(
    "end, manner, sentence",
    [
        ({}, "", "it has ended"),
        ({"status": 0}, "with status 0", "it has ended with status 0"),
        ({"signal": "SIGKILL", "core": False}, "by SIGKILL", "it was ended by SIGKILL"),
        (
            {"signal": "SIGSEGV", "core": True},
            "by SIGSEGV, core dumped",
            "it was ended by SIGSEGV, core dumped",
        ),
    ],
)
def test_an_end_is_told_as_far_as_it_is_known(end, manner, sentence):
    assert how(end) == manner
    assert ended("it", end) == sentence
