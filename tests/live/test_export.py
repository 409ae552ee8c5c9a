"""The commands export and flame, on a service and on a command that they run."""

from __future__ import annotations

import json
import subprocess

from harness import ISOSCOPE, profiled, workload
from isoscope import formats


def isoscope(*words):
    return subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=100)


def test_a_service_is_exported_with_all_its_samples(tmp_path):
    with profiled([workload("spin_two_to_one"), "0.5"]) as service:
        for name in ("pprof", "speedscope", "cpusamples"):
            done = isoscope("export", name, "-o", str(tmp_path / name), service.uri)
            assert done.returncode == 0, done.stderr
        count = service.tree().sample_count
    for name in ("pprof", "speedscope", "cpusamples"):
        assert len(formats.open(tmp_path / name)) == count, name
    names = {f["name"] for f in json.loads((tmp_path / "cpusamples").read_text())["functions"]}
    assert {"main", "spin_once", "spin_twice"} <= names


def test_a_command_is_run_and_drawn_and_its_status_is_ours(tmp_path):
    target = tmp_path / "flame.svg"
    script = f"{workload('spin_two_to_one')} 0.3; exit 3"
    done = isoscope("flame", "-o", str(target), "--", "sh", "-c", script)
    assert done.returncode == 3, done.stderr
    assert "spin_twice" in target.read_text()


def test_a_place_that_cannot_be_written_is_told_before_the_command_runs(tmp_path):
    mark = tmp_path / "ran"
    done = isoscope("flame", "-o", str(tmp_path / "no" / "x.svg"), "--", "touch", str(mark))
    assert done.returncode == 1 and "no such folder" in done.stderr
    assert not mark.exists()
