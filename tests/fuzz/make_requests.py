#!/usr/bin/env python3
"""Writes the protocol fuzzer's corpus and words from what the tree says anyway.

    make_requests.py openrpc.json CASES CORPUS WORDS

CASES is tests/protocol: each case's requests become one conversation in the folder CORPUS. WORDS
becomes libFuzzer's dictionary: methods, parameters, members and the words that schemas allow.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def words_of(value: Any) -> set[str]:
    """All names and all strings of a document, but no prose."""
    if isinstance(value, list):
        return set().union(*map(words_of, value))
    if isinstance(value, dict):
        return set(value).union(*(words_of(v) for v in value.values()))
    return {value} if isinstance(value, str) and " " not in value else set()


def conversation(case: Any) -> str:
    requests = [step.get("request") for step in case.get("steps", [case])]
    lines = [r if isinstance(r, str) else json.dumps(r) for r in requests if r is not None]
    return "".join(f"{i % 4}{line}\n" for i, line in enumerate(lines))


def main(openrpc: str, cases: str, corpus: str, words: str) -> None:
    Path(corpus).mkdir(parents=True, exist_ok=True)
    for old in Path(corpus).iterdir():
        old.unlink()
    for path in sorted(Path(cases).glob("*/*.json")):
        text = conversation(json.loads(path.read_text()))
        if text:
            Path(corpus, f"{path.parent.name}-{path.stem}").write_text(text)
    found = words_of(json.loads(Path(openrpc).read_text()))
    plain = sorted(word for word in found if word.isascii() and word.isprintable() and len(word) < 40)
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in plain)
    Path(words).write_text("".join(f'"{word}"\n' for word in escaped if word))


if __name__ == "__main__":
    main(*sys.argv[1:])
