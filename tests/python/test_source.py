"""Where profiles come from, as the commands read them: `export folded -o -` shows all of one."""

import io

import pytest
from fakes import client_of, service_of
from isoscope import cli
from isoscope.cli import place, source
from isoscope.errors import CannotConnect, RpcError, ServiceEnded

URI = "http://127.0.0.1:8181/token=/"
SPLIT = {"main;spin_twice": 2, "main;spin_once": 1}


@pytest.fixture
def run(monkeypatch, capsysbinary):
    """run(service, words...): the samples' stacks go to stdout."""

    def run(service, *words):
        def connect(uri, name=None):
            if isinstance(service, Exception):
                raise service
            return client_of(service)

        monkeypatch.setattr(source, "Client", connect)
        try:
            status = cli.main(["export", "folded", "-o", "-", *words])
        except SystemExit as end:
            status = end.code
        out, err = capsysbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


@pytest.fixture
def saved(tmp_path):
    """A file with three samples, a millisecond apart."""
    from isoscope import formats
    from test_filters import THREE

    formats.save(THREE, "speedscope", tmp_path / "three.json")
    return str(tmp_path / "three.json")


def test_a_service_and_a_file_are_both_a_source(run, saved):
    assert run(service_of({"spin:42": SPLIT}), URI)[0] == 0
    status, out, err = run(None, saved)
    assert (status, err) == (0, "") and "main;print" in out


def test_filters_are_for_both(run, saved):
    _, out, _ = run(service_of({"spin:42": SPLIT}), URI, "--focus", "twice")
    assert "spin_twice" in out and "spin_once" not in out
    _, out, _ = run(None, saved, "--hide", "^parse$")
    assert "parse" not in out and "main" in out


@pytest.mark.parametrize(
    "words, stacks",
    [(["--from", "1ms", "--to", "1.5ms"], 1), (["--last", "0.001"], 2), (["--to", "0"], 1)],
)
def test_a_window_counts_from_the_first_or_the_last_sample(run, words, stacks):
    _, out, _ = run(service_of({"spin:42": {"a": 1, "b": 1, "c": 1}}), URI, *words)
    assert len(out.splitlines()) == stacks


@pytest.mark.parametrize(
    "words, said",
    [
        (["--from", "60"], "no samples in this range. There are 3, from 0 to 0.002 s"),
        (["--focus", "spin_twcie"], "matches no function; similar: spin_twice"),
        (["--thread", "worker"], "no thread 'worker'"),
        (["--tag", "parse"], "no tag 'parse'"),
        (["--process", "zsh"], "no process 'zsh'; there are: spin (42)"),
        (["--ignore", "main"], "no samples match the filters"),
    ],
)
def test_nothing_to_show_says_why(run, words, said):
    status, out, err = run(service_of({"spin:42": SPLIT}), URI, *words)
    assert (status, out) == (1, "") and said in err


@pytest.mark.parametrize(
    "service, said",
    [
        (service_of({"spin:42": {}}, profiler=False), "the profiler is off"),
        (service_of({}), "no process has reported"),
        (service_of({"spin:42": {}}), "little or no CPU time; `--mode wall`"),
    ],
)
def test_a_profile_without_samples_says_why(run, service, said):
    status, out, err = run(service, URI)
    assert (status, out) == (1, "") and said in err


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "needs a URI, a file, `-p PID`, `-- COMMAND`"),
        ([URI, "--", "ls"], "only one of them"),
        ([URI, "--"], "no command follows `--`"),
        ([URI, "--period", "100"], "--period needs `-- COMMAND`"),
        ([URI, "--gil"], "--gil needs `-- COMMAND`"),
        ([URI, "--last", "1", "--from", "2"], "--last excludes --from"),
        ([URI, "--from", "3", "--to", "2"], "--to is before --from"),
        ([URI, "--from", "soon"], "'soon' is not a time, such as 2.5 or 300ms"),
        ([URI, "--focus", "("], "'(' is not a regular expression"),
        (["/no/such/file"], "no such file: '/no/such/file'. A service's URI looks like"),
        (["http:///x"], "is not the URI of a service"),
    ],
)
def test_wrong_words_are_usage_errors(run, words, said):
    status, out, err = run(service_of({"spin:42": SPLIT}), *words)
    assert (status, out) == (2, "") and said in err


