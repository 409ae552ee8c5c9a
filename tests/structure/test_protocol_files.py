"""protocol/ opens no file: what the machine knows comes through the doors of the profile."""

import os
import subprocess
from pathlib import Path

import pytest

# By which a path becomes a file or what is known of one; syscall could be any of them.
BY_PATH = {"open", "open64", "openat", "openat64", "creat", "fopen", "fopen64", "freopen", "fdopen",
           "opendir", "fdopendir", "scandir", "nftw", "readlink", "readlinkat", "realpath",
           "canonicalize_file_name", "stat", "stat64", "lstat", "lstat64", "fstatat", "access",
           "faccessat", "popen", "mmap", "syscall", "process_vm_readv"}


def opened_by(objects: list[Path]) -> list[str]:
    listing = subprocess.run(["nm", "-A", "-P", "-u", *map(str, objects)], check=True,
                             capture_output=True, text=True).stdout
    rows = (line.split() for line in listing.splitlines())
    return [f"{row[0].split('.dir/')[-1]} {row[1]}" for row in rows if row[1].split("@")[0] in BY_PATH]


def test_protocol_opens_no_file():
    listed = os.environ.get("ISOSCOPE_SERVICE_OBJECTS")
    if listed is None:
        pytest.skip("this build has no service")
    objects = [Path(path) for path in listed.split(":")
               if "isoscope_protocol.dir/" in path and path.endswith(".c.o")]
    assert len(objects) > 50, "the objects of protocol/ are not among ISOSCOPE_SERVICE_OBJECTS"
    assert not opened_by(objects)


def test_who_opens_a_file_is_found(tmp_path):
    (tmp_path / "one.c").write_text("#include <stdio.h>\nvoid *one(void) { return fopen(\"a\", \"r\"); }\n")
    (tmp_path / "two.c").write_text("#include <stdio.h>\nvoid two(void) { puts(\"fopen\"); }\n")
    for name in ("one", "two"):
        subprocess.run([os.environ.get("CC", "cc"), "-c", f"{name}.c"], cwd=tmp_path, check=True)
    assert [line.rsplit(" ", 1)[1] for line in opened_by([tmp_path / "one.o", tmp_path / "two.o"])] == [
        "fopen"]
