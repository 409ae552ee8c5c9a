"""The man page, made of what the commands say of themselves:

    ISOSCOPE_COMMAND=build/bin/isoscope python3 -m isoscope.cli.man > isoscope.1
"""

from __future__ import annotations

from .. import __version__
from . import subparsers
from .catalogue import Command, Option, catalogue

_INTRODUCTION = """\
isoscope is a sampling profiler for native Linux programs. \\fBisoscope run\\fR starts a program
with a small sampler and serves its profile over the Dart VM service protocol. The other
commands read profiles. The program is not rebuilt, and needs no debug information.
.PP
\\fISOURCE\\fR is a service's info file or its URI (the line "listening on" of \\fBisoscope run\\fR),
or a file with a profile. \\fB\\-\\- COMMAND ARGS\\fR instead of it runs a command with the sampler,
waits for its end and reads its profile. Ctrl\\-C goes to the command then."""

_STATUSES = [
    ("0", "done"),
    ("1", "failed, or there is nothing to show; standard error says why"),
    ("2", "wrong usage"),
    ("3", "no service could be connected to"),
    ("4", "the service answered with an error, or broke the protocol"),
    ("130", "Ctrl\\-C"),
]
_STATUSES_AFTER = """\
\\fBisoscope run\\fR and \\fBrecord\\fR, and the commands with \\fB\\-\\- COMMAND\\fR where its profile was shown, return
the program's own status (128 + N where signal N ended it); 125, 126 and 127 where it could not be
sampled, executed or found; 3 where it ended with 0, and a loop stalled for as long as \\fB\\-\\-fail\\-on\\-stall\\fR
says. \\fBreplay\\fR returns 0 where all is the same, 1 where something differs, 2
where it could not be run. \\fBserve \\-\\-push\\fR and \\fBsymbolize \\-\\-upload\\fR return 4 where the receiver
refused some of what it was sent, 5 where it was in trouble and not all was sent. Results go to standard output, everything else to standard error."""

_ENVIRONMENT = [
    ("NO_COLOR", "no colours, where it is not empty"),
    ("ISOSCOPE_PYTHON", "the Python that runs the commands but run, record, serve, symbolize, lsp and mcp"),
    ("ISOSCOPE_NODE", "the node that runs \\fBisoscope lsp\\fR and \\fBmcp\\fR"),
    ("ISOSCOPE_COMMAND", "the isoscope binary that these commands start"),
    ("DEBUGINFOD_URLS", "servers that \\fBisoscope run \\-\\-debuginfod\\fR asks for debug data"),
]


def page(commands: list[Command]) -> str:
    parts = [
        f'.TH ISOSCOPE 1 "" "isoscope {__version__}" "User Commands"',
        ".SH NAME\nisoscope \\- profile native programs over the Dart VM service protocol",
        ".SH SYNOPSIS\n" + "\n.br\n".join(f"\\fBisoscope {c.name}\\fR ..." for c in commands),
        ".SH DESCRIPTION\n" + _INTRODUCTION,
        ".SH COMMANDS\n" + "\n".join(_command(command) for command in commands),
        ".SH EXIT STATUS\n" + _listed(_STATUSES) + "\n.PP\n" + _STATUSES_AFTER,
        ".SH ENVIRONMENT\n" + _listed(_ENVIRONMENT),
    ]
    return "\n".join(parts) + "\n"


def _command(command: Command) -> str:
    lines = [f".SS {_plain(command.name)}", f"\\fB{_plain(command.usage)}\\fR", ".PP"]
    lines.append(_plain(command.description or command.help))
    for word in command.words:
        lines.append(f".TP\n\\fI{_plain(word.flags[0])}\\fR\n{_plain(_with_choices(word))}")
    for option in command.options:
        flags = ", ".join(f"\\fB{_plain(flag)}\\fR" for flag in option.flags)
        value = f" \\fI{_plain(option.value)}\\fR" if option.value else ""
        value += f"[=\\fI{_plain(option.may_take)}\\fR]" if option.may_take else ""
        lines.append(f".TP\n{flags}{value}\n{_plain(option.help)}")
    examples = _examples(command)
    if examples:
        body = "\n".join(_plain(example) for example in examples)
        lines.append(f".PP\nExamples:\n.PP\n.RS\n.nf\n{body}\n.fi\n.RE")
    return "\n".join(lines)


def _with_choices(word: Option) -> str:
    return word.help + (f": {', '.join(word.choices)}" if word.choices else "")


def _examples(command: Command) -> list[str]:
    """The first part of a command's epilog."""
    first = command.epilog.partition("\n\n")[0]
    title, *examples = first.splitlines() or [""]
    return [line.strip() for line in examples] if title == "examples:" else []


def _listed(entries: list[tuple[str, str]]) -> str:
    return "\n".join(f".TP\n\\fB{word}\\fR\n{text}" for word, text in entries)


def _plain(text: str) -> str:
    """What roff would take for its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%")
    return "\\&" + text if text[:1] in (".", "'") else text


if __name__ == "__main__":
    print(page(catalogue(subparsers())), end="")
