"""The C command `isoscope`: where it is, and the files of the browser page, which it has.

Errors   IsoscopeError where there is none, or it does not give a file.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from .errors import IsoscopeError


def isoscope() -> str:
    """It starts us, and says where it is."""
    command = os.environ.get("ISOSCOPE_COMMAND") or shutil.which("isoscope")
    if not command:
        raise IsoscopeError(
            "cannot find the command `isoscope`: it is not on the PATH, and ISOSCOPE_COMMAND is not set"
        )
    return command


def page_file(name: str) -> bytes:
    """As gzip."""
    done = subprocess.run([isoscope(), "page-file", name], capture_output=True)
    if done.returncode:
        raise IsoscopeError(f"cannot read {name}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
