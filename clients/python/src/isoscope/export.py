"""A call tree as plain data, for other programs: `isoscope tree --json`.

Nodes stand in one flat list and name their parent by its index, because JSON readers give up
on nesting as deep as a stack can be.
"""

from __future__ import annotations

from typing import Any, Optional

from .tree import CallTree, FunctionRow, Node


def tree_json(tree: CallTree) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    index: dict[Node, int] = {}
    for node, parent in tree.walk():
        index[node] = len(nodes)
        nodes.append(_node(node, None if parent is None else index[parent]))
    return {
        "type": "CallTree",
        "samplePeriod": tree.period_us,
        "samplePeriodTrue": tree.true_period_us,
        "sampleCount": tree.sample_count,
        "cutCount": tree.cut_count,
        "lost": dict(tree.lost),
        "timeOriginMicros": tree.first_us or 0,
        "timeExtentMicros": tree.extent_us,
        "nodes": nodes,
        "functions": [_function(row) for row in tree.functions()],
    }


def _node(node: Node, parent: Optional[int]) -> dict[str, Any]:
    return {
        "parent": parent,
        "process" if node.function is None else "function": node.key,
        "name": node.process.name if node.function is None else node.name,
        "inlined": node.inlined,
        "self": node.self_count,
        "total": node.total_count,
    }


def _function(row: FunctionRow) -> dict[str, Any]:
    library = row.function.library
    return {
        "id": row.function.id,
        "name": row.function.name,
        "library": None if library is None else library.name,
        "file": row.function.file or None,
        "line": row.function.line or None,
        "self": row.self_count,
        "total": row.total_count,
    }
