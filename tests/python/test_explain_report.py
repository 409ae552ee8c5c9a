"""What is printed: names are other people's, and nothing of them is obeyed by a terminal, a shell, Markdown or XML."""

import json
import re
import subprocess
from xml.etree import ElementTree

import pytest
from explained import PROCESS, Run
from isoscope import cli, formats
from isoscope.cli import source
from isoscope.errors import CannotConnect
from isoscope.explain import commands, report
from isoscope.explain.budgets import Budget, judged
from isoscope.explain.commands import Check, From, quoted, words_of
from isoscope.explain.reading import reading_of

NASTY = [
    "operator<<</script><script>alert(1)</script>",
    "a`b``c```d",
    "`",
    "x\n## heading\n- [link](http://example.org)",
    "\x1b[31mred\x1b]0;title\x07",
    "$(touch pwned); `touch pwned` ' \" \\ && | #",
    "@someone *bold* _it_ <img src=x> | cell",
    "-rf",
    "]]>&amp;<!--",
    "\u202ereversed\u200b",
    "\udcff\udc80",
    " ",
]


def report_of(name: str, **more) -> report.Report:
    """Of a run in which everything has that name."""
    run = Run()
    node = run.profile.node(0, run.profile.frame(run.function("main")))
    function = run.function(name, file=f"/src/{name}.c")
    run.profile.thread(PROCESS, 42, name)
    node = run.profile.node(node, run.profile.frame(function, 7))
    for at in range(500):
        run.profile.add_sample(at * 1001, 0, node, state="Running")
    facts = run.facts()
    verdicts = judged([Budget("function", name, "total", 0.1), Budget("stall", "", "count", 0)], facts)
    return report.Report(name, reading_of(facts), From((name,)), verdicts, **more)


@pytest.mark.parametrize("name", NASTY)
def test_text_has_no_control_characters(name):
    shown = report.text(report_of(name))
    assert all(line.isprintable() for line in shown.split("\n"))


def unmarked(shown: str) -> str:
    """Markdown without its code: CommonMark's rule, a run of ticks up to the next run of as many."""
    shown = re.sub(r"^(```+)sh\n[^\n]*\n\1$", "", shown, flags=re.M)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)


@pytest.mark.parametrize("name", NASTY)
def test_markdown_has_names_in_code_only(name):
    shown = report.markdown(report_of(name))
    assert all(line.isprintable() for line in shown.split("\n"))
    rest = unmarked(shown)
    assert "`" not in rest
    for part in ("script", "heading", "example.org", "touch", "someone", "img", "&amp", "reversed", "[31m"):
        assert part not in rest
    assert [line for line in rest.splitlines() if line.startswith("## ")] == ["## isoscope: 1 finding"]


@pytest.mark.parametrize("name", NASTY)
def test_junit_is_xml_with_a_failure_and_an_error(name):
    suite = ElementTree.fromstring(report.junit(report_of(name)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[part.tag for part in case] for case in suite] == [["failure"], ["error"], ["system-out"]]
    assert "100.0 % ± 0.4 of 10 %" in suite.find("testcase/failure").get("message")


@pytest.mark.parametrize("name", NASTY)
def test_json_has_whole_names(name):
    told = json.loads(report.json(report_of(name)))
    assert told["findings"][0]["place"]["function"] == name
    assert not told["healthy"] and [one["state"] for one in told["budgets"]] == ["exceeded", "unknown"]


@pytest.mark.parametrize("name", NASTY)
def test_a_command_is_the_same_words_to_a_shell(name, tmp_path):
    words = words_of(Check("table", (f"--of={name}",)), From((name,)))
    line = quoted(words)
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", f"set -- {line}; printf '%s\\0' \"$@\""], capture_output=True, cwd=tmp_path, timeout=30)
    assert done.stdout.split(b"\0")[:-1] == [word.encode("utf-8", "surrogateescape") for word in words]
    assert not list(tmp_path.iterdir()) and not done.stderr


def test_commands_have_the_source_its_filters_and_the_command():
    check = commands.stall(3)
    where = From(("here.json",), ("--tag=x", "--from=1"), ("--from=1",))
    assert words_of(check, where) == ["isoscope", "stalls", "--from=1", "here.json", "3"]
    assert words_of(commands.below("a.b"), where)[2:] == ["--group=state", "--focus=^a\\.b$", "--tag=x", "--from=1", "here.json"]
    ran = From(command=("--mode", "wall", "--", "./a", "-x"))
    assert words_of(check, ran) == ["isoscope", "stalls", "--mode", "wall", "--", "./a", "-x"]


# The command line.


@pytest.fixture
def saved(tmp_path):
    def save(run: Run, name: str = "profile.speedscope.json") -> str:
        formats.save(run.profile, "speedscope", tmp_path / name)
        return str(tmp_path / name)

    return save


