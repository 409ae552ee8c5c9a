"""The cases of tests/labels: how names are shortened, by every client alike."""

import json
import pathlib

import pytest
from isoscope.text.short_name import name_forms, short_name

CASES = json.loads((pathlib.Path(__file__).parents[1] / "labels/cases.json").read_text("utf-8"))


@pytest.mark.parametrize(("name", "shorter"), CASES["forms"])
def test_a_name_is_shortened_as_in_all_clients(name, shorter):
    assert list(name_forms(name)) == [name, *shorter]


@pytest.mark.parametrize(("name", "characters", "text"), CASES["shortened"])
def test_the_longest_form_that_fits_is_taken(name, characters, text):
    assert short_name(name, characters) == text


def test_names_that_nobody_wrote_are_shortened_too():
    for name in ("<" * 20_000, "a<" * 9000, "a::" * 9000, "f(" * 9000, "<" + "[" * 20_000 + ">::a"):
        assert len(short_name(name, 20)) <= 20
