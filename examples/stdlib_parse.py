"""Parses Python's own standard library again and again, for so many seconds (5).

A program with work for the whole interpreter: files, the tokenizer, a recursive parser, memory.
"""

import ast
import itertools
import os
import sys
import time
import warnings


def sources() -> "list[str]":
    """The library's own files; what was installed beside it is not in the loop."""
    found = []
    for folder, folders, files in os.walk(os.path.dirname(os.__file__)):
        folders[:] = sorted(set(folders) - {"site-packages", "dist-packages", "__pycache__"})
        found += [os.path.join(folder, name) for name in sorted(files) if name.endswith(".py")]
    return found


def parse(path: str) -> bool:
    with open(path, "rb") as file:
        text = file.read()
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False  # Some are broken on purpose: what tests and converters are fed.
    return True


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    deadline = time.monotonic() + seconds
    parsed = 0
    warnings.simplefilter("ignore")
    for path in itertools.cycle(sources()):
        if time.monotonic() >= deadline:
            break
        parsed += parse(path)
    print(f"parsed {parsed:,} files of {os.path.dirname(os.__file__)} in {seconds:g} s")


main()
