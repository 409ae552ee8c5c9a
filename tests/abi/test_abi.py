"""The public library is compared with what it has promised (README.md)."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD = Path(os.environ["ISOSCOPE_BUILD"])
PROMISED = HERE / f"{platform.machine()}.abi"
CHANGED, BREAKS = 4, 8  # bits of abidiff's exit status


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    for tool in ("abidw", "abidiff", "nm"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool} (Debian's abigail-tools and binutils)")
    if not PROMISED.exists():
        pytest.skip(f"there is no {PROMISED.name}: nothing is promised on this machine yet")
    out = tmp_path_factory.mktemp("abi") / "built.abi"
    subprocess.run([HERE / "dump", BUILD / "lib/libisoscope.so.0", out], check=True, timeout=100)
    return out


def compared(old: Path, new: Path) -> tuple[int, str]:
    done = subprocess.run(["abidiff", old, new], capture_output=True, text=True, timeout=100)
    assert done.returncode & ~(CHANGED | BREAKS) == 0, done.stderr
    return done.returncode, done.stdout


def test_the_library_keeps_what_it_promised(built):
    status, said = compared(PROMISED, built)
    assert not status & BREAKS, f"programs that link the library would break:\n{said}"
    assert not status, f"an addition is taken up by `./dev abi`:\n{said}"


def test_a_call_that_is_gone_is_found(built, tmp_path):
    less = tmp_path / "less.abi"
    less.write_text(re.sub(r"    <elf-symbol name='isoscope_tag_pop'.*\n", "", built.read_text()))
    status, said = compared(built, less)
    assert status & BREAKS and "isoscope_tag_pop" in said


def test_a_parameter_that_grows_is_found(built, tmp_path):
    """Of isoscope_set_period: its number of 32 bits becomes one of 64."""
    text = built.read_text()
    call = re.search(r"<function-decl name='isoscope_set_period'.*?<parameter type-id='(\w+)'", text, re.S)
    wide = re.search(r"<type-decl name='unsigned long int' size-in-bits='64' id='(\w+)'", text)
    assert call and wide and call[1] != wide[1]
    other = tmp_path / "other.abi"
    other.write_text(text[: call.start(1)] + wide[1] + text[call.end(1) :])
    status, said = compared(built, other)
    assert status & CHANGED and "isoscope_set_period" in said


def test_what_was_promised_names_no_place_of_a_build():
    for file in HERE.glob("*.abi"):
        assert not re.findall(r"path='/", file.read_text()), file
