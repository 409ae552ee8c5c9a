"""What is wrong with a command line, where argparse would blame something else.

It looks at the words in their order, so that a mistyped option's value is refused as a file first.
"""

from __future__ import annotations

import argparse
import difflib
from typing import Iterable, Optional, Sequence


def said_like(word: str, known: Iterable[str]) -> str:
    """"; did you mean ...?", or nothing. Dashes in front are no likeness."""
    letters = {text.lstrip("-"): text for text in known}
    near = difflib.get_close_matches(word.lstrip("-"), list(letters), n=1, cutoff=0.7)
    return f"; did you mean {letters[near[0]]}?" if near else ""


def find(parser: argparse.ArgumentParser, word: str, words: Sequence[str]) -> Optional[str]:
    """word: the command's. None: nothing that this file knows."""
    plain: list[str] = []
    skip = False
    for text in words:
        if skip:
            skip = False
        elif text.startswith("-") and text != "-":
            options = _options(parser, text)
            if not options:
                name = text.partition("=")[0]
                like = said_like(name, parser._option_string_actions) if name[1] == "-" else ""
                return f"{name} is not an option of isoscope {word}{like}"
            skip = len(options) == 1 and _wants_next(options[0], text)
        else:
            plain.append(text)
    return _too_many(parser, word, plain)


def _options(parser: argparse.ArgumentParser, text: str) -> list[argparse.Action]:
    """Those that text can mean."""
    known = parser._option_string_actions
    name = text.partition("=")[0]
    if name in known:
        return [known[name]]
    if not name.startswith("--"):
        return [known[text[:2]]] if text[:2] in known else []
    return [action for flag, action in known.items() if flag.startswith(name)]


def _wants_next(option: argparse.Action, text: str) -> bool:
    """Is the next word its value?"""
    given = "=" in text if text.startswith("--") else len(text) > 2
    return option.nargs != 0 and not given


def _too_many(parser: argparse.ArgumentParser, word: str, plain: Sequence[str]) -> Optional[str]:
    places = [action for action in parser._actions if not action.option_strings]
    if any(action.nargs not in (None, "?") for action in places) or len(plain) <= len(places):
        return None
    many = "', '".join(plain[len(places) :])
    takes = " ".join(str(action.metavar or action.dest) for action in places) or "no words"
    message = f"{word} takes {takes}; unexpected: '{many}'"
    if parser.get_default("takes_command"):
        words = [word, *plain[: len(places) - 1], "--", *plain[len(places) - 1 :]]
        message += f"; put a command to run after `--`: isoscope {' '.join(words)}"
    return message
