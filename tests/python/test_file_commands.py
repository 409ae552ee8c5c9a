"""`isoscope top FILE` and `isoscope stats FILE`, of every format that can be read."""

import json

import pytest
from isoscope import Profile, cli, formats
from profiles import COUNT, PERIOD_US, TOTAL_US, synthetic, totals

_WITH_TIMES = ("cpusamples", "speedscope")
_READ = (*_WITH_TIMES, "pprof")


@pytest.fixture
def saved(tmp_path):
    def save(name):
        path = tmp_path / f"profile{formats.FORMATS[name].suffix}"
        formats.save(synthetic(), name, path)
        return str(path)

    return save


def _json(capsys, *words):
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", _READ)
def test_top_of_a_file_is_one_page_of_all_that_is_in_the_window(saved, capsys, name):
    told = _json(capsys, "top", saved(name))
    expected = totals(synthetic())
    assert told["sampleCount"] == COUNT
    assert {f["name"]: (f["self"], f["total"], f["selfMicros"]) for f in told["functions"]} == {
        name: (own, total, own_us) for name, (own, total, own_us, _) in expected.items()
    }
    assert sum(thread["cpuMicros"] for thread in told["threads"]) == TOTAL_US
    assert (told["spanMicros"] > 0) == (name in _WITH_TIMES)


@pytest.mark.parametrize("words", [["--last", "1"], ["--from", "0"], ["--to", "300ms"]])
def test_a_file_without_times_has_no_window(saved, capsys, words):
    assert cli.main(["tree", *words, saved("pprof")]) == 2
    assert "profile.pb.gz have no times" in capsys.readouterr().err
    assert cli.main(["tree", *words, saved("speedscope")]) == 0


def test_top_of_a_file_is_what_came_last(saved, capsys):
    told = _json(capsys, "top", "--window", "2ms", saved("cpusamples"))
    assert told["sampleCount"] == 2 and told["spanMicros"] == 2000
    assert {f["name"] for f in told["functions"] if f["self"]} == {"operator<</script>;&(x)", "0x7f0012"}


def test_top_of_a_file_prints_functions_or_threads_and_ends(saved, capsys):
    path = saved("cpusamples")
    assert cli.main(["top", path]) == 0
    text = capsys.readouterr().out
    assert f"{COUNT} samples in the last 0.0 s" in text and "memcpy" in text
    assert cli.main(["top", "--threads", "--rows", "1", path]) == 0
    (row,) = capsys.readouterr().out.splitlines()[4:]
    assert " 41 " in row


def test_top_of_a_file_without_times_says_so(saved, capsys):
    assert cli.main(["top", saved("pprof")]) == 0
    assert f"{COUNT} samples without times, 10.5 ms CPU" in capsys.readouterr().out


@pytest.mark.parametrize("name", _READ)
def test_stats_of_a_file_count_its_samples_threads_and_time(saved, capsys, name):
    told = _json(capsys, "stats", saved(name))
    assert (told["sampleCount"], told["cpuMicros"]) == (COUNT, TOTAL_US)
    assert told["samplePeriod"] == PERIOD_US
    threads = [thread for process in told["processes"] for thread in process["threads"]]
    assert sorted((t["tid"], t["samples"]) for t in threads) == [(41, 5), (42, 4), (51, 2)]
    assert (told["timeExtentMicros"] > 0) == (name in _WITH_TIMES)
    assert cli.main(["stats", saved(name)]) == 0
    text = capsys.readouterr().out
    assert f"{COUNT} samples of 2 processes, 3 threads" in text


def test_stats_of_a_file_tell_what_was_lost_and_cut(saved, capsys):
    told = _json(capsys, "stats", saved("cpusamples"))
    assert (told["cutCount"], told["lost"]) == (2, {"ring_full": 2})
    assert cli.main(["stats", saved("cpusamples")]) == 0
    text = capsys.readouterr().out
    assert "2  the thread's ring was full" in text and "81.8 % complete" in text
    assert "one sample per 1 ms" in text


def test_stats_and_top_of_a_file_can_be_of_one_process(saved, capsys):
    for word in ("stats", "top"):
        assert _json(capsys, word, "--process", "51", saved("cpusamples"))["sampleCount"] == 2
        assert cli.main([word, "--process", "nobody", saved("cpusamples")]) == 1
        assert "no process 'nobody'" in capsys.readouterr().err


def test_a_file_without_samples_is_nothing_to_show(tmp_path, capsys, saved):
    path = tmp_path / "empty.json"
    reply = json.loads(open(saved("cpusamples")).read())
    path.write_text(json.dumps({**reply, "samples": []}))
    for word in ("stats", "top"):
        assert cli.main([word, str(path)]) == 1
        assert "no samples in" in capsys.readouterr().err


def test_a_file_that_is_none_is_named(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n")
    for word in ("stats", "top"):
        assert cli.main([word, str(path)]) == 1
        assert "notes.txt" in capsys.readouterr().err


def test_an_empty_profile_has_no_window():
    from isoscope.live import StillWindow

    window = StillWindow(Profile(), 5_000_000)
    assert (window.functions(), window.threads(), window.span_us) == ([], [], 0)
