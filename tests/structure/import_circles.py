"""Reads sources: which modules import each other?

What is imported for types alone does not count: in Python what stands below `if TYPE_CHECKING:`, in
TypeScript `import type`. An import inside a function counts: the module needs the other one all the
same, and hides it.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Iterable, Iterator, Optional

Graph = dict[str, set[str]]


def python_graph(package: Path) -> Graph:
    """Module -> the modules of the package that it imports, as dotted names."""
    modules = {_dotted(package, path): path for path in sorted(package.rglob("*.py"))}
    return {name: {other for other in _imported(name, path, modules) if other != name}
            for name, path in modules.items()}


def _dotted(package: Path, path: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    around = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = around.split(".")[:len(around.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                # A module of that package, or a name in it.
                wanted = f"{source}.{alias.name}"
                if wanted in modules or source in modules:
                    yield wanted if wanted in modules else source


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            child = ast.Module(child.orelse, [])
        yield child
        yield from _statements(child)


_IMPORT = re.compile(r'''^(?:import|export)\s(?!type\b)[^"';]*?from\s*["'](\.[^"']+)["']'''
                     r'''|^import\s*["'](\.[^"']+)["']''', re.MULTILINE)


def script_graph(source: Path) -> Graph:
    """The same of TypeScript: paths below source, without their endings."""
    files = {path.relative_to(source).with_suffix("").as_posix(): path
             for path in sorted(source.rglob("*.ts*"))}
    return {name: {other for other in _named(name, path) if other in files and other != name}
            for name, path in files.items()}


def _named(name: str, path: Path) -> Iterator[str]:
    for match in _IMPORT.finditer(path.read_text()):
        target: Optional[str] = match.group(1) or match.group(2)
        yield os.path.normpath(f"{name}/../{target}")


def shown(circles: Iterable[list[str]]) -> str:
    return "\n".join(" <-> ".join(circle) for circle in circles)
