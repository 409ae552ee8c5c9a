"""The command as a user calls it: what it prints where, and its exit status."""

import json

import pytest
from fakes import client_of, service_of
from isoscope import Function, Process, Profile, cli, formats
from isoscope.cli import source as source_of_commands
from isoscope.errors import CannotConnect, ProtocolError, ServiceEnded
from profiles import synthetic

URI = "http://127.0.0.1:8181/token=/"
SPLIT = {"main;spin_twice": 2, "main;spin_once": 1}


@pytest.fixture
def run(monkeypatch, capsys):
    def run(service, *words):
        def connect(uri, name=None):
            if isinstance(service, Exception):
                raise service
            return client_of(service)

        monkeypatch.setattr(source_of_commands, "Client", connect)
        try:
            status = cli.main(["tree", URI, *words])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_the_tree_goes_to_stdout(run):
    status, out, err = run(service_of({"spin:42": SPLIT}))
    assert (status, err) == (0, "")
    assert out.splitlines()[0].startswith("3 samples over")
    assert " 66.7 %   66.7 %  ├─ spin_twice" in out


def test_the_help_of_export_has_a_row_for_each_format(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main(["export", "--help"])
    rows = [line.split()[:1] for line in capsys.readouterr().out.splitlines()]
    assert all([name] in rows for name in formats.FORMATS)


def test_hot_and_path_replace_the_tree_by_what_was_asked(run):
    _, out, _ = run(service_of({"spin:42": SPLIT}), "--hot", "1", "--path")
    assert "spin_twice" in out and "hot path" in out
    assert "spin_once" not in out and "call tree" not in out


def test_one_process_can_be_chosen_by_name_pid_or_id(run):
    service = service_of({"sh:1": {"wait": 1}, "sort:2": {"compare": 1}})
    for word in ("sort", "2", "isolates/2"):
        _, out, _ = run(service, "--process", word)
        assert "compare" in out and "wait" not in out


def test_an_unknown_process_lists_those_there_are(run):
    status, out, err = run(service_of({"sh:1": {}}), "--process", "zsh")
    assert (status, out) == (1, "")
    assert err == "isoscope: no process 'zsh'; there are: sh (1)\n"


def test_json_is_one_object_whose_nodes_name_their_parent(run):
    status, out, _ = run(service_of({"spin:42": SPLIT}), "--json")
    tree = json.loads(out)
    assert status == 0 and tree["sampleCount"] == 3
    assert [(n["parent"], n["name"], n["total"]) for n in tree["nodes"]] == [
        (None, "spin", 3),
        (0, "main", 3),
        (1, "spin_twice", 2),
        (1, "spin_once", 1),
    ]
    assert tree["nodes"][0]["process"] == "isolates/42"
    assert tree["functions"][0]["self"] == 2


def test_a_stack_deeper_than_jsons_nesting_is_printed(run):
    status, out, _ = run(service_of({"deep:1": {";".join(["f"] * 3000): 1}}), "--json")
    assert status == 0 and len(json.loads(out)["nodes"]) == 3001


def test_count_reaches_the_service(run):
    service = service_of({"spin:42": SPLIT})
    run(service, "--count", "7")
    assert service.requests[-1]["params"]["count"] == 7


@pytest.mark.parametrize(
    "service, reason",
    [
        (service_of({"spin:42": {}}, profiler=False), "the profiler is off"),
        (service_of({}), "no process has reported"),
        (service_of({"spin:42": {}}), "little or no CPU time; `--mode wall`"),
    ],
)
def test_no_samples_is_explained_and_fails(run, service, reason):
    status, out, err = run(service)
    assert (status, out) == (1, "")
    assert reason in err


@pytest.mark.parametrize(
    "error, status",
    [(CannotConnect("no"), 3), (ProtocolError("bad"), 4), (ServiceEnded("gone"), 1)],
)
def test_each_kind_of_failure_has_its_status(run, error, status):
    assert run(error) == (status, "", f"isoscope: {error}\n")


def test_an_error_of_the_service_is_a_protocol_error(run):
    service = service_of({"spin:42": SPLIT})
    del service.answers["_getCpuSamples"]
    status, _, err = run(service)
    assert status == 4 and "_getCpuSamples: Method not found" in err


@pytest.mark.parametrize(
    "words",
    [
        ["--min", "200"],
        ["--min", "x"],
        ["--count", "0"],
        ["--depth", "-1"],
        ["--hot", "1.5"],
        ["--json", "--path"],
        ["--nothing"],
    ],
)
def test_wrong_options_are_usage_errors(run, words):
    status, out, err = run(service_of({"spin:42": SPLIT}), *words)
    assert (status, out) == (2, "")
    assert err.startswith("isoscope: ")


@pytest.mark.parametrize("words", [["fly"], [], ["tree"], ["tree", "localhost"]])
def test_wrong_words_are_usage_errors(words, capsys):
    try:
        status = cli.main(words)
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert capsys.readouterr().err.startswith("isoscope: ")


def test_a_terminal_gets_its_width_and_no_color_is_heard(run, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    service = service_of({"spin:42": {"main;" + "long_name_" * 20: 1}})
    assert "\x1b[" in run(service)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    out = run(service)[1]
    assert "\x1b[" not in out and max(len(line) for line in out.splitlines()) <= 60


# The commands beside tree.


@pytest.fixture
def on_file(tmp_path, capsys):
    """Runs a command on a file that holds the profile."""

    def run(word, *words, profile=None):
        path = tmp_path / "profile.json"
        formats.save(profile or synthetic(), "cpusamples", path)
        try:
            status = cli.main([word, str(path), *words])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_bottomup_shows_callers_below(on_file):
    status, out, _ = on_file("bottomup", "--depth", "2")
    assert status == 0 and "bottom up" in out
    first, second = out.partition("bottom up")[2].splitlines()[1:3]
    assert first.split() == ["28.6", "%", "28.6", "%", "leaf", "app"]
    assert second.split() == ["28.6", "%", "walk", "app"]


def test_table_has_shares_times_and_samples(on_file):
    status, out, _ = on_file("table", "--sort", "total", "--rows", "1")
    assert status == 0
    assert out.splitlines()[-1].split() == ["9.5%", "81.0%", "1.0", "8.5", "9", "main", "app"]


def test_table_of_one_function_has_callers_and_callees(on_file):
    _, out, _ = on_file("table", "--of", "walk")
    assert "called by main" in out and "calls leaf" in out and "calls memcpy" in out
    status, out, err = on_file("table", "--of", "wal")
    assert (status, out) == (1, "") and "similar: walk" in err


def test_hot_lists_functions_over_the_threshold(on_file):
    status, out, _ = on_file("hot", "--threshold", "25")
    assert status == 0 and "leaf" in out and "line 6" in out and "called by main > walk" in out
    assert "memcpy" in out and "nowhere" not in out
    _, out, _ = on_file("hot", "--threshold", "99")
    assert "no function has 99 % of the CPU time as self" in out
    _, out, _ = on_file("hot", "--threshold", "99", "--weight", "samples")
    assert "no function has 99 % of the samples as self" in out


def test_callers_stand_on_one_line_that_is_never_wide(tmp_path, capsys):
    deep = [f"ns{i}::Class<std::vector<int, std::allocator<int> > >::call{i}(int)" for i in range(40)]
    profile = Profile()
    thread = profile.thread(Process("isolates/1", "app", 1), 1, "main")
    functions = [Function(name, name, None) for name in [*deep, "leaf"]]
    node = profile.stack_node([profile.frame(function) for function in functions])
    profile.add_sample(1000, thread, node, weight_us=1000)
    formats.save(profile, "cpusamples", tmp_path / "deep.json")
    assert cli.main(["hot", str(tmp_path / "deep.json")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "called by" in line]
    assert len(line) <= 120 and line.startswith("        called by ... > ")
    assert line.endswith("call38 > ns39::Class::call39")


def test_every_command_has_its_numbers_in_the_unit_that_is_asked_for(on_file):
    def last(*words):
        status, out, _ = on_file(*words)
        assert status == 0
        return out.splitlines()[-1].split()

    table = ("table", "--sort", "total", "--rows", "1", "--unit")
    assert last(*table, "samples") == ["1", "9", "main", "app"]
    assert last(*table, "ms") == ["1.0", "ms", "8.5", "ms", "main", "app"]
    assert last("top", "--unit", "samples", "--rows", "1")[:2] == ["3", "3"]
    assert last("top", "--unit", "ms", "--rows", "1")[:4] == ["3.0", "ms", "3.0", "ms"]
    _, out, _ = on_file("hot", "--threshold", "25", "--unit", "ms")
    assert "3.0 ms  leaf" in out and "2.0 ms    line 6" in out
    words = ("diff", "--before", "0,0.0035", "--after", "0.0035,9", "--unit", "samples")
    rows = {row[4]: row for row in map(str.split, on_file(*words)[1].splitlines()[3:])}
    assert rows["leaf"][:3] == ["-3", "3", "0"]


def test_what_is_inlined_counts_as_its_caller_in_top_too(on_file):
    _, out, _ = on_file("top")
    assert "leaf" in out
    _, out, _ = on_file("top", "--no-inline")
    assert "leaf" not in out and "walk" in out


def test_diff_of_two_windows_says_what_changed(on_file):
    status, out, _ = on_file("diff", "--before", "0,0.0035", "--after", "0.0035,9")
    assert status == 0
    rows = {line.split()[4]: line.split()[:4] for line in out.splitlines()[3:]}
    assert float(rows["leaf"][0]) < 0 and rows["leaf"][2] == "0.0%"


def test_diff_of_a_profile_with_itself_finds_nothing(on_file, tmp_path):
    status, out, _ = on_file("diff", str(tmp_path / "profile.json"))
    assert status == 0 and "nothing changed" in out


@pytest.mark.parametrize("words", [[], ["--before", "0,1"], ["--before", "2,1", "--after", "0,1"],
                                   ["--before", "0", "--after", "0,1"]])
def test_a_diff_of_one_thing_is_a_usage_error(on_file, words):
    status, out, err = on_file("diff", *words)
    assert (status, out) == (2, "") and err.startswith("isoscope: ")


@pytest.mark.parametrize("word, kind", [("tree", "CallTree"), ("bottomup", "BottomUp"),
                                        ("table", "Table"), ("hot", "HotSpots")])
def test_each_prints_one_json_object(on_file, word, kind):
    status, out, _ = on_file(word, "--json")
    told = json.loads(out)
    assert status == 0 and (told["type"], told["sampleCount"]) == (kind, 11)


def test_each_command_says_why_there_is_nothing(on_file):
    for word in ("tree", "bottomup", "table", "hot"):
        status, out, err = on_file(word, "--tag", "nothing")
        assert (status, out) == (1, "") and "no tag 'nothing'" in err
