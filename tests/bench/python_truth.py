"""Python's frames beside the interpreter's own dump of the same moment, on real programs.

    python_truth.py [BUILD_FOLDER] [--python PYTHON]... [--seconds N] [WORD...]

PYTHON: an interpreter, 3.9 to 3.13; /usr/bin/python3 unless told. WORD: programs whose name holds it. Programs: parts of CPython's own
test suite (Debian: libpython3.11-testsuite), Flask, Django, numpy and pandas, pytest; what is not installed for that
interpreter is left out, which is said, unless --install: then packages come from PyPI into a virtual environment
in the build folder.

A tick's handler walks the stack as isoscope does, then asks faulthandler for its dump (tests/truth). Ends with status 1
when a bound is missed: names 99.9 %, lines 99.5 %, native frames of the eval function without partner 0.1 %.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "truth"))

from compare import Compared, compared  # noqa: E402

NAMES_MIN, LINES_MIN, PARTNERLESS_MAX, DIFFER_MAX = 0.999, 0.995, 0.001, 0.001
WORKLOADS = ROOT / "tests" / "truth" / "workloads"
SUITE = ["test_generators", "test_exceptions", "test_compile", "test_coroutines", "test_contextlib", "test_descr",
         "test_functools", "test_json", "test_gc", "test_yield_from", "test_asyncgen"]
PACKAGES = ["flask", "django", "numpy", "pandas", "pytest"]


def programs(seconds: int) -> dict[str, tuple[str, list[str]]]:
    """By name: what it needs, and its words."""
    return {
        "CPython's test suite": ("test.test_generators", ["-m", "test", "-q", *SUITE]),
        "test_asyncio": ("test.test_asyncio", ["-m", "test", "-q", "test_asyncio"]),
        "Flask": ("flask", [str(WORKLOADS / "web_pages.py"), str(seconds)]),
        "Django": ("django", [str(WORKLOADS / "web_models.py"), str(seconds)]),
        "numpy, pandas": ("pandas", [str(WORKLOADS / "data_frames.py"), str(seconds)]),
        "pytest": ("pytest", ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no",
                              str(WORKLOADS / "test_of_many.py")]),
    }


def environment_of(python: str, build: Path) -> str:
    """A virtual environment's interpreter, with what programs need."""
    version = subprocess.run([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], check=True,
                             capture_output=True, text=True).stdout.strip()
    folder = build / "truth" / version
    if not (folder / "bin" / "pytest").exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *PACKAGES], check=True)
    return str(folder / "bin" / "python")


def has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def measured(python: str, build: Path, words: list[str], period_us: int) -> Compared:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples"
        command = [python, str(ROOT / "tests" / "truth" / "run_under.py"),
                   str(build / "tests" / "truth" / "python_oracle.so"), str(out), str(period_us), *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=1800,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if not out.exists():
            raise SystemExit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return compared(out)


def misses(result: Compared) -> list[str]:
    """Of a run with few frames a share says little: then no frame may be wrong but one."""
    found = []
    for what, good, count, least in (("names", result.names, result.frames, NAMES_MIN),
                                     ("lines", result.lines, result.names, LINES_MIN)):
        if good < count * least - 1:
            found.append(what)
    if result.eval_left - result.eval_at_leaf > result.eval_frames * PARTNERLESS_MAX + 1:
        found.append("native frames without partner")
    if result.natives_differ > result.samples * DIFFER_MAX + 1:
        found.append("native frames that differ")
    if not result.samples:
        found.append("samples")
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--period", type=int, default=1000, help="microseconds of CPU time")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    build = Path(options.build).resolve()
    missed = False
    for python in options.python or ["/usr/bin/python3"]:
        runs = environment_of(python, build) if options.install else python
        for name, (needs, words) in programs(options.seconds).items():
            if any(word not in name for word in options.words):
                continue
            if not has(runs, needs):
                print(f"{python}  {name}: left out, there is no {needs}", flush=True)
                continue
            result = measured(runs, build, words, options.period)
            bad = misses(result)
            missed |= bool(bad)
            print(f"{python}  {name}: {result}{'   MISSED: ' + ', '.join(bad) if bad else ''}", flush=True)
            if bad or result.whole < result.samples:
                print("\n".join(result.differences[:6]), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
