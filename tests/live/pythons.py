"""The CPythons of this machine, by version.

    python = needs("3.12")        # its path, or the test is skipped

Found on PATH, and among pyenv's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SYSTEMS = "/usr/bin/python3"
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t")  # t: without the lock


def version_of(python: str) -> str:
    """'': it does not run."""
    ask = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2] + 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    try:
        done = subprocess.run([python, "-S", "-c", ask], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def needs(version: str) -> str:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [SYSTEMS, shutil.which(f"python{version}"),
             *(str(path) for path in sorted(root.glob(f"versions/{version.rstrip('t')}.*/bin/python3")))]
    for python in found:
        if python and version_of(python) == version:
            return python
    return pytest.skip(f"needs Python {version}")
