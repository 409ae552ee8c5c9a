"""Budgets: what a run may take at most, out of a TOML file; and what it took.

    [function]
    parse_json = "12%"                       of the CPU time, with what it calls
    "walk*" = { self = "5%", total = "20%" } self: without; * stands for anything
    [library]
    "libz.so.1" = "20%"                      of the CPU time, in its own code
    [stall]
    count = 0
    longest = "250ms"
    total = "1s"
    [allocation]
    share = "10%"                            of the CPU time, in the allocator
    bytes = "64MiB"                          these two of a run with --alloc
    per_second = "10MiB"

    read(path) -> [Budget];  judged(budget, facts) -> Verdict

A budget is exceeded where the measured value is, less its error: chance fails no build.

Errors   BadBudgets names the file, the key, and what is right.
"""

from __future__ import annotations

import difflib
import importlib
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Optional

from ..errors import IsoscopeError
from ..model import Function
from ..stalls import words as stall_words
from ..text import counted, printable, size
from .chance import effective
from .cpu import CpuTime, allocated_bytes
from .facts import Facts
from .late import NO_MARKS, counting
from .words import Name, Sentence

WITHIN, EXCEEDED, UNKNOWN = "within", "exceeded", "unknown"
FUNCTION, LIBRARY, STALL, ALLOCATION = SECTIONS = ("function", "library", "stall", "allocation")
_SIZE_MAX = 1 << 20  # of the file: it is written by hand


class BadBudgets(IsoscopeError):
    pass


@dataclass(frozen=True)
class Budget:
    section: str
    name: str  # of a function or library; "": of the whole
    key: str  # "self", "total", "count", "longest", ...
    limit: float  # a share from 0 to 1, microseconds, bytes, or a number

    @property
    def what(self) -> Sentence:
        if self.name:
            return (f"{self.section} ", Name(self.name), f" {self.key}")
        return (f"{self.section} {self.key}",)


@dataclass(frozen=True)
class Verdict:
    budget: Budget
    state: str  # WITHIN, EXCEEDED, UNKNOWN
    limit: str
    measured: str  # "": not known
    note: Sentence = ()  # why not, or what is odd


# Values.


def _percent(value: Any) -> Optional[float]:
    number = _number(value[:-1] if isinstance(value, str) and value.rstrip().endswith("%") else value)
    return number / 100 if number is not None and number <= 100 else None


