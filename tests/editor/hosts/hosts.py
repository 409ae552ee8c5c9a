"""Editors, without a screen, on a real C++ project: opened, run, read, jumped in, run again.

    hosts.py FOLDER [neovim|emacs...]      FOLDER: where transcripts go

What they show is held against `isoscope table` of the same runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import project  # noqa: E402
from lsp_client import ISOSCOPE, ROOT, table  # noqa: E402

SETUP = ROOT / "clients/editor/setup"
COMMANDS = {
    "neovim": ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {HERE / 'nvim_session.lua'}"],
    "emacs": ["emacs", "--batch", "-l", str(HERE / "emacs_session.el")],
}
SETUPS = {"neovim": SETUP / "isoscope.lua", "emacs": SETUP / "isoscope.el"}
ROUNDING = 0.15  # points
FUNCTIONS = {"spin": project.SPIN, "warm": project.WARM, "hot": project.HOT, "main": project.MAIN}


def session_of(editor: str, folder: Path) -> dict[str, Any]:
    """What the editor's script is told."""
    def launch(name: str, *args: str) -> dict[str, Any]:
        return {"name": name, "program": "./hot", "args": list(args), "options": ["-o", f"{name}.isoscope"]}

    return {"isoscope": ISOSCOPE, "setup": str(SETUPS[editor]), "file": str(folder / "hot.cpp"), "hot": project.HOT,
            "result": str(folder / "result.json"), "launch": [launch("even"), launch("less", "60", "less")]}


def shares(text: str) -> tuple[float, float, int]:
    found = re.search(r"self ([\d.]+)% · total ([\d.]+)% · ([\d,]+) samples?", text)
    assert found, text
    return float(found[1]), float(found[2]), int(found[3].replace(",", ""))


def check_lenses(lenses: dict[str, str], session: Path) -> None:
    """The table's numbers. It reads the run's session, whose weights are rounded: a last digit may differ, no sample does."""
    rows = table(str(session))
    for name, line in FUNCTIONS.items():
        self, total, samples = shares(lenses[str(line)])
        assert samples == rows[name][2], (name, lenses, rows)
        assert max(abs(self - rows[name][0]), abs(total - rows[name][1])) < ROUNDING, (name, lenses, rows)


def check(seen: dict[str, Any], folder: Path) -> None:
    assert not seen.get("problem"), seen["problem"]
    check_lenses(seen["first"]["lenses"], folder / "even.isoscope")
    check_lenses(seen["second"]["lenses"], folder / "less.isoscope")
    hot = str(project.HOT)
    assert shares(seen["first"]["lenses"][hot])[1] > 60 > 30 > shares(seen["second"]["lenses"][hot])[1]
    assert "▼" in seen["second"]["lenses"][hot] and "▲" in seen["second"]["lenses"][str(project.WARM)]
    assert seen["jump"]["line"] == project.LOOP, seen["jump"]
    assert seen["symbol"] == {"name": "hot", "line": project.HOT}, seen["symbol"]
    assert "Callers: main" in seen["hover"].replace("\\", "") and "Callees: spin" in seen["hover"], seen["hover"]


def transcript(editor: str, seen: dict[str, Any], seconds: float) -> str:
    lines = [f"{editor}: {seconds:.1f} s in all"]
    for title, part in (("run", seen["first"]), ("run again", seen["second"])):
        lines.append(f"\n{title}: {part['status']['text']}")
        lines += [f"  {int(line):3}  {text}" for line, text in sorted(part["lenses"].items(), key=lambda one: int(one[0]))]
        if part is seen["first"]:
            lines.append(f"\njump to the hottest line: {seen['jump']['line']}: {seen['jump']['text'].strip()}")
            lines.append(f"  {seen['jump']['hint']}")
            lines.append(f"jump to the symbol {seen['symbol']['name']}: line {seen['symbol']['line']}")
            lines += [f"  {line}" for line in seen["hover"].splitlines() if line]
    return "\n".join(lines) + "\n"


def tried(editor: str, out: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        project.build(folder)
        given = session_of(editor, folder)
        start = time.monotonic()
        done = subprocess.run(COMMANDS[editor], cwd=folder, env={**os.environ, "SESSION": json.dumps(given)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        seconds = time.monotonic() - start
        result = folder / "result.json"
        assert result.exists(), f"{editor} ended with status {done.returncode}: {done.stdout}{done.stderr}"
        seen = json.loads(result.read_text())
        check(seen, folder)
    text = transcript(editor, seen, seconds)
    (out / f"{editor}.txt").write_text(text)
    print(text)


def main() -> None:
    out, *wanted = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    for editor in wanted or COMMANDS:
        tried(editor, Path(out))


if __name__ == "__main__":
    main()
