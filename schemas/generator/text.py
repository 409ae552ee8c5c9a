"""JSON as people like to read it: what fits a line stands on one."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 100
STEP = "  "


def compact_json(value: Any) -> str:
    return _dump(value, "", 0) + "\n"


def _dump(value: Any, indent: str, used: int) -> str:
    """used: columns of the line that are taken before the value, a comma after it included."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or used + len(line) <= WIDTH:
        return line
    inner = indent + STEP
    if isinstance(value, list):
        rows = [_dump(item, inner, len(inner) + 1) for item in value]
        return _rows("[", rows, "]", indent)
    rows = []
    for name, item in value.items():
        label = f"{json.dumps(name)}: "
        rows.append(label + _dump(item, inner, len(inner) + len(label) + 1))
    return _rows("{", rows, "}", indent)


def _rows(opening: str, rows: list[str], closing: str, indent: str) -> str:
    inner = indent + STEP
    return f"{opening}\n{inner}" + f",\n{inner}".join(rows) + f"\n{indent}{closing}"
