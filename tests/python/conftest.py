"""Finds the package of this checkout, installed or not."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python" / "src"))


@pytest.fixture
def page_command(tmp_path_factory, monkeypatch):
    """A stand-in for `isoscope page-file`, which packs the page's files as the build does."""
    command = tmp_path_factory.mktemp("command") / "isoscope"
    web = ROOT / "clients" / "web"
    command.write_text(
        f'#!/bin/sh\ncd "{web}/generated" && [ -e "$2" ] || cd "{web}"\nexec gzip -9nc "$2"\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("ISOSCOPE_COMMAND", str(command))
