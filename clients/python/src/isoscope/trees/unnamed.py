"""What would name the functions that have no name, where they are many.

    Tree -> advice -> lines for people
"""

from __future__ import annotations

from collections import Counter

from .nodes import Tree

_WORTH_A_WORD = 0.05  # of all: self in functions without a name
_GENERATED = ("", "[unknown]")  # libraries of code that lies in none


def advice(tree: Tree) -> list[str]:
    columns = tree.columns
    unnamed = {
        number: item.library
        for number, item in enumerate(columns.items)
        if item.function is not None and item.function.kind == "Unnamed"
    }
    sums: Counter[str] = Counter()
    for number, own in zip(columns.item_numbers, columns.selves) if unnamed else ():
        if own and number in unnamed:
            sums[unnamed[number]] += own
    share = tree.share(sum(sums.values()))
    if share < _WORTH_A_WORD:
        return []
    (library, _), *_ = sums.most_common(1)
    of_what = "CPU time" if tree.by_time else "samples"
    where = "generated code" if library in _GENERATED else library
    return [
        f"{100 * share:.1f} % of the {of_what} is in functions without a name, most of it in {where}",
        _remedy(tree, library),
    ]


def _remedy(tree: Tree, library: str) -> str:
    if library == "[kernel]":
        return "  [kernel]: run isoscope as root, or set kernel.kptr_restrict to 0"
    if library not in _GENERATED:
        return f"  {library}: install its debug symbols, or record with `isoscope run --debuginfod`"
    if any(item.library in ("node", "nodejs") for item in tree.columns.items):
        return "  node: start it with --perf-basic-prof --interpreted-frames-native-stack"
    return "  The program can name its code in /tmp/perf-PID.map, or by calls of isoscope's API"
