"""A machine whose node, apt-get and packages are a test's: stubs on a PATH that holds little else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = "bash cat comm env grep head sed sleep sort wc".split()
# The lists are read as they stand; nothing else of the tree is needed.
PARTS = "say packages apt node".split()

APT_GET = """#!/usr/bin/env bash
folder={folder}
[[ " $* " != *" --simulate "* ]] || exit "$(cat "$folder/lists_are_old" 2>/dev/null || echo 0)"
echo "$*" >>"$folder/calls"
answer=$folder/answer.$(wc -l <"$folder/calls")
[[ ! -e $answer ]] || source "$answer"
for word in "$@"; do
    [[ " $* " != *" install "* || $word == -* ]] || echo "$word" >>"$folder/installed"
done
"""
DPKG_QUERY = """#!/usr/bin/env bash
for word in "$@"; do
    ! grep -qx -e "$word" {folder}/installed || echo "ii  $word"
done
"""


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        (folder / "installed").touch()
        (folder / "calls").touch()
        self.program("apt-get", APT_GET.format(folder=folder))
        self.program("dpkg-query", DPKG_QUERY.format(folder=folder))
        self.program("sudo", '#!/usr/bin/env bash\nexec "$@"\n')

    def program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def apt_answers(self, number: int, *errors: str, status: int = 100) -> None:
        """What the call of this number (1: the first) says before it ends with this status."""
        says = "".join(f"echo '{line}' >&2\n" for line in errors)
        (self.folder / f"answer.{number}").write_text(f"{says}exit {status}\n")

    def calls(self) -> list[str]:
        """install or update, for each call of apt-get."""
        lines = (self.folder / "calls").read_text().splitlines()
        return ["install" if " install " in f" {line} " else "update" for line in lines]

    def run(self, words: str) -> subprocess.CompletedProcess[str]:
        sources = "".join(f'source "$root/scripts/{part}.sh"\n' for part in PARTS)
        script = f"set -euo pipefail\nroot={ROOT}\n{sources}apt_pause_s=0\n{words}\n"
        return subprocess.run([str(self.bin / "bash"), "-c", script], text=True, timeout=60,
                              capture_output=True, env={"PATH": str(self.bin)})  # fmt: skip
