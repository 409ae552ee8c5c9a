"""What isoscope says of itself: help, man page, completion agree with the commands there are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from harness import BUILD, DEADLINE_S, ISOSCOPE, ROOT
from isoscope.cli import COMMANDS
from isoscope.cli.catalogue import IN_C

PAGE = ROOT / "server" / "isoscope.1"


def said(*words: str) -> str:
    done = subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_help_lists_every_command():
    listed = [line.split()[0] for line in said("help").splitlines() if line.startswith("  ")]
    commands = listed[: listed.index("isoscope")]
    assert sorted(commands) == sorted([*IN_C, "help", *COMMANDS])
    assert said("--help") == said("help")


@pytest.mark.parametrize("command", [*IN_C, *COMMANDS])
def test_help_of_a_command_is_its_help(command):
    assert said("help", command) == said(command, "--help")


@pytest.mark.parametrize("command", [*COMMANDS])
def test_every_command_has_examples_and_tells_its_statuses(command):
    text = said(command, "--help")
    assert f"isoscope {command} " in text.partition("examples:\n")[2]
    assert "exit status: 0 done, 1 failed or nothing to show" in text


def test_the_man_page_is_what_the_commands_say():
    package = str(ROOT / "clients" / "python" / "src")
    env = {**os.environ, "ISOSCOPE_COMMAND": ISOSCOPE, "PYTHONPATH": package}
    made = subprocess.run(
        [sys.executable, "-B", "-m", "isoscope.cli.man"], capture_output=True, text=True, env=env,
        timeout=DEADLINE_S,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert PAGE.read_text() == made.stdout, "out of date: ./dev man"


def test_the_man_page_is_right_for_man():
    man = shutil.which("man") or pytest.skip("needs man")
    env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [man, "--warnings", "-l", str(PAGE)], capture_output=True, text=True, env=env, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "isoscope run [OPTIONS] [--] PROGRAM" in done.stdout and "EXIT STATUS" in done.stdout


def test_the_man_page_and_all_of_the_package_are_installed(tmp_path):
    cmake = shutil.which("cmake") or pytest.skip("needs cmake")
    subprocess.run(
        [cmake, "--install", str(BUILD), "--prefix", str(tmp_path)], check=True, timeout=120,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert list(tmp_path.glob("share/man/man1/isoscope.1"))
    package = ROOT / "clients" / "python" / "src" / "isoscope"
    there = tmp_path / "share" / "isoscope" / "python" / "isoscope"
    for pattern in ("*.py", "py.typed", "*.html", "*.css", "*.js"):
        for file in package.rglob(pattern):
            assert (there / file.relative_to(package)).exists(), file


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_the_options_of_run(shell):
    text = said("completion", shell)
    for option in ("protocol-version", "disable-service-auth-codes", "write-service-info"):
        assert option in text