def hot() -> Run:
    return Run(wall=False).add("main>parse:3", samples=500)


def test_a_file_is_explained_in_each_format(saved, capsys):
    path = saved(hot())
    for words, begin in (
        ([], "profile.speedscope.json: 1 finding"), (["--format", "markdown"], "## isoscope: 1 finding"),
        (["--format", "junit"], "<?xml"), (["--format", "json"], '{"type": "isoscope.explain"'), (["--json"], '{"type"'),
    ):  # fmt: skip
        assert cli.main(["explain", *words, path]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(begin) and not err, out


def test_reports_are_written_beside_what_is_printed(saved, tmp_path, capsys):
    made = [tmp_path / name for name in ("r.md", "r.xml", "r.json", "r.txt")]
    assert cli.main(["explain", saved(hot()), *(word for path in made for word in ("-o", str(path)))]) == 0
    text = capsys.readouterr().out
    assert [path.read_text()[:5] for path in made] == ["## is", "<?xml", '{"typ', text[:5]]


@pytest.mark.parametrize(
    "content, status",
    [("[function]\nparse = 100", 0), ("[function]\nparse = 10", 5), ("[stall]\ncount = 0", 1),
     ("[stall]\ncount = 0\n[function]\nparse = 10", 5)],
)  # fmt: skip
def test_budgets_decide_the_status(saved, tmp_path, content, status, capsys):
    (tmp_path / "b.toml").write_text(content)
    assert cli.main(["explain", "--budget", str(tmp_path / "b.toml"), saved(hot())]) == status
    out = capsys.readouterr().out
    assert ("EXCEEDED" in out) == (status == 5) and ("not checked" in out) == ("stall" in content)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--budget", "none.toml"], "cannot read none.toml: No such file or directory"),
        (["-o", "report.pdf"], "its ending says no format; there are: .txt, .md, .xml, .json"),
        (["--format", "html"], "invalid choice: 'html'"),
        (["--alloc"], "--alloc needs `-- COMMAND`"),
        (["--lock"], "--lock needs `-- COMMAND`"),
        (["--mode", "wall"], "--mode needs `-- COMMAND`"),
        (["other.json"], "explain takes SOURCE; unexpected: 'other.json'"),
        (["--budgets", "x"], "--budgets is not an option of isoscope explain; did you mean --budget?"),
        (["--from", "2", "--last", "1"], "--last excludes --from and --to"),
    ],
)
def test_what_is_wrong_with_the_words_is_said(saved, words, said, capsys, monkeypatch, tmp_path):
    path = saved(hot())
    monkeypatch.chdir(tmp_path)
    try:
        status = cli.main(["explain", path, *words])
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    assert status == 2 and said in err and not out and "Traceback" not in err


def test_a_report_that_cannot_be_written_is_said_before_anything_is_run(saved, capsys):
    assert cli.main(["explain", "-o", "/nowhere/r.md", saved(hot())]) == 1
    out, err = capsys.readouterr()
    assert "cannot write /nowhere/r.md: no such folder: /nowhere" in err and not out


@pytest.mark.parametrize(
    "content, said",
    [("", "the file is empty"), ("hello", "unrecognized text format"), ("{", "JSON"), ("\x00\x01", "isoscope reads")],
)
def test_a_file_that_is_no_profile_is_named_without_what_it_would_do_to_a_terminal(tmp_path, content, said, capsys):
    path = tmp_path / "evil\x1b[31m.json"
    path.write_text(content)
    assert cli.main(["explain", str(path)]) == 1
    err = capsys.readouterr().err
    assert said in err and "\x1b" not in err and "evil?[31m.json" in err


def test_a_file_that_is_not_there_is_said(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["explain", "gone\x1b[31m.json"])
    err = capsys.readouterr().err
    assert end.value.code == 2 and "no such file: 'gone?[31m.json'" in err


@pytest.mark.parametrize("said", ["no service listens at 127.0.0.1:1", "the service refused the token (403)"])
def test_a_service_that_is_gone_or_refuses_us_is_said(monkeypatch, capsys, said):
    def refuse(uri, name=None):
        raise CannotConnect(said)

    monkeypatch.setattr(source, "Client", refuse)
    assert cli.main(["explain", "http://127.0.0.1:1/secret=/"]) == 3
    out, err = capsys.readouterr()
    assert err == f"isoscope: {said}\n" and not out


def test_a_profile_without_samples_says_why(saved, capsys):
    folded = saved(hot()).replace("profile.speedscope.json", "one.folded")
    with open(folded, "w") as file:
        file.write("main;a 1\n")
    assert cli.main(["explain", folded]) == 0
    assert "there are only 1 sample" in capsys.readouterr().out
