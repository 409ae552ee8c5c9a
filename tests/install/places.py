"""Installs of this tree, each below a folder of its own: `cmake --install` with DESTDIR."""

from __future__ import annotations

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ISOSCOPE_BUILD") or ROOT / "build").resolve()
MULTIARCH = sysconfig.get_config_var("MULTIARCH") or "some-linux-gnu"


class Place(NamedTuple):
    """Where the parts go; libdir is relative to prefix."""

    prefix: str
    libdir: str
    zsh: str = "site-functions"


DEBIAN = Path("/etc/debian_version").exists()
PLACES = {
    "usr": Place("/usr", "lib", "vendor-completions" if DEBIAN else "site-functions"),
    "local": Place("/usr/local", "lib"),
    "multiarch": Place("/usr/local", f"lib/{MULTIARCH}"),
    "lib64": Place("/usr/local", "lib64"),
    "home": Place("/home/me too/.local", "lib"),
}


def environment(**more: str) -> dict[str, str]:
    """Of somebody who has set nothing: the parts must find each other."""
    kept = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TMPDIR")}
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin", **more}


def output_of(*command: object, status: int = 0, **options) -> str:
    words = [str(word) for word in command]
    options = {"env": environment(), "timeout": 120, **options}
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


class Tree:
    """A build of this tree for installs. It is kept: a second run has nothing to compile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, place: Place, destination: Path, *words: str, service: bool = True) -> None:
        # GNUInstallDirs takes a libdir that was the last prefix's default for nobody's wish.
        (self.folder / "CMakeCache.txt").unlink(missing_ok=True)
        output_of(
            "cmake", "-S", ROOT, "-B", self.folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
            "-DISOSCOPE_TESTS=OFF", f"-DISOSCOPE_SERVICE={service:d}",
            f"-DCMAKE_INSTALL_PREFIX={place.prefix}", f"-DCMAKE_INSTALL_LIBDIR={place.libdir}",
        )  # fmt: skip
        output_of("cmake", "--build", self.folder, timeout=800)
        output_of("cmake", "--install", self.folder, *words, env=destined(destination))

    def uninstall(self, destination: Path, status: int = 0) -> None:
        output_of("cmake", "--build", self.folder, "--target", "uninstall",
                  env=destined(destination), status=status)


def destined(destination: Path) -> dict[str, str]:
    return environment(DESTDIR=str(destination))


class Installed:
    """An install, in the folder that it was moved to."""

    def __init__(self, place: Place, root: Path) -> None:
        self.place = place
        self.root = root
        self.prefix = root / place.prefix.lstrip("/")
        self.libdir = self.prefix / place.libdir
        self.command = self.prefix / "bin/isoscope"

    def files(self) -> set[str]:
        """Relative to the prefix."""
        found = (path for path in self.root.rglob("*") if path.is_symlink() or path.is_file())
        return {str(path.relative_to(self.prefix)) for path in found}

    def pkg_config(self, *words: str) -> list[str]:
        """By where its file lies; what is in /usr by name is told where that is now."""
        if self.place.prefix == "/usr":
            words = (f"--define-variable=libdir={self.libdir}",
                     f"--define-variable=includedir={self.prefix / 'include'}", *words)
        ours = environment(PKG_CONFIG_PATH=str(self.libdir / "pkgconfig"))
        return shlex.split(output_of("pkg-config", *words, "isoscope", env=ours))
