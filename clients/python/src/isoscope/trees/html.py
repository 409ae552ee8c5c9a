"""Trees and tables as HTML, for notebooks. Names are other people's: every one is escaped.

A tree folds: what is small, or below the first levels, is closed or left out, and says so.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .function_table import Table
    from .nodes import Node, Tree

MIN_SHARE = 0.01  # of all: what has less is not shown
MAX_NODES = 2000
MAX_DEPTH = 200  # browsers do not nest much deeper
ROWS = 30
_OPEN_SHARE = 0.2
_STYLE = "font-family:monospace;white-space:nowrap;padding-left:1em"


def tree_html(tree: Tree) -> str:
    title = f"{escape(tree.title)}: {tree.sample_count:,} samples, {tree.cpu_us / 1e6:.2f} s CPU"
    parts = [f'<div style="font-family:monospace"><b>{title}</b>']
    left = 0
    # A node, or the text that closes one.
    waiting: list[tuple[Optional[Node], str]] = [(node, "") for node in reversed(tree.roots)]
    shown = 0
    while waiting:
        node, text = waiting.pop()
        if node is None:
            parts.append(text)
            continue
        if not _worth(tree, node) or shown >= MAX_NODES:
            left += 1
            continue
        shown += 1
        below = [child for child in node.sorted_children() if _worth(tree, child)]
        if node.depth >= MAX_DEPTH:
            below = []
        left += len(node.children) - len(below)
        line = _line(tree, node)
        if not below:
            parts.append(f'<div style="{_STYLE}">{line}</div>')
            continue
        is_open = " open" if tree.share(node.total_weight) >= _OPEN_SHARE else ""
        parts.append(f'<details{is_open} style="{_STYLE}"><summary>{line}</summary>')
        waiting.append((None, "</details>"))
        waiting.extend((child, "") for child in reversed(below))
    if left:
        parts.append(f"<div>... {left:,} more are not shown, nor what is below them</div>")
    return "".join(parts) + "</div>"


def _worth(tree: Tree, node: Node) -> bool:
    return tree.share(node.total_weight) >= MIN_SHARE


def _line(tree: Tree, node: Node) -> str:
    total, own = tree.share(node.total_weight), tree.share(node.self_weight)
    name = escape(node.name) + (" (inlined)" if node.inlined else "")
    return f"{total:6.1%} {own:6.1%} <b>{name}</b> <i>{escape(node.library)}</i>"


def table_html(table: Table) -> str:
    titles = ("self", "total", "CPU ms", "function", "library")
    head = "".join(f"<th>{title}</th>" for title in titles)
    share = table.tree.share
    rows = [
        f"<tr><td>{share(row.self_weight):.1%}</td><td>{share(row.total_weight):.1%}</td>"
        f"<td>{row.self_us / 1000:.1f}</td><td>{escape(row.name)}</td>"
        f"<td>{escape(row.library)}</td></tr>"
        for row in table.rows[:ROWS]
    ]
    more = len(table.rows) - len(rows)
    foot = f"<div>... {more:,} more rows</div>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{foot}"
