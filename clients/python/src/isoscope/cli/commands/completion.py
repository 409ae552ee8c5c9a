"""`isoscope completion SHELL`: what a shell needs to complete isoscope's words."""

from __future__ import annotations

import argparse
from typing import Any, Callable

from .. import options
from ..catalogue import Command, Option, catalogue
from ..exits import DONE


def add(commands: Any) -> None:
    parser = options.add_command(
        commands,
        "completion",
        run,
        help="print a shell's completions for isoscope",
        description="Print a shell's completions for isoscope's commands and options.",
        examples=[
            'eval "$(isoscope completion bash)"                                    # in ~/.bashrc',
            'eval "$(isoscope completion zsh)"                                     # in ~/.zshrc',
            "isoscope completion fish > ~/.config/fish/completions/isoscope.fish",
        ],
    )
    parser.set_defaults(commands=commands)
    parser.add_argument("shell", choices=tuple(_SHELLS), help="shell to print them for")


def run(args: argparse.Namespace) -> int:
    print(_SHELLS[args.shell](catalogue(args.commands)), end="")
    return DONE


def _names(commands: list[Command]) -> str:
    return " ".join([command.name for command in commands] + ["help"])


def _flags(command: Command) -> list[str]:
    return [flag for option in command.options for flag in option.flags]


def _words(command: Command) -> list[str]:
    """What its first word may be."""
    return command.words[0].choices if command.words else []


def _takes_more(command: Command) -> bool:
    """A file, behind that word."""
    return len(command.words) > 1


_BASH = """\
# isoscope completion bash
_isoscope() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} place words=""
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "{names}" -- "$current")
        return
    fi
    for ((place = 2; place < COMP_CWORD; place++)); do
        if [[ ${{COMP_WORDS[place]}} == -- ]]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
            return
        fi
    done
    case "${{COMP_WORDS[1]}} $before" in
{values}    esac
    if [[ $current == -* ]]; then
        case ${{COMP_WORDS[1]}} in
{options}        esac
        return
    fi
    case ${{COMP_WORDS[1]}} in
{words}    esac
    for ((place = 2; place < COMP_CWORD; place++)); do
        [[ " $words " != *" ${{COMP_WORDS[place]}} "* ]] || words=""
    done
    if [[ $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}}
complete -o filenames -F _isoscope isoscope
"""


def _bash(commands: list[Command]) -> str:
    def reply(words: str) -> str:
        return f'mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current")'

    files = 'mapfile -t COMPREPLY < <(compgen -f -- "$current")'

    values = "".join(
        f'    "{command.name} {flag}") {answer}; return ;;\n'
        for command in commands
        for option in command.options
        for answer in [reply(" ".join(option.choices)) if option.choices else files]
        if option.choices or (option.value and _words(command))
        for flag in option.flags
    )
    options = "".join(
        f"        {command.name}) {reply(' '.join(_flags(command) + _end(command)))} ;;\n"
        for command in commands
    )
    words = "".join(
        f'    {command.name}) words="{" ".join(_words(command))}" ;;\n'
        for command in commands
        if _words(command)
    )
    words += f'    help) words="{_names(commands)}" ;;\n'
    return _BASH.format(names=_names(commands), values=values, options=options, words=words)


def _end(command: Command) -> list[str]:
    return ["--"] if command.takes_command else []


_ZSH = """\
#compdef isoscope
# isoscope completion zsh
_isoscope() {{
    local -a commands
    commands=(
{commands}        help
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local place=${{words[(i)--]}}
    if (( place < CURRENT )); then
        shift $place words
        (( CURRENT -= place ))
        _normal
        return
    fi
    case $words[2] in
{options}    help) _describe command commands ;;
    *) _files ;;
    esac
}}
compdef _isoscope isoscope
"""


def _zsh(commands: list[Command]) -> str:
    lines = "".join(f"        {_quoted(f'{c.name}:{c.help}')}\n" for c in commands)
    return _ZSH.format(commands=lines, options="".join(_zsh_case(c) for c in commands))


def _zsh_case(command: Command) -> str:
    specs = [_zsh_option(flag, option) for option in command.options for flag in option.flags]
    if _words(command):
        specs.append(_quoted(f"1:word:({' '.join(_words(command))})"))
    if not _words(command) or _takes_more(command):
        specs.append(_quoted("*:file:_files"))
    options = " \\\n            ".join(specs)
    return (
        f"    {command.name})\n"
        "        shift words; (( CURRENT-- ))\n"
        f"        _arguments {options} ;;\n"
    )


def _zsh_option(flag: str, option: Option) -> str:
    # In a spec, brackets and colons mean something.
    help = option.help.translate({ord("["): "(", ord("]"): ")", ord(":"): ";", ord("\\"): "/"})
    value = ""
    if option.value:
        action = f"({' '.join(option.choices)})" if option.choices else "_files"
        value = f":{option.value.replace(':', ' ')}:{action}"
    return _quoted(f"{flag}[{help}]{value}")


def _fish(commands: list[Command]) -> str:
    """The words after `--` are another command's."""
    lines = [
        "# isoscope completion fish",
        "complete -c isoscope -n __fish_use_subcommand -f",
        "complete -c isoscope -n 'contains -- -- (commandline -opc)' -x"
        " -a '(__fish_complete_subcommand"
        " --fcs-skip=(math (contains -i -- -- (commandline -opc))))'",
    ]
    for command in commands:
        name, help = command.name, _quoted(command.help)
        lines.append(f"complete -c isoscope -n __fish_use_subcommand -f -a {name} -d {help}")
        seen = f"complete -c isoscope -n '__fish_seen_subcommand_from {name}'"
        for option in command.options:
            lines.append(f"{seen} {_fish_option(option)}")
        if _words(command):
            words = " ".join(_words(command))
            first = f"__fish_seen_subcommand_from {name}; and not __fish_seen_subcommand_from {words}"
            lines.append(f"complete -c isoscope -n '{first}' -f -a '{words}'")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    flags = [f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags]
    value = ""
    if option.choices:
        value = f" -x -a {_quoted(' '.join(option.choices))}"
    elif option.value:
        value = " -r"
    return " ".join(flags) + value + f" -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """In single quotes, for any of the shells."""
    return "'" + text.replace("'", "'\\''") + "'"


_SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
