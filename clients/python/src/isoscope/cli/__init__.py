"""The client's commands: `isoscope WORD ...` for every word that the C command does not know.

Results go to stdout, everything else to stderr; exits.py has the statuses. What follows `--` is a
command to run, for those that take one.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import textwrap
from typing import Any, Mapping, NoReturn, Optional, Sequence

from ..errors import IsoscopeError
from ..text import printable
from . import mistakes
from .commands import completion, diff, disassemble, docs, dump, explain, export, hot, locks, overhead, replay
from .commands import processes, save, stalls, stats, table, timeline, top, transcript, tree, view, watch
from .exits import FAILED, INTERRUPTED, USAGE, NotStarted, status_of

# One row a command: add(subparsers) makes its parser, whose default `run` does the work.
COMMANDS = {
    "tree": tree.add,
    "bottomup": tree.add_bottom_up,
    "table": table.add,
    "hot": hot.add,
    "explain": explain.add,
    "disassemble": disassemble.add,
    "timeline": timeline.add,
    "stalls": stalls.add,
    "locks": locks.add,
    "diff": diff.add,
    "top": top.add,
    "export": export.add,
    "flame": export.add_flame,
    "view": view.add,
    "save": save.add,
    "dump": dump.add,
    "stats": stats.add,
    "watch": watch.add,
    "transcript": transcript.add,
    "replay": replay.add,
    "overhead": overhead.add,
    "ps": processes.add,
    "ctl": processes.add_ctl,
    "open": processes.add_open,
    "completion": completion.add,
    "docs": docs.add,
}


class _Parser(argparse.ArgumentParser):
    def format_help(self) -> str:
        whole = self.description
        # The commands' examples keep their lines, and with them argparse leaves all lines alone.
        width = shutil.get_terminal_size().columns - 2
        parts = (whole or "").split("\n\n")
        self.description = "\n\n".join(_filled(part, width) for part in parts) or None
        try:
            return super().format_help()
        finally:
            self.description = whole

    def error(self, message: str) -> NoReturn:
        # argparse's own form prints the usage over many lines before the reason.
        self.exit(USAGE, f"isoscope: {printable(message)}\n`{self.prog} --help` lists the options.\n")


def _filled(part: str, width: int) -> str:
    """A list keeps its rows; they are indented."""
    return part if "\n  " in part else textwrap.fill(part, width)


def main(argv: Optional[Sequence[str]] = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    _reject_unknown_word(words)
    args = _parse(words)
    try:
        # A name in a symbol table need not fit the terminal's encoding.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except NotStarted as error:  # isoscope run has said why
        return error.status
    except IsoscopeError as error:
        # It may have a file's or a function's name in it, which is for no terminal to obey.
        print("\n".join(map(printable, f"isoscope: {error}".split("\n"))), file=sys.stderr)
        return status_of(error)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """args.command: what follows the first `--`; None without one."""
    command = None
    if "--" in words:
        place = words.index("--")
        words, command = words[:place], list(words[place + 1 :])
    top, subparsers = _parsers()
    if not words or words[0].startswith("-"):
        top.parse_args(words)  # --help, or an error
    commands: Mapping[str, argparse.ArgumentParser] = subparsers.choices
    mistake = mistakes.find(commands[words[0]], words[0], words[1:])
    if mistake:
        commands[words[0]].error(mistake)
    # Intermixed: SOURCE may stand behind options that stand behind other words.
    known = argparse.Namespace(command=command, word=words[0])
    args: argparse.Namespace = commands[words[0]].parse_intermixed_args(words[1:], known)
    if command is None:
        return args
    if not getattr(args, "takes_command", False):
        sys.stderr.write(f"isoscope: {args.word} takes no `-- COMMAND`\n")
        sys.exit(USAGE)
    if not command:
        sys.stderr.write(f"isoscope: {args.word}: no command follows `--`\n")
        sys.exit(USAGE)
    return args


def subparsers() -> Any:
    """Of all commands: what the catalogue is made of."""
    return _parsers()[1]


def _parsers() -> tuple[argparse.ArgumentParser, Any]:
    top = _Parser(prog="isoscope", description="Read profiles from an isoscope service.")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for add in COMMANDS.values():
        add(commands)
    return top, commands


def _reject_unknown_word(words: Sequence[str]) -> None:
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        like = mistakes.said_like(words[0], COMMANDS)
        sys.stderr.write(
            f"isoscope: unknown command '{words[0]}'{like or '; `isoscope help` lists the commands'}\n"
        )
        sys.exit(USAGE)
