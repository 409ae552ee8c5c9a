"""No module of a client imports one that imports it."""

from pathlib import Path

import import_circles
from link_circles import circles

CLIENTS = Path(__file__).resolve().parents[2] / "clients"


def test_no_python_modules_import_each_other():
    graph = import_circles.python_graph(CLIENTS / "python/src/isoscope")
    assert graph["isoscope.client"]  # it looked where they are
    found = circles(graph)
    assert not found, import_circles.shown(found)


def test_no_scripts_of_the_page_import_each_other():
    graph = import_circles.script_graph(CLIENTS / "web/src")
    assert graph["main"]
    found = circles(graph)
    assert not found, import_circles.shown(found)


def test_no_scripts_of_the_editors_import_each_other():
    graph = import_circles.script_graph(CLIENTS / "editor/src")
    assert graph["core/open"]
    found = circles(graph)
    assert not found, import_circles.shown(found)


def _package(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_python_circles_are_found_in_functions_too_and_not_by_types(tmp_path):
    package = _package(tmp_path / "p", {
        "__init__.py": "from .a import A\n",
        "a.py": "from .b import B\nfrom . import c\n",
        "b.py": "def f():\n    from p.a import A\n",
        "c.py": "if TYPE_CHECKING:\n    from .a import A\n",
        "in/__init__.py": "",
        "in/d.py": "from ..c import C\nfrom ..b import B\nimport os.path\nfrom os import sep\n"})
    graph = import_circles.python_graph(package)
    assert graph == {"p": {"p.a"}, "p.a": {"p.b", "p.c"}, "p.b": {"p.a"}, "p.c": set(),
                     "p.in": set(), "p.in.d": {"p.b", "p.c"}}
    assert circles(graph) == [["p.a", "p.b"]]


def test_script_circles_are_found_and_not_by_types(tmp_path):
    source = _package(tmp_path, {
        "a.ts": 'import {\n  b,\n} from "./in/b";\nimport type { C } from "./c";\n',
        "in/b.tsx": 'import { type T } from "../c";\nimport "preact";\n',
        "c.ts": 'export { a } from "./a";\nimport type {\n  D,\n} from "./d";\nimport "./d";\n',
        "d.ts": ""})
    graph = import_circles.script_graph(source)
    assert graph == {"a": {"in/b"}, "in/b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert circles(graph) == [["a", "c", "in/b"]]
