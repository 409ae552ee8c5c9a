"""The client's commands: `isoscope WORD ...` for every word that the C command does not know.

Results go to stdout, everything else to stderr. Exit statuses:

    0 done    1 failed, or there is nothing to show    2 usage
    3 cannot connect    4 the service's answer is an error or breaks the protocol    130 Ctrl-C
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import NoReturn, Optional, Sequence

from ..errors import CannotConnect, IsoscopeError, ProtocolError
from . import tree

FAILED, USAGE, CANNOT_CONNECT, PROTOCOL, INTERRUPTED = 1, 2, 3, 4, 130

# One row a command: add(subparsers) makes its parser, whose default `run` does the work.
_COMMANDS = {"tree": tree.add}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse's own form prints the usage over many lines before the reason.
        self.exit(USAGE, f"isoscope: {message}\n`{self.prog} --help` tells more.\n")


def main(argv: Optional[Sequence[str]] = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    _reject_unknown_word(words)
    args = _parser().parse_args(words)
    try:
        # A name in a symbol table need not fit the terminal's encoding.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except IsoscopeError as error:
        print(f"isoscope: {error}", file=sys.stderr)
        return _status(error)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="isoscope", description="Read profiles from an isoscope service.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for add in _COMMANDS.values():
        add(commands)
    return parser


def _reject_unknown_word(words: Sequence[str]) -> None:
    if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
        sys.stderr.write(f"isoscope: there is no command '{words[0]}'; see `isoscope help`\n")
        sys.exit(USAGE)


def _status(error: IsoscopeError) -> int:
    if isinstance(error, CannotConnect):
        return CANNOT_CONNECT
    return PROTOCOL if isinstance(error, ProtocolError) else FAILED