def _count(value: Any) -> Optional[float]:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "": 1e3}
_SIZES = {"": 1.0, "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9}


def _time(value: Any) -> Optional[float]:
    return _with_unit(value, _TIMES)


def _bytes(value: Any) -> Optional[float]:
    return _with_unit(value, _SIZES)


def _with_unit(value: Any, units: Mapping[str, float]) -> Optional[float]:
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    number = _number(found[1] if found else value)
    unit = units.get(found[2] if found else "")
    return None if number is None or unit is None or (isinstance(value, str) and not found) else number * unit


def _number(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


_SHARE = (_percent, 'a percentage from 0 to 100, such as "12%"')
_TIME = (_time, 'a time such as "250ms", "2s" or a number of milliseconds')
_BYTES = (_bytes, 'a size such as "64MiB" or a number of bytes')
# What may be set, and how its value is read.
_KEYS: dict[str, dict[str, tuple[Callable[[Any], Optional[float]], str]]] = {
    FUNCTION: {"self": _SHARE, "total": _SHARE},
    LIBRARY: {"self": _SHARE, "total": _SHARE},
    STALL: {"count": (_count, "a whole number, such as 0"), "longest": _TIME, "total": _TIME},
    ALLOCATION: {"share": _SHARE, "bytes": _BYTES, "per_second": _BYTES},
}
# What a value stands for where it is given without a key.
_PLAIN = {FUNCTION: "total", LIBRARY: "self"}


# The file.


def read(path: str) -> list[Budget]:
    shown = printable(path)
    try:
        with open(path, "rb") as file:
            content = file.read(_SIZE_MAX + 1)
    except OSError as error:
        raise BadBudgets(f"cannot read {shown}: {error.strerror or error}") from error
    if len(content) > _SIZE_MAX:
        raise BadBudgets(f"{shown}: too large for a file of budgets")
    toml = _toml()
    try:
        told = toml.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadBudgets(f"{shown}: it is no TOML: it is not UTF-8, or nested too deeply") from error
    except toml.TOMLDecodeError as error:
        raise BadBudgets(f"{shown}: it is no TOML: {printable(str(error))}") from error
    budgets = [budget for section, value in told.items() for budget in _section(shown, section, value)]
    if not budgets:
        raise BadBudgets(f"{shown}: there is no budget in it; sections: {', '.join(SECTIONS)}")
    return budgets


def _toml() -> Any:
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise BadBudgets("budgets need Python 3.11, or the package tomli")


def _section(path: str, section: str, value: Any) -> Iterable[Budget]:
    if section not in _KEYS:
        raise BadBudgets(f"{path}: there is no section [{printable(section)}]{_or(section, SECTIONS)}")
    if not isinstance(value, dict):
        raise BadBudgets(f"{path}: {section} is a section, not a value: write [{section}], and below it "
                         f"{_example(section)}")  # fmt: skip
    for name, told in value.items():
        if section not in _PLAIN:
            yield _budget(path, section, "", name, told)
        elif isinstance(told, dict):
            if not told:
                raise BadBudgets(f"{path}: [{section}] {_key(name)} has no limit; keys: {', '.join(_KEYS[section])}")
            yield from (_budget(path, section, name, key, one) for key, one in told.items())
        else:
            yield _budget(path, section, name, _PLAIN[section], told)


def _budget(path: str, section: str, name: str, key: str, value: Any) -> Budget:
    where = f"{path}: [{section}] " + (f"{_key(name)} " if name else "")
    if key not in _KEYS[section]:
        raise BadBudgets(f"{where}has no key '{printable(key)}'{_or(key, _KEYS[section])}")
    if section in _PLAIN and not name:
        raise BadBudgets(f"{path}: [{section}] has a name that is empty")
    parse, right = _KEYS[section][key]
    limit = parse(value)
    if limit is None:
        shown = printable(value) if isinstance(value, str) else printable(repr(value))
        raise BadBudgets(f"{where}{key}: '{shown}' is not {right}")
    return Budget(section, name, key, limit)


def _or(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(known)}"


def _key(name: str) -> str:
    return f"'{printable(name)}'"


def _example(section: str) -> str:
    return {STALL: "count = 0", ALLOCATION: 'share = "10%"'}.get(section, 'name = "12%"')


# What a run took.


def judged(budgets: Iterable[Budget], facts: Facts) -> list[Verdict]:
    cpu = CpuTime(facts)
    judges: dict[str, Callable[[Budget], Verdict]] = {
        FUNCTION: lambda budget: _of_share(budget, cpu, _part_of(cpu, budget, _function_names)),
        LIBRARY: lambda budget: _of_share(budget, cpu, _part_of(cpu, budget, _library_names)),
        STALL: lambda budget: _of_stalls(budget, facts),
        ALLOCATION: lambda budget: _of_allocations(budget, cpu, facts),
    }
    return [judges[budget.section](budget) for budget in budgets]


def _of_share(budget: Budget, cpu: CpuTime, part: Optional[int]) -> Verdict:
    limit = f"{100 * budget.limit:g} %"
    if not cpu.total:
        return Verdict(budget, UNKNOWN, limit, "", ("there are no samples of CPU time",))
    took = cpu.share(part or 0)
    state = EXCEEDED if took.least > budget.limit else WITHIN
    note: Sentence = ()
    if part is None:
        note = ("nothing of that name is in the profile",)
    elif state == WITHIN and took.value > budget.limit:
        note = ("more than the limit, but not by more than the error",)
    return Verdict(budget, state, limit, f"{100 * took.value:.1f} % ± {100 * took.error:.1f}", note)


def _function_names(function: Function) -> tuple[str, ...]:
    return function.name, function.full_name


def _library_names(function: Function) -> tuple[str, ...]:
    library = function.library
    return () if library is None else (library.name, library.path)


def _part_of(cpu: CpuTime, budget: Budget, names: Callable[[Function], tuple[str, ...]]) -> Optional[int]:
    """The weight of its samples; None: nothing has the name. What is inlined into a function is its own."""
    profile = cpu.profile
    told = [names(frame.function) for frame in profile.frames]
    # A name may have a * of its own: operator*.
    exact = any(budget.name in some for some in told)
    pattern = re.compile(".*".join(map(re.escape, [budget.name] if exact else budget.name.split("*"))), re.DOTALL)
    matches = bytearray(any(pattern.fullmatch(name) for name in some) for some in told)
    if not any(matches):
        return None
    of_function = budget.section == FUNCTION
    own, below = bytearray(len(profile.callers)), bytearray(len(profile.callers))
    for node in range(1, len(own)):
        caller, number = profile.callers[node], profile.node_frames[node]
        own[node] = matches[number] or (of_function and profile.frames[number].inlined and own[caller])
        below[node] = matches[number] or below[caller]
    chosen = own if budget.key == "self" else below
    return sum(1 if cpu.by_count else us for node, us in zip(profile.nodes, profile.weights_us) if chosen[node])


def _of_stalls(budget: Budget, facts: Facts) -> Verdict:
    is_count = budget.key == "count"
    limit = f"{budget.limit:g}" if is_count else stall_words.time(budget.limit)
    if facts.stalls is None or facts.loops is None:
        return Verdict(budget, UNKNOWN, limit, "", ("this source tells nothing of stalls",))
    if not any(loop["watched"] for loop in facts.loops["loops"]):
        return Verdict(budget, UNKNOWN, limit, "", (NO_MARKS if facts.is_outside else "no loop was watched",))
    stalls = counting(facts)
    durations = [stall["durationMicros"][0] for stall in stalls]  # what it took for certain
    value = len(stalls) if is_count else sum(durations) if budget.key == "total" else max(durations, default=0)
    measured = counted(len(stalls), "stall") if is_count else stall_words.time(value)
    shortest = facts.loops["limits"]["stall"] * 1000
    note: Sentence = ()
    if budget.key == "longest" and budget.limit < shortest and value <= budget.limit:
        note = (f"what is shorter than {stall_words.time(shortest)} is no stall (isoscope run --stall-limit)",)
    elif stalls:
        worst = max(stalls, key=lambda stall: stall["durationMicros"][0])
        note = ("the longest: ", Name(stall_words.sentence(worst)))
    return Verdict(budget, EXCEEDED if value > budget.limit else WITHIN, limit, measured, note)


def _of_allocations(budget: Budget, cpu: CpuTime, facts: Facts) -> Verdict:
    if budget.key == "share":
        return _of_share(budget, cpu, sum(cpu.in_memory.values()))
    per_second = budget.key == "per_second"
    unit = " a second" if per_second else ""
    limit = f"{size(budget.limit)}{unit}"
    profile, total = facts.allocations, allocated_bytes(facts)
    if profile is None or total is None:
        return Verdict(budget, UNKNOWN, limit, "", ("allocations were not sampled: start the program with --alloc",))
    if per_second and not facts.span_us:
        return Verdict(budget, UNKNOWN, limit, "", ("it is not known for how long the program ran",))
    value = total / facts.span_us * 1e6 if per_second else float(total)
    samples = effective(profile.weights_us)
    error = 1.96 * value / math.sqrt(samples) if samples else 0.0
    state = EXCEEDED if value - error > budget.limit else WITHIN
    return Verdict(budget, state, limit, f"{size(value)} ± {size(error)}{unit}")
