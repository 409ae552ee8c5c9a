"""Names, lines and inlined functions of random addresses, beside llvm-symbolizer and both addr2lines.

    symbols.py [BUILD_FOLDER] [--rounds N] [--addresses N] [--modules python,libjvm]

Each way starts cold, is given the same addresses, and is asked for all inlined frames. A figure is the
median over the rounds of the CPU time (or peak memory) of the whole process. The addresses are any
bytes that a function's symbol covers. Warm is what a window costs that is shown again: each address
in the profile's chains, with the record of each function; beside it, what the same costs in debug data
that is open and read, as at a frame's first sight.

"libdw, own index" is the same work with every unit, DIE and line row read by libdw: what reading them by
hand has to be better than.

Two modules: python3.11 with the debug file of python3.11-dbg, and libjvm of openjdk-17-dbg, whose
package is fetched into the build folder, not installed. Then our frames are held against addr2line's,
here and at as many addresses anywhere in .text: each difference has to have a cause that is known.
Ends with status 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DEBUG = Path("/usr/lib/debug/.build-id")
JDK_PACKAGE = "openjdk-17-dbg"
DWARF_BYTES_MIN = 200 << 20  # of the large module
NAMES_PART_MAX = 1 / 50  # of llvm-symbolizer's CPU time
LINES_PART_MAX = 1.0
MEMORY_PART_MAX = 1 / 2
WARM_MIN = 5e6  # lookups in a second
EQUAL_MIN = 0.999
SLOW_ADDRESSES = 100  # for eu-addr2line on the large module, where 5,000 would take minutes
EXAMPLES = 3
COLD = re.compile(r"\.cold(\.\d+)?$")


class Module(NamedTuple):
    name: str
    path: Path  # what we are given
    debug: Path  # what the others are given
    large: bool


class Used(NamedTuple):
    cpu: float  # seconds
    peak: float  # MiB
    output: str


def run(command: list[str], folder: Path, addresses: Path | None = None) -> Used:
    output = folder / "output"
    with output.open("wb") as out, open(addresses or os.devnull, "rb") as given:
        child = subprocess.Popen(command, stdin=given, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: ended with {child.returncode}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                output.read_text(errors="replace"))


def sections(path: Path) -> dict[str, tuple[int, int]]:
    """Address and size by name. Decompressed, where a compressed section says its true size."""
    text = subprocess.run(["readelf", "-W", "-S", "-t", str(path)], check=True, capture_output=True,
                          text=True).stdout
    found: dict[str, tuple[int, int]] = {}
    name = ""
    for line in text.splitlines():
        if match := re.match(r"\s*\[\s*\d+\] (\S+)$", line):
            name = match[1]
        elif match := re.match(r"\s+[A-Z_]+\s+([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) ", line):
            found[name] = (int(match[1], 16), int(match[2], 16))
        elif match := re.match(r"\s+ZLIB, ([0-9a-f]+), ", line):
            found[name] = (found[name][0], int(match[1], 16))
    return found


def dwarf_bytes(path: Path) -> int:
    return sum(size for name, (_, size) in sections(path).items() if name.startswith(".debug_"))


def python_module() -> Module:
    path = Path("/usr/bin/python3.11")
    notes = subprocess.run(["readelf", "-n", str(path)], check=True, capture_output=True,
                           text=True).stdout
    match = re.search(r"Build ID: ([0-9a-f]+)", notes)
    debug = DEBUG / match[1][:2] / f"{match[1][2:]}.debug" if match else DEBUG
    if not debug.is_file():
        sys.exit(f"{debug} is not there: python3.11-dbg of another version than python3.11?")
    return Module("python3.11", path, debug, False)


def jdk_module(cache: Path) -> Module:
    folder = cache / JDK_PACKAGE
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        print(f"Fetching {JDK_PACKAGE} (230 MB) into {cache}", flush=True)
        subprocess.run(["apt-get", "download", "-qq", JDK_PACKAGE], cwd=cache, check=True)
        package = next(cache.glob(f"{JDK_PACKAGE}_*.deb"))
        unfinished = cache / "unfinished"
        subprocess.run(["dpkg-deb", "-x", str(package), str(unfinished)], check=True)
        unfinished.rename(folder)
        package.unlink()
    path = max(folder.rglob("*.debug"), key=lambda file: file.stat().st_size)
    if dwarf_bytes(path) < DWARF_BYTES_MIN:
        sys.exit(f"{path} has less DWARF than this bench is about")
    return Module("libjvm", path, path, True)


def functions_of(path: Path) -> list[tuple[int, int]]:
    """[start, end) of all code that a symbol's size covers, ascending and disjoint."""
    text = subprocess.run(["readelf", "-W", "-s", str(path)], check=True, capture_output=True,
                          text=True).stdout
    found = sorted((int(m[1], 16), int(m[1], 16) + int(m[2], 0)) for m in re.finditer(
        r"^ *\d+: ([0-9a-f]{16}) +(\w+) FUNC +\w+ +\w+ +\d+ ", text, re.M))
    spans: list[tuple[int, int]] = []
    for start, end in found:
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif start < end:
            spans.append((start, end))
    return spans


