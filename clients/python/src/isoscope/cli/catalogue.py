"""All commands with their options, as data: for completions and the man page.

    subparsers (Python's commands), `isoscope run --help` (C's) -> catalogue -> [Command]
"""

from __future__ import annotations

import argparse
import re
import subprocess
from dataclasses import dataclass, field
from typing import Any, Optional

from ..errors import IsoscopeError
from ..command import isoscope

IN_C = {
    "run": "run a program with the sampler and serve its profile",
    "record": "run a program with the sampler and write its profile to a file",
    "attach": "sample a program that runs already and serve its profile",
    "serve": "serve saved profiles",
    "symbolize": "give a saved profile its names, or resolve addresses",
    "lsp": "show a profile in editors, as a language server",
    "mcp": "let assistants read profiles, as a Model Context Protocol server",
}
_C_OPTION = re.compile(r"  (?:(-\w), )?(--[a-z][a-z-]*)(?:\[=([A-Z]+)\])?(?: ([^ ]+(?: [A-Z]+)?))?(?:  +(.*))?$")
_MORE_INDENT = 10  # of the lines that go on with an option's help


@dataclass
class Option:
    flags: list[str]
    value: str = ""  # what it is called; "": it takes none
    may_take: str = ""  # the same of one that may stand behind "="
    help: str = ""
    choices: list[str] = field(default_factory=list)


@dataclass
class Command:
    name: str
    help: str
    description: str = ""
    usage: str = ""
    epilog: str = ""
    options: list[Option] = field(default_factory=list)
    words: list[Option] = field(default_factory=list)  # those that are no options; flags: the name
    takes_command: bool = False  # after `--`


def catalogue(subparsers: Any) -> list[Command]:
    """C's first, then Python's in their order. subparsers: what argparse's add_subparsers gave."""
    helps = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    return [_of_c(name, help) for name, help in IN_C.items()] + [
        _of_python(name, helps[name], command) for name, command in subparsers.choices.items()
    ]


def _of_python(name: str, help: str, parser: argparse.ArgumentParser) -> Command:
    command = Command(name, help, parser.description or "", _usage(parser), parser.epilog or "")
    command.takes_command = bool(parser.get_default("takes_command"))
    for action in parser._actions:
        where = command.options if action.option_strings else command.words
        where.append(_option(action))
    return command


def _usage(parser: argparse.ArgumentParser) -> str:
    tail = " [-- COMMAND ARGS...]" if parser.get_default("takes_command") else ""
    return " ".join(parser.format_usage().split()).partition(": ")[2] + tail


def _option(action: Any) -> Option:
    flags = list(action.option_strings) or [str(action.metavar or action.dest)]
    choices = [str(choice) for choice in action.choices or ()]
    value = ""
    if action.option_strings and action.nargs != 0:
        value = str(action.metavar or "|".join(choices) or action.dest.upper())
    help = (action.help or "").replace(" (default: %(default)s)", "")
    return Option(flags, value, help=help, choices=choices)


def help_of_c(name: str) -> str:
    try:
        done = subprocess.run([isoscope(), name, "--help"], capture_output=True, text=True)
    except OSError as error:
        raise IsoscopeError(f"cannot run `isoscope {name} --help`: {error}") from error
    if done.returncode or not done.stdout:
        raise IsoscopeError(f"`isoscope {name} --help` ended with status {done.returncode}")
    return done.stdout


def _of_c(name: str, help: str) -> Command:
    lines = help_of_c(name).splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("  -")), len(lines))
    words = first - 1 if lines[first - 1].endswith(":") else first  # before the first group's name
    usage = [lines[0].partition(": ")[2]]
    for line in lines[1:words]:  # there may be a second way to say it
        if not line.startswith("       isoscope "):
            break
        usage.append(line.strip())
    text = " ".join(lines[len(usage) : words]).split()
    command = Command(name, help, " ".join(text), ", or ".join(usage))
    for line in lines[first:]:
        found = _C_OPTION.match(line)
        if found:
            short, long, may_take, value, does = found.groups()
            flags = [short, long] if short else [long]
            command.options.append(Option(flags, value or "", may_take or "", does or "", _choices(value)))
        elif command.options and line.startswith(" " * _MORE_INDENT):
            last = command.options[-1]
            last.help = f"{last.help} {line.strip()}".strip()
    command.takes_command = name in ("run", "record")
    return command


def _choices(value: Optional[str]) -> list[str]:
    """Without what stands for a word of the user's own: "auto|none|NAMES"."""
    words = value.split("|") if value and "|" in value else []
    return [word for word in words if not word.isupper()]
