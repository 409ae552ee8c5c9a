"""One recording, and its totals in the page, in the Python client and in `go tool pprof`: equal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("live", "python", "readers")]

from harness import ROOT, Client, profiled  # noqa: E402
from isoscope import formats  # noqa: E402
from profiles import totals  # noqa: E402
from test_pprof import ALL, table  # noqa: E402

PROGRAM = ["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), "2"]
NODE = os.environ.get("ISOSCOPE_NODE", "node")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The Python client's profile, the page's rows, and the folder of what the page saved."""
    folder = tmp_path_factory.mktemp("page")
    with profiled(PROGRAM) as service:
        words = [NODE, str(HERE / "page_totals.mjs"), service.uri, str(folder)]
        page = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        with Client(service.uri) as client:
            profile = client.profile()
    assert len(profile) > 200, "the machine had no time for it"
    return profile, page, folder


def named_once(profile) -> set[str]:
    """Two functions of one name may stand on one stack."""
    counts = Counter(f.name for f in {frame.function for frame in profile.frames})
    return {name for name, count in counts.items() if count == 1}


def rows_of(page) -> dict[str, dict[str, float]]:
    return {row["name"]: row for row in page["functions"] if row["total"]}


def test_the_page_and_the_python_client_count_the_same(recording):
    profile, page, _ = recording
    assert page["samples"] == len(profile)
    rows, once = rows_of(page), named_once(profile)
    compared = 0
    for name, (own, total, own_us, total_us) in totals(profile).items():
        if name not in once:
            continue
        row = rows.pop(name)
        assert (row["self"], row["total"]) == (own, total), name
        # Whole microseconds there, nanoseconds here.
        assert abs(row["self_ns"] / 1000 - own_us) <= own, name
        assert abs(row["total_ns"] / 1000 - total_us) <= total, name
        compared += 1
    assert compared > 50
    assert not set(rows) & once, "functions that only the page has"


@pytest.mark.parametrize("suffix", [".speedscope.json", ".pb.gz", ".cpusamples.json"])
def test_what_the_page_saves_the_python_client_opens_with_the_same_totals(recording, suffix):
    profile, _, folder = recording
    saved = formats.open(folder / f"page{suffix}")
    assert len(saved) == len(profile)
    expected, once = totals(profile), named_once(profile)
    found = totals(saved)
    assert set(found) == set(expected)
    for name in once:
        assert list(found[name][:2]) == list(expected[name][:2]), name


def test_go_shows_the_same_samples_of_what_the_page_saves(recording, tmp_path):
    if shutil.which("go") is None:
        pytest.skip("needs Debian's golang-go")
    profile, page, folder = recording
    words = ["go", "tool", "pprof", "-top", "-sample_index=samples", *ALL, str(folder / "page.pb.gz")]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PPROF_TMPDIR": str(tmp_path)}
    text = subprocess.run(words, check=True, timeout=100, text=True, capture_output=True,
                          env=environment).stdout  # fmt: skip
    shown, rows, once = table(text), rows_of(page), named_once(profile)
    compared = [name for name in once if name in shown and name in rows]
    assert len(compared) > 50
    for name in compared:
        assert shown[name] == (rows[name]["self"], rows[name]["total"]), name
