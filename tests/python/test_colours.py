"""The cases of tests/labels/colours.json: colours as every client gives them."""

import json
import pathlib

import pytest
from isoscope.formats.colours import OTHERS, PALETTE, shaded, slots_of

CASES = json.loads((pathlib.Path(__file__).parents[1] / "labels/colours.json").read_text("utf-8"))


def test_the_palette_is_that_of_all_clients():
    assert list(PALETTE) == CASES["palette"]
    assert OTHERS == CASES["others"]


@pytest.mark.parametrize("case", CASES["slots"])
def test_libraries_have_the_same_colours_as_in_all_clients(case):
    assert slots_of(case["self"]) == case["slots"]


@pytest.mark.parametrize(("slot", "name", "step", "colour"), CASES["shades"])
def test_shades_are_those_of_all_clients(slot, name, step, colour):
    assert shaded(PALETTE[slot], name, step) == colour