def test_a_command_that_takes_none_says_so(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["completion", "bash", "--", "ls"])
    assert end.value.code == 2 and "completion takes no `-- COMMAND`" in capsys.readouterr().err


def test_half_a_file_is_named(run, saved, tmp_path):
    whole = open(saved, encoding="utf-8").read()
    half = tmp_path / "half.json"
    half.write_text(whole[: len(whole) // 2])
    status, out, err = run(None, str(half))
    assert (status, out) == (1, "") and "half.json" in err


@pytest.mark.parametrize(
    "error, status",
    [
        (CannotConnect("refuses the token"), 3),
        (ServiceEnded("ended while it was being read"), 1),
        (RpcError("getVM", {"code": -32601, "message": "Method not found"}), 4),
    ],
)
def test_each_failure_of_a_service_has_its_status(run, error, status):
    assert run(error, URI) == (status, "", f"isoscope: {error}\n")


def test_a_service_that_ends_while_it_is_read_is_said_to(run):
    service = service_of({"spin:42": SPLIT})

    said = "the service at 127.0.0.1 ended while it was being read"

    def cut(params):
        raise ServiceEnded(said)

    service.answers["_getCpuSamples"] = cut
    assert run(service, URI)[::2] == (1, f"isoscope: {said}\n")


def test_half_a_reply_breaks_the_protocol(run):
    service = service_of({"spin:42": SPLIT})
    whole = service.answers["_getCpuSamples"]
    service.answers["_getCpuSamples"] = lambda params: {
        k: v for k, v in whole(params).items() if k not in ("functions", "trees")
    }
    status, out, err = run(service, URI)
    assert (status, out) == (4, "") and "functions" in err



# What stands in the place of a URI, so that nobody reads its token from a command line.


@pytest.fixture
def info(tmp_path):
    path = tmp_path / "info.json"
    path.write_text(f'{{"uri":"{URI}"}}\n')
    return str(path)


def served(run, *words):
    status, out, err = run(service_of({"spin:42": SPLIT}), *words)
    assert (status, err) == (0, "") and "spin_twice" in out


def test_a_service_info_file_is_a_source(run, info):
    served(run, info)


@pytest.mark.parametrize("text", [URI + "\n", f'{{"uri": "{URI}"}}'])
def test_standard_input_names_the_service(run, monkeypatch, text):
    place._from_stdin.cache_clear()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    served(run, "-")


def test_the_environment_names_the_service_by_uri_or_file(run, monkeypatch, info):
    for value in (URI, info):
        monkeypatch.setenv("ISOSCOPE_URI", value)
        served(run)


@pytest.mark.parametrize(
    "value, stdin, words, said",
    [
        ("nonsense", "", [], "$ISOSCOPE_URI: 'nonsense' is neither a URI nor"),
        ("", "nonsense", ["-"], "standard input is neither a URI nor service info"),
        ("", '{"uri": 5}', ["-"], "standard input is neither"),
    ],
)
def test_what_names_no_service_is_said(run, monkeypatch, value, stdin, words, said):
    place._from_stdin.cache_clear()
    monkeypatch.setenv("ISOSCOPE_URI", value)
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    status, out, err = run(service_of({"spin:42": SPLIT}), *words)
    assert (status, out) == (2, "") and said in err


@pytest.mark.parametrize(
    "words, said",
    [
        (["--bogus", "x"], "--bogus is not an option of isoscope tree\n"),
        (["--dept", "3", "x", "y"], "unexpected: 'y'"),
        (["--detph", "3"], "--detph is not an option of isoscope tree; did you mean --depth?"),
        (["-q", "1"], "-q is not an option of isoscope tree\n"),
        (["foo", "bar"], "unexpected: 'bar'; put a command to run after `--`: isoscope tree -- foo bar"),
    ],
)  # fmt: skip
def test_the_mistake_itself_is_blamed(capsys, words, said):
    with pytest.raises(SystemExit) as end:
        cli.main(["tree", *words])
    assert end.value.code == 2 and said in capsys.readouterr().err


def test_an_unknown_command_is_named_with_the_nearest(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["tre"])
    assert end.value.code == 2
    assert "unknown command 'tre'; did you mean tree?" in capsys.readouterr().err
