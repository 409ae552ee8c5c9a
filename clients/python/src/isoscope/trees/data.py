"""Trees and tables as plain data, for other programs: what the commands print with --json.

Of memory (kind "alloc" or "live") what is called micros is bytes.

Nodes stand in one flat list and name their parent by its index, because JSON readers give up
on nesting as deep as a stack can be.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

from ..model import KINDS
from ..model import Function
from .diff import Difference
from .function_table import FunctionRow, Table
from .hot import HotSpots
from .instructions import Instruction
from .item import Item
from .nodes import Node, Tree


def call_tree_json(tree: Tree) -> dict[str, Any]:
    functions = [row_json(row) for row in Table.of(tree).rows]
    return {"type": "CallTree", **_summary(tree), "nodes": _nodes(tree, 0), "functions": functions}


def bottom_up_json(tree: Tree, min_share: float) -> dict[str, Any]:
    """min_share: whole, it would be many times as big as the call tree."""
    nodes = _nodes(tree, min_share * tree.weight)
    return {"type": "BottomUp", **_summary(tree), "nodes": nodes}


def _nodes(tree: Tree, least: float) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = []
    index: dict[Node, int] = {}
    for node, parent in tree.walk(least):
        index[node] = len(nodes)
        nodes.append(_node(node, None if parent is None else index[parent]))
    return nodes


def table_json(tree: Tree, rows: Iterable[FunctionRow]) -> dict[str, Any]:
    told = [
        {**row_json(row), "callers": _calls(row.callers, row.callers_us), "callees": _calls(row.callees, row.callees_us)}
        for row in rows
    ]
    return {"type": "Table", **_summary(tree), "functions": told}


def hot_json(spots: HotSpots) -> dict[str, Any]:
    told = [
        {
            **row_json(spot.row),
            "share": spot.share,
            "path": [node.item.name for node in spot.path],
            "lines": [
                {"line": own.line or None, "self": own.self_count, "selfMicros": own.self_us}
                for own in spot.lines
            ],
        }
        for spot in spots.spots
    ]
    return {"type": "HotSpots", **_summary(spots.tree), "functions": told}


def instructions_json(
    tree: Tree, function: Function, instructions: Sequence[Instruction]
) -> dict[str, Any]:
    told = [
        {
            "offset": one.offset,
            "bytes": one.code.hex(),
            "text": one.text,
            "called": one.called or None,
            "inlined": one.function or None,
            "file": one.file or None,
            "line": one.line or None,
            "self": one.self_count,
            "selfMicros": one.self_us,
            "total": one.total_count,
            "totalMicros": one.total_us,
        }
        for one in instructions
    ]
    library = function.library.path if function.library else None
    head = {"type": "Instructions", **_summary(tree), "function": function.name, "library": library}
    return {**head, "instructions": told}


def difference_json(difference: Difference) -> dict[str, Any]:
    """Shares, from 0 to 1."""
    told = [
        {
            "name": change.item.label,
            "library": change.item.library or None,
            "selfBefore": change.self_before,
            "selfAfter": change.self_after,
            "totalBefore": change.total_before,
            "totalAfter": change.total_after,
        }
        for change in difference.rows
    ]
    before, after = difference.before, difference.after
    counts = {
        "weight": "cpu" if before.by_time else "samples",
        "samplesBefore": before.sample_count,
        "samplesAfter": after.sample_count,
        "cpuMicrosBefore": before.cpu_us,
        "cpuMicrosAfter": after.cpu_us,
    }
    return {"type": "Difference", **counts, "functions": told}


def weight_word(tree: Tree) -> str:
    if not tree.by_time:
        return "samples"
    if tree.is_memory:
        return "bytes"
    if tree.is_many:
        return "faults" if KINDS[tree.kind].is_counted else "waited"
    return "cpu"


def _summary(tree: Tree) -> dict[str, Any]:
    many = {"kind": tree.kind, weight_word(tree): tree.cpu_us, KINDS[tree.kind].many: tree.objects}
    if KINDS[tree.kind].is_counted:
        many = {"kind": tree.kind, weight_word(tree): tree.cpu_us}
    if tree.is_memory:
        many = {"kind": tree.kind, "bytes": tree.cpu_us, "objects": tree.objects}
    return {
        **(many if tree.is_many else {}),
        "weight": weight_word(tree),
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


def _calls(calls: dict[Item, int], times_us: dict[Item, int]) -> list[dict[str, Any]]:
    ranked = sorted(calls.items(), key=lambda call: (-call[1], call[0].label))
    return [
        {"id": item.key, "name": item.label, "total": count, "totalMicros": times_us[item]}
        for item, count in ranked
    ]
