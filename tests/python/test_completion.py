"""What the shells are given, and what they make of it."""

import shutil
import subprocess

import pytest
from isoscope import cli
from isoscope.cli import catalogue
from isoscope.cli.commands import completion
from isoscope.cli.catalogue import Command, Option

RUN_HELP = """\
Usage: isoscope run [OPTIONS] [--] PROGRAM [ARGS...]

Runs PROGRAM.

  --port N                   listen on 127.0.0.1:N (default: a free port)
  --mode cpu|wall            sample threads that run (default), or all of them: what sleeps
                             is seen too
  --disable-service-auth-codes
                             no token in the URL
  --help                     this text
"""


@pytest.fixture
def commands(monkeypatch):
    monkeypatch.setattr(catalogue, "help_of_c", lambda name: RUN_HELP)
    return catalogue.catalogue(cli.subparsers())


def test_options_of_c_are_read_from_its_help(commands):
    run = {option.flags[0]: option for option in commands[0].options}
    assert list(run) == ["--port", "--mode", "--disable-service-auth-codes", "--help"]
    assert run["--port"].value == "N" and run["--mode"].choices == ["cpu", "wall"]
    assert run["--mode"].help.endswith("what sleeps is seen too")
    assert run["--disable-service-auth-codes"].help == "no token in the URL"


def test_every_command_and_option_is_in_every_shells_text(commands):
    assert {c.name for c in commands} == {*catalogue.IN_C, *cli.COMMANDS}
    for shell, make in completion._SHELLS.items():
        text = make(commands)
        for command in commands:
            assert command.name in text
            for flag in [f for option in command.options for f in option.flags]:
                wanted = flag.lstrip("-") if shell == "fish" else flag
                assert wanted in text, (shell, command.name, flag)


# What is typed, and what may come next.
TYPED = [
    ("isoscope to", {"top"}),
    ("isoscope dump --thr", {"--thread"}),
    ("isoscope run --mode ", {"cpu", "wall"}),
    ("isoscope completion ", {"bash", "zsh", "fish"}),
    ("isoscope export pp", {"pprof"}),
    ("isoscope export --weight ", {"samples", "us"}),
    ("isoscope export pprof pr", {"prof.json"}),
    ("isoscope export -o pr", {"prof.json"}),
]
NASTY = [
    Command(
        "odd", "it's [so]: \\ odd", options=[Option(["--odd"], "N", "don't [do]: $(touch x) `ls`")]
    )
]


@pytest.mark.parametrize("typed, wanted", TYPED)
def test_bash_completes(commands, typed, wanted, tmp_path):
    (tmp_path / "prof.json").touch()
    words = typed.split(" ")
    script = completion._SHELLS["bash"](commands) + (
        f"\nCOMP_WORDS=({' '.join(words[:-1])} \"{words[-1]}\") COMP_CWORD={len(words) - 1}\n"
        '_isoscope; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=30, cwd=tmp_path
    )
    assert (set(done.stdout.split()), done.stderr) == (wanted, "")


@pytest.mark.parametrize("typed, wanted", TYPED)
def test_fish_completes(commands, typed, wanted, tmp_path):
    fish = shutil.which("fish") or pytest.skip("needs fish")
    (tmp_path / "prof.json").touch()
    script = completion._SHELLS["fish"](commands) + f"\ncomplete -C '{typed}'\n"
    done = subprocess.run(
        [fish, "--no-config", "-c", script], capture_output=True, text=True, timeout=30,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, cwd=tmp_path,
    )  # fmt: skip
    told = {line.partition("\t")[0] for line in done.stdout.splitlines()}
    assert wanted <= told and done.stderr == ""
    assert not (told - wanted) or typed.endswith(" ")  # fish adds files to a word that is empty


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_text_is_right_for_its_shell_whatever_a_help_says(commands, shell):
    binary = shutil.which(shell) or pytest.skip(f"needs {shell}")
    text = completion._SHELLS[shell](commands + NASTY)
    done = subprocess.run([binary, "-n"], input=text, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
