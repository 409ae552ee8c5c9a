"""For pytest: fixtures, parameters, marks, plug-ins' hooks, rewritten asserts, and what fails."""

import contextlib
import json

import pytest


@pytest.fixture(scope="module")
def numbers():
    yield list(range(60))


@pytest.fixture(params=["plain", "sorted", "json"])
def shaped(request, numbers, tmp_path):
    if request.param == "json":
        (tmp_path / "numbers").write_text(json.dumps(numbers))
        return json.loads((tmp_path / "numbers").read_text())
    return sorted(numbers, key=lambda n: -n) if request.param == "sorted" else numbers


@contextlib.contextmanager
def counted(into):
    into.append(1)
    try:
        yield into
    finally:
        into.pop()


@pytest.mark.parametrize("least", range(600))
def test_sums(shaped, least):
    with counted([]) as seen:
        assert sum(n for n in shaped if n >= least) == sum(range(least, 60)), seen


@pytest.mark.parametrize("size", range(600))
def test_raises(size):
    with pytest.raises(IndexError, match="out of range"):
        list(range(size))[size]


@pytest.mark.xfail(strict=True)
@pytest.mark.parametrize("size", range(20))
def test_fails(size, capsys):
    print("of", size)
    assert {"sizes": list(range(size)), "said": capsys.readouterr().out} == {"sizes": [], "said": size}
