"""The commands export and flame, on files."""

import os

import pytest
from isoscope import formats
from isoscope.cli import main
from profiles import synthetic, totals


pytestmark = pytest.mark.usefixtures("page_command")


@pytest.fixture
def source(tmp_path):
    formats.save(synthetic(), "cpusamples", tmp_path / "in.json")
    return str(tmp_path / "in.json")


def ends(words):
    """Its status, however it ends."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize("name", sorted(set(formats.FORMATS) - {"cpuprofile", "trace"}))
def test_every_format_of_samples_can_be_exported(name, source, tmp_path, capfd):
    target = tmp_path / "out"
    assert ends(["export", name, "-o", str(target), source]) == 0
    out, err = capfd.readouterr()
    assert out == "" and f"wrote {target}, {target.stat().st_size:,} bytes" in err


def test_trace_events_of_a_program_that_told_none_are_refused_with_the_reason(source, tmp_path, capfd):
    target = tmp_path / "out.json"
    assert ends(["export", "trace", "-o", str(target), source]) == 1
    assert "event" in capfd.readouterr().err and not target.exists()


def test_what_was_exported_is_a_source_again(source, tmp_path, capfd):
    target = tmp_path / "out.pb.gz"
    assert ends(["export", "pprof", "-o", str(target), source]) == 0
    assert totals(formats.open(target)) == totals(synthetic())
    assert ends(["export", "folded", "--weight", "samples", "-o", "-", str(target)]) == 0
    assert "main;walk;walk;walk;leaf 2\n" in capfd.readouterr().out


def test_a_file_can_go_to_standard_output(source, capfdbinary):
    assert ends(["export", "folded", "-o", "-", "--weight", "us", source]) == 0
    out, err = capfdbinary.readouterr()
    assert b"main;walk;walk;walk;leaf 2000\n" in out and err == b""


def test_a_thread_can_be_chosen_for_a_cpuprofile(source, tmp_path):
    target = tmp_path / "x.cpuprofile"
    assert ends(["export", "cpuprofile", "-o", str(target), "--thread", "42", source]) == 0
    assert target.exists()
    assert ends(["export", "cpuprofile", "-o", str(target), source]) == 0
    made = sorted(p.name for p in tmp_path.glob("*-*.cpuprofile"))
    assert made == ["x-41.cpuprofile", "x-42.cpuprofile", "x-51.cpuprofile"]


@pytest.mark.parametrize(("name", "begins"), [("f.svg", b"<svg"), ("F.HTML", b"<!doctype html>")])
def test_a_flame_graph_is_what_its_suffix_says(name, begins, source, tmp_path):
    assert ends(["flame", "-o", str(tmp_path / name), source]) == 0
    content = (tmp_path / name).read_bytes()
    assert content.startswith(begins) and b"in.json" in content


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["export", "xls", "-o", "x", "SOURCE"], 2, "unknown format 'xls'; formats: cpuprofile"),
        (["export", "pprof", "SOURCE"], 2, "required: -o/--output"),
        (["export", "pprof", "--weight", "us", "-o", "FOLDER/x", "SOURCE"], 2, "takes no --weight"),
        (["export", "pprof", "-o", "FOLDER/no/x", "SOURCE"], 1, "no such folder"),
        (["export", "pprof", "-o", "FOLDER", "SOURCE"], 1, "it is a folder"),
        (["export", "pprof", "-o", "FOLDER/x", "FOLDER/half.json"], 1, "half.json: truncated JSON"),
        (["export", "pprof", "-o", "FOLDER/x", "FOLDER/empty.json"], 1, "no samples"),
        (["export", "cpuprofile", "-o", "-", "SOURCE"], 1, "one thread; here are 3"),
        (["flame", "-o", "FOLDER/x.png", "SOURCE"], 2, "flame writes .svg or .html"),
        (["flame", "-o", "FOLDER/x.svg", "--focus", "nobody", "SOURCE"], 1, "nobody"),
        (["flame", "-o", "FOLDER/x.svg"], 2, "needs a URI, a file"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(words, status, says, source, tmp_path, capfd):
    (tmp_path / "half.json").write_bytes((tmp_path / "in.json").read_bytes()[:-9])
    empty = b'{"type":"CpuSamples","samplePeriod":1,"timeOriginMicros":0,"timeExtentMicros":0,' \
        b'"pid":1,"samples":[],"functions":[],"libraries":[],"_counters":{}}'
    (tmp_path / "empty.json").write_bytes(empty)
    before = sorted(os.listdir(tmp_path))
    words = [w.replace("SOURCE", source).replace("FOLDER", str(tmp_path)) for w in words]
    assert ends(words) == status
    out, err = capfd.readouterr()
    assert says in err and out == ""
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_told(source, tmp_path, capfd):
    tmp_path.chmod(0o500)
    assert ends(["flame", "-o", str(tmp_path / "x.svg"), source]) == 1
    assert "permission denied" in capfd.readouterr().err
