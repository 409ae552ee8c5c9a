"""Reads object files: which modules need each other?

A module is an object file. It needs another one where it names a symbol which that one defines for
all. Includes cannot tell this: a header may be there for a type alone.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Iterable, Iterator, Mapping

DEFINED = set("TDBRVWGSC")  # nm's letters of what others can see; V and W are weak
UNDEFINED = set("Uvw")


def link_graph(objects: Iterable[Path]) -> dict[str, set[str]]:
    """Module -> the modules that it needs. A name that two define is taken for either."""
    needs: dict[str, set[str]] = defaultdict(set)
    homes: dict[str, set[str]] = defaultdict(set)
    modules = [str(path) for path in objects]
    needs.update((module, set()) for module in modules)
    listing = subprocess.run(["nm", "-A", "-P", *modules], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        module, rest = line.split(": ", 1)
        name, letter = rest.split()[:2]
        if letter in UNDEFINED:
            needs[module].add(name)
        elif letter in DEFINED:
            homes[name].add(module)
    return {module: {home for name in names for home in homes[name]} - {module}
            for module, names in needs.items()}


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of modules that all reach each other, largest first (Tarjan's components)."""
    found = [sorted(part) for part in _components(graph) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part))


def _components(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    for root in graph:
        calls = [(root, iter(graph[root]))] if root not in number else []
        while calls:
            node, rest = calls[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                path.append(node)
            below = next((n for n in rest if n not in number or n in path), None)
            if below is None:
                calls.pop()
                if calls:
                    lowest[calls[-1][0]] = min(lowest[calls[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    at = path.index(node)
                    yield path[at:]
                    del path[at:]
            elif below in number:
                lowest[node] = min(lowest[node], number[below])
            else:
                calls.append((below, iter(graph[below])))
