"""Trees and tables as plain data, for other programs: what the commands print with --json.

Nodes stand in one flat list and name their parent by its index, because JSON readers give up
on nesting as deep as a stack can be.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional

from .nodes import Item, Node, Tree
from .table import FunctionRow, Table


def tree_json(tree: Tree) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    index: dict[Node, int] = {}
    for node, parent in tree.walk():
        index[node] = len(nodes)
        nodes.append(_node(node, None if parent is None else index[parent]))
    return {"type": "CallTree", **_summary(tree), "nodes": nodes}


def call_tree_json(tree: Tree) -> dict[str, Any]:
    return {**tree_json(tree), "functions": [row_json(row) for row in Table.of(tree).rows]}


def table_json(tree: Tree, rows: Iterable[FunctionRow]) -> dict[str, Any]:
    told = [
        {**row_json(row), "callers": _calls(row.callers), "callees": _calls(row.callees)}
        for row in rows
    ]
    return {"type": "Table", **_summary(tree), "functions": told}


def _summary(tree: Tree) -> dict[str, Any]:
    return {
        "samplePeriod": tree.period_us,
        "samplePeriodTrue": tree.true_period_us,
        "sampleCount": tree.sample_count,
        "cpuMicros": tree.cpu_us,
        "cutCount": tree.cut_count,
        "lost": dict(tree.lost),
        "timeOriginMicros": tree.first_us or 0,
        "timeExtentMicros": tree.extent_us,
    }


def _node(node: Node, parent: Optional[int]) -> dict[str, Any]:
    item = node.item
    told = {
        "parent": parent,
        item.kind: item.key,
        "name": item.name,
        "inlined": item.inlined,
        "self": node.self_count,
        "total": node.total_count,
        "selfMicros": node.self_us,
        "totalMicros": node.total_us,
    }
    if item.kind == "line":
        told["line"] = item.line or None
        told["function"] = item.key
    return told


def row_json(row: FunctionRow) -> dict[str, Any]:
    function, item = row.item.function, row.item
    return {
        "id": item.key,
        "name": item.name,
        "library": item.library or None,
        "file": (function.file or None) if function else None,
        "line": item.line or (function.line if function else 0) or None,
        "self": row.self_count,
        "total": row.total_count,
        "selfMicros": row.self_us,
        "totalMicros": row.total_us,
    }


def _calls(calls: dict[Item, int]) -> list[dict[str, Any]]:
    ranked = sorted(calls.items(), key=lambda call: (-call[1], call[0].label))
    return [{"id": item.key, "name": item.label, "total": count} for item, count in ranked]
