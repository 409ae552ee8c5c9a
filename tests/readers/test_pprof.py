"""pprof files, as `go tool pprof` and protoc read them."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from isoscope import Client, formats
from subjects import expect, profiled, real, synthetic, totals, workload

HERE = Path(__file__).resolve().parent
ALL = ["-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]
ROW = re.compile(r"\s*(\S+)\s+\S+%\s+\S+%\s+(\S+)\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$")
UNITS = {"": 1, "us": 1, "ns": 1e-3, "ms": 1e3, "s": 1e6, "mins": 60e6}


@pytest.fixture(scope="module", params=["synthetic", "real"])
def profile(request):
    return synthetic() if request.param == "synthetic" else real()


@pytest.fixture
def go(tmp_path):
    """go tool pprof, whose files stay where the test's are. Debian's go comes first: newer ones
    compile pprof at each call that has a HOME of its own, and print other words."""
    command = shutil.which("go", path=f"/usr/bin:{os.environ['PATH']}")
    if command is None:
        pytest.skip("needs Debian's golang-go")

    def run(*words: str) -> str:
        own = str(tmp_path)
        environment = {"HOME": own, "PATH": os.environ["PATH"], "PPROF_TMPDIR": own}
        return subprocess.run([command, "tool", "pprof", *words], check=True, timeout=100, text=True,
                              capture_output=True, env=environment).stdout  # fmt: skip

    return run


def table(text: str) -> dict[str, tuple[float, float]]:
    """Of -top; two rows may have one name."""
    rows: dict[str, tuple[float, float]] = {}
    for line in text.splitlines():
        if found := ROW.match(line):
            own, total = rows.get(found[3], (0, 0))
            rows[found[3]] = own + amount(found[1]), total + amount(found[2])
    return rows


def amount(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]*)", text).groups()
    return float(number) * UNITS[unit]


def saved(profile, folder):
    return formats.save(profile, "pprof", folder / "x.pb.gz")[0]


def test_go_shows_the_same_samples_for_each_function(profile, go, tmp_path):
    text = go("-top", *ALL, "-sample_index=samples", str(saved(profile, tmp_path)))
    assert f"Total samples = {len(profile)}" in text
    expect(profile).check(table(text))


def test_go_shows_the_same_cpu_time_for_each_function(profile, go, tmp_path):
    text = go("-top", *ALL, "-unit=us", str(saved(profile, tmp_path)))
    expect(profile, "us").check(table(text), within=lambda us: 0.01 * us)


def test_go_shows_the_tags(go, tmp_path):
    text = go("-tags", str(saved(synthetic(), tmp_path)))
    for line in ("3.0ms (28.57%): parse", "2.0ms (  100%): cut", "3.5ms (33.33%): worker; 1"):
        assert line in text


def test_go_shows_lines_and_what_is_inlined(go, tmp_path):
    text = go("-raw", str(saved(synthetic(), tmp_path)))
    location = r"M=1 leaf /src/walk\.c:6 s=5\s+walk /src/walk\.c:32 s=30\(walk\(Node\*\)\)"
    assert re.search(location, text), text


def test_go_disassembles_where_the_samples_were(go, tmp_path):
    """By address: nearly all of the function's time is at its instructions."""
    with profiled([workload("spin_two_to_one")]) as service, Client(service.uri) as client:
        profile = client.profile(pcs=True)
    name = max(totals(profile).items(), key=lambda item: item[1][0])[0]
    text = go("-disasm", name, "-sample_index=samples", str(saved(profile, tmp_path)))
    found = re.search(rf"ROUTINE =+ {name}\s+([0-9]+)\s", text)
    assert found, text[:2000]
    assert int(found[1]) >= 0.95 * totals(profile)[name][0]
    assert re.search(r"^\s+[0-9]+\s+[0-9]+\s+[0-9a-f]+: \S+", text, re.MULTILINE), text[:2000]


def test_what_go_writes_again_is_read_with_the_same_totals(profile, go, tmp_path):
    again = tmp_path / "again.pb.gz"
    go("-proto", f"-output={again}", str(saved(profile, tmp_path)))
    assert totals(formats.open(again)) == totals(profile)


def test_protoc_knows_every_field(profile, tmp_path):
    out = io.BytesIO()
    formats.write(profile, "pprof", out)
    text = subprocess.run(
        ["protoc", f"--proto_path={HERE}", "--decode=Profile", "profile.proto"],
        input=gzip.decompress(out.getvalue()), capture_output=True, check=True, timeout=100,
    ).stdout.decode()  # fmt: skip
    # A field that the description does not have is a number there.
    assert not re.search(r"^\s*[0-9]+\b", text, re.MULTILINE)
    assert text.count("\nsample {") == len({row[1:] for row in rows(profile)})


def rows(profile):
    """What makes a sample an entry of its own, after its weight."""
    return [
        (row.weight_us, row.node, row.thread, row.user_tag, row.state, row.whole)
        for row in profile.samples()
    ]
