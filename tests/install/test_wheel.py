"""The Python client by itself: a wheel, as `pip install clients/python` makes it."""

from __future__ import annotations

import shutil
import sys
import zipfile
from importlib.util import find_spec

import pytest
from places import ROOT, output_of


def test_a_wheel_is_built_without_a_network(tmp_path):
    for module in ("pip", "setuptools", "wheel"):
        if not find_spec(module):  # an import would change this process
            pytest.skip(f"needs {module}")
    client = shutil.copytree(ROOT / "clients/python", tmp_path / "client")  # pip builds in the tree
    output_of(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation",
              "--wheel-dir", tmp_path, client)
    (made,) = tmp_path.glob("isoscope-0.1.0-*.whl")
    wheel = zipfile.ZipFile(made)
    source = ROOT / "clients/python/src"
    written = {str(path.relative_to(source)) for path in (source / "isoscope").rglob("*")
               if path.is_file() and path.suffix not in (".pyc", ".md")}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == written
    entry = wheel.read("isoscope-0.1.0.dist-info/entry_points.txt").decode()
    assert "isoscope-client = isoscope.cli:main" in entry
