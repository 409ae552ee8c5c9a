#!/usr/bin/env python3
"""Writes what is made from the files of schemas/, all over the tree.

    generate.py            writes what has changed
    generate.py --check    writes nothing; fails, and says which files are not up to date
"""

from __future__ import annotations

import sys
from pathlib import Path

from generator import c_code, coverage, markdown, openrpc, python_methods, python_types
from generator import typescript
from generator.source import SchemaError, read

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent

OUTPUTS = {
    "protocol/generated/errors.h": c_code.errors_h,
    "protocol/generated/words.h": c_code.words_h,
    "protocol/generated/words.c": c_code.words_c,
    "protocol/generated/methods.h": c_code.methods_h,
    "protocol/generated/methods.c": c_code.methods_c,
    "protocol/COVERAGE.md": coverage.text,
    "clients/python/src/isoscope/protocol.py": python_types.text,
    "clients/python/src/isoscope/methods.py": python_methods.text,
    "schemas/generated/protocol.ts": typescript.text,
    "schemas/generated/protocol.md": markdown.text,
    "schemas/generated/openrpc.json": openrpc.text,
}


def main(words: list[str]) -> int:
    if words not in ([], ["--check"]):
        print("generate.py [--check]", file=sys.stderr)
        return 2
    try:
        schemas = read(FOLDER)
        texts = {ROOT / path: make(schemas) for path, make in OUTPUTS.items()}
    except SchemaError as error:
        print(f"schemas/: {error}", file=sys.stderr)
        return 1
    changed = [path for path in texts if not path.exists() or path.read_text() != texts[path]]
    for path in changed:
        print(path.relative_to(ROOT))
        if not words:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path])
    if words and changed:
        print("not what schemas/ says: run ./dev generate", file=sys.stderr)
    return 1 if words and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
