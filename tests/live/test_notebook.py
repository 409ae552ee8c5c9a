"""examples/notebook.py as a script."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

from harness import DEADLINE_S, ROOT, profiled, workload


def test_the_example_runs_from_cell_to_cell(tmp_path):
    packages = str(ROOT / "clients" / "python" / "src")
    with profiled([workload("spin_two_to_one"), "0.5"]) as service:
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "notebook.py"), service.uri, str(tmp_path)],
            capture_output=True, text=True, timeout=DEADLINE_S,
            env={**os.environ, "PYTHONPATH": packages},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "samples of spin_two_to_one" in done.stdout
    assert "spin_twice  called by main" in done.stdout
    for name in ("tree", "bottom_up", "table"):
        assert "spin_twice" in (tmp_path / f"{name}.html").read_text()
    if importlib.util.find_spec("pandas") is None:
        assert "to_frame() needs pandas" in done.stdout