def choose(spans: list[tuple[int, int]], count: int) -> list[int]:
    """Each byte of the spans is as likely."""
    choice = random.Random(5000)
    ends = list(accumulate(end - start for start, end in spans))
    chosen = []
    for _ in range(count):
        place = choice.randrange(ends[-1])
        at = bisect_right(ends, place)
        chosen.append(spans[at][1] - (ends[at] - place))
    return chosen


def write_addresses(chosen: list[int], path: Path) -> Path:
    path.write_text("".join(f"{address:#x}\n" for address in chosen))
    return path


def ours(bench: Path, what: str, module: Module, addresses: Path, folder: Path) -> dict[str, float]:
    text = run([str(bench), what, str(module.path), str(addresses)], folder).output
    words = text.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def eu_addr2line(module: Module, chosen: list[int], folder: Path) -> tuple[Used, str]:
    command = ["eu-addr2line", "-f", "-i", "-e", str(module.debug)]
    if not module.large:
        return run(command, folder, folder / "addresses"), ""
    runs = []
    for count in (SLOW_ADDRESSES // 2, SLOW_ADDRESSES):
        part = folder / "part"
        part.write_text("".join(f"{address:#x}\n" for address in chosen[:count]))
        runs.append(run(command, folder, part))
    each = (runs[1].cpu - runs[0].cpu) / (SLOW_ADDRESSES - SLOW_ADDRESSES // 2)
    scaled = runs[1].cpu + each * (len(chosen) - SLOW_ADDRESSES)
    return (Used(scaled, runs[1].peak, ""),
            f"scaled from {SLOW_ADDRESSES // 2} and {SLOW_ADDRESSES} addresses")


Frames = list[tuple[str, str]]  # function, file:line


def answers(text: str) -> dict[int, Frames]:
    found: dict[int, Frames] = {}
    frames: Frames = []
    lines = iter(re.sub(r" \(discriminator \d+\)|:(?=\?$)", lambda m: m[0][:1].strip(), text,
                        flags=re.M).splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            frames = found[int(line, 16)] = []
        elif line:
            place = next(lines)
            frames.append((line, re.sub(r":\?$", ":0", place)))
    return found


def equal(own: Frames, theirs: Frames) -> bool:
    """The same functions and places. A function that is not inlined has two names that are right: its
    linkage name in the debug data and its symbol (f and f.lto_priv.0, a constructor's C2 and C1). A
    cold part is its function's, for us and for the debug data, not for the symbol table."""
    return len(own) == len(theirs) and all(
        place == their_place and COLD.sub("", their_name) in name.split("\t")
        for (name, place), (their_name, their_place) in zip(own, theirs))


def cause(own: Frames, theirs: Frames, llvm: Frames) -> str:
    """Why addr2line says something else; "" is none that is known."""
    if own[-1][0] == "??":
        return "no function is there (padding); addr2line names the one before"
    around = own[-1][0].split("\t")
    if (len(own) > 1 and not own[0][0].startswith("_Z") and theirs[0][0] in around
            and theirs[0][1] == own[0][1] and equal(own[1:], theirs[1:])):
        return "inlined and not mangled: addr2line gives it the name of the function it is in"
    if len(own) == len(theirs) and equal(own, [(name, place) for (name, _), (_, place)
                                               in zip(theirs, llvm)]):
        return "DWARF 5, no file set yet; addr2line takes file 0 for file 1 (llvm-symbolizer: as we)"
    if len(own) == 1 == len(theirs) and own[0][1] == "??:0" and theirs[0][0] in around \
            and re.fullmatch(r"[^/]+:0", theirs[0][1]):
        return "no debug data there; addr2line takes the file from the symbol table"
    return ""


class Missed:
    """Bounds, as they are checked."""

    def __init__(self) -> None:
        self.any = False

    def check(self, what: str, figure: str, bound: str, good: bool) -> None:
        self.any |= not good
        print(f"    {what:<44} {figure:>12}   {bound}{'' if good else '   MISSED'}", flush=True)


def show(name: str, cpu: float, peak: float, note: str = "") -> None:
    print(f"    {name:<44} {cpu * 1000:>9,.0f} ms {peak:>8,.1f} MB   {note}", flush=True)


def compare(what: str, module: Module, bench: Path, addresses: Path, llvm: str, theirs: str,
            missed: Missed) -> None:
    text = run([str(bench), "print", str(module.path), str(addresses)], addresses.parent).output
    own, addr2line, other = answers(text), answers(theirs), answers(llvm)
    causes: Counter[str] = Counter()
    as_llvm = shown = 0
    for address, frames in own.items():
        as_llvm += equal(frames, other[address])
        if equal(frames, addr2line[address]):
            continue
        why = cause(frames, addr2line[address], other[address])
        causes[why] += 1
        if not why and shown < EXAMPLES:
            shown += 1
            for who, said in (("we", frames), ("addr2line", addr2line[address]),
                              ("llvm-symbolizer", other[address])):
                print(f"    {address:#x} {who}: {said[:2]} and {max(0, len(said) - 2)} more")
    print(f"  {len(own):,} addresses {what}")
    print(f"    frames as llvm-symbolizer's {as_llvm / len(own):>29.2%}")
    print(f"    frames as addr2line's {1 - causes.total() / len(own):>35.2%}")
    for why, count in causes.most_common():
        print(f"        {count:>5}  {why or 'NOT EXPLAINED'}")
    explained = 1 - causes[""] / len(own)
    missed.check("as addr2line's, or the cause is known", f"{explained:.2%}", f">= {EQUAL_MIN:.1%}",
                 explained >= EQUAL_MIN)


def llvm_symbolizer(module: Module, addresses: Path) -> Used:
    return run(["llvm-symbolizer", "-a", "-f", "-i", "--no-demangle", "--output-style=GNU", "-e",
                str(module.debug)], addresses.parent, addresses)


def addr2line(module: Module, addresses: Path) -> Used:
    return run(["addr2line", "-a", "-f", "-i", "-e", str(module.debug)], addresses.parent, addresses)


def libdw(build: Path, module: Module, addresses: Path) -> Used:
    return run([str(build / "tests/bench/libdw_lines"), "index", str(module.debug), str(addresses)],
               addresses.parent)


def bench_module(module: Module, arguments: argparse.Namespace, folder: Path,
                 missed: Missed) -> None:
    bench = arguments.build / "tests/bench/symbols_bench"
    chosen = choose(functions_of(module.debug), arguments.addresses)
    addresses = write_addresses(chosen, folder / "addresses")
    print(f"\n{module.name}: {dwarf_bytes(module.debug) / 1e6:,.0f} MB of DWARF, "
          f"{len(chosen):,} addresses in functions", flush=True)
    names, lines, libdws, llvms, gnus = [], [], [], [], []
    for _ in range(arguments.rounds):
        names.append(ours(bench, "names", module, addresses, folder))
        lines.append(ours(bench, "lines", module, addresses, folder))
        libdws.append(libdw(arguments.build, module, addresses))
        llvms.append(llvm_symbolizer(module, addresses))
        gnus.append(addr2line(module, addresses))
    slow, note = eu_addr2line(module, chosen, folder)
    names_cpu = median(each["cpu_seconds"] for each in names)
    lines_cpu = median(each["cpu_seconds"] for each in lines)
    lines_peak = median(each["peak_kib"] for each in lines) / 1024
    warm = median(each["warm_chains_per_second"] for each in lines)
    warm_lines = median(each["warm_lines_per_second"] for each in lines)
    llvm_cpu, llvm_peak = median(u.cpu for u in llvms), median(u.peak for u in llvms)
    show("isoscope, names only", names_cpu, median(each["peak_kib"] for each in names) / 1024)
    show("isoscope, names, lines and inlined", lines_cpu, lines_peak)
    libdw_cpu, libdw_peak = median(u.cpu for u in libdws), median(u.peak for u in libdws)
    show("libdw, own index", libdw_cpu, libdw_peak)
    show("llvm-symbolizer -f -i", llvm_cpu, llvm_peak)
    show("addr2line -f -i", median(u.cpu for u in gnus), median(u.peak for u in gnus))
    show("eu-addr2line -f -i", slow.cpu, slow.peak, note)
    for what, part, bound in (("names: CPU of llvm-symbolizer's", names_cpu / llvm_cpu, NAMES_PART_MAX),
                              ("lines: CPU of llvm-symbolizer's", lines_cpu / llvm_cpu, LINES_PART_MAX),
                              ("lines: CPU of libdw's", lines_cpu / libdw_cpu, LINES_PART_MAX),
                              ("lines: memory of libdw's", lines_peak / libdw_peak, LINES_PART_MAX),
                              ("lines: memory of llvm-symbolizer's", lines_peak / llvm_peak,
                               MEMORY_PART_MAX)):
        missed.check(what, f"1/{1 / part:.1f}", f"<= 1/{1 / bound:g}", part <= bound)
    missed.check("warm: a window again, addresses in a second", f"{warm / 1e6:.1f} M",
                 f"> {WARM_MIN / 1e6:g} M", warm > WARM_MIN)
    print(f"    {'warm: open debug data, addresses in a second':<44} {warm_lines / 1e6:>10.1f} M",
          flush=True)
    compare("in functions", module, bench, addresses, llvms[-1].output, gnus[-1].output, missed)
    start, size = sections(module.debug)[".text"]
    anywhere = write_addresses(choose([(start, start + size)], arguments.addresses),
                               folder / "anywhere")
    compare("anywhere in .text, where no pc need ever be", module, bench, anywhere,
            llvm_symbolizer(module, anywhere).output, addr2line(module, anywhere).output, missed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--addresses", type=int, default=5000)
    parser.add_argument("--modules", default="python,libjvm")
    arguments = parser.parse_args()
    folder = arguments.build / "tests/bench/symbols"
    folder.mkdir(parents=True, exist_ok=True)
    missed = Missed()
    for name in arguments.modules.split(","):
        module = python_module() if name == "python" else jdk_module(folder)
        bench_module(module, arguments, folder, missed)
    return int(missed.any)


if __name__ == "__main__":
    sys.exit(main())
