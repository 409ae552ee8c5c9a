"""What a program does now: the samples of the last seconds, summed up anew at each step.

    Update (table form) -> LiveWindow.add -> LiveWindow.functions, .threads -> rows
    Profile (of a file) -> StillWindow       StillWindow.functions, .threads -> rows

The memory held is that of the distinct stacks, and of as many steps as the window is long; samples
are counted and let go.

Units    *_us: microseconds, of one clock. counts: samples. by_time: shares are of CPU time, not of
         samples. self: the function is the leaf. total: it is anywhere on the stack, once a sample.
Errors   None of its own.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Container, Iterable, Optional, Protocol

from .model import TIME, Function, Process
from .profile import CPU, Profile, Thread
from .samples_table import Update
from .trees import call_tree
from .trees.runtime_frames import ALL, FOLDED, MINE, Folding, is_mine

_COLUMNS = (
    "times_us", "sample_threads", "nodes", "weights_us", "user_tags", "states", "objects", "waited_for", "holders"
)  # fmt: skip


@dataclass(eq=False)
class FunctionRow:
    function: Function
    self_count: int = 0
    total_count: int = 0
    self_us: int = 0  # CPU time
    total_us: int = 0


@dataclass(eq=False)
class ThreadRow:
    thread: Thread
    number: int  # in the window's profile
    count: int = 0
    cpu_us: int = 0
    hottest: Optional[Function] = None


@dataclass
class _Step:
    """What came between two looks."""

    begin_us: int
    end_us: int
    counts: Counter[tuple[int, int]] = field(default_factory=Counter)  # by thread and node
    cpu_us: Counter[tuple[int, int]] = field(default_factory=Counter)


class Window(Protocol):
    """What viewers ask of either."""

    profile: Profile

    @property
    def span_us(self) -> int: ...

    @property
    def by_time(self) -> bool: ...

    def functions(self, thread: Optional[int] = None) -> list[FunctionRow]: ...

    def threads(self) -> list[ThreadRow]: ...


class LiveWindow:
    """One viewer's. length_us None: from the first step on."""

    def __init__(
        self,
        begin_us: int,
        length_us: Optional[int],
        *,
        inline: bool = True,
        frames: str = ALL,
        kind: str = TIME,
    ) -> None:
        """inline False: what is inlined counts as what it is inlined into. frames: of
        runtime_frames.FRAMES. kind: of samples."""
        self.length_us = length_us
        self._inline = inline
        self._frames = frames
        self._folding = Folding()
        self.profile = Profile(kind=kind)  # its tables; samples do not stay in it
        self._steps: deque[_Step] = deque()
        self._end_us = begin_us
        self._functions: dict[int, tuple[Function, ...]] = {0: ()}

    def add(
        self,
        update: Update,
        processes: Iterable[Process],
        now_us: int,
        only: Optional[Container[str]] = None,
    ) -> None:
        """now_us: when it was asked for. only: samples of processes with these ids."""
        if update.reset:
            self.profile, self._functions = Profile(kind=self.profile.kind), {0: ()}
            self._steps.clear()
        profile = self.profile
        profile.add_update(update, processes)
        wanted = [only is None or thread.process.id in only for thread in profile.threads]
        step = _Step(self._end_us, now_us)
        for thread, node, weight_us in zip(
            profile.sample_threads, profile.nodes, profile.weights_us
        ):
            if wanted[thread]:
                step.counts[thread, node] += 1
                step.cpu_us[thread, node] += weight_us
        for name in _COLUMNS:
            del getattr(profile, name)[:]
        profile.cut.clear()
        self._end_us = now_us
        self._keep(step)

    def _keep(self, step: _Step) -> None:
        if self.length_us is None and self._steps:
            first = self._steps[0]
            first.counts.update(step.counts)
            first.cpu_us.update(step.cpu_us)
            first.end_us = step.end_us
            return
        self._steps.append(step)
        while len(self._steps) > 1 and self._begins_before(step.end_us - (self.length_us or 0)):
            self._steps.popleft()

    def _begins_before(self, time_us: int) -> bool:
        # Half a step of grace: a look that comes late must not cost the window a whole step.
        step = self._steps[0]
        return (step.begin_us + step.end_us) // 2 < time_us

    @property
    def span_us(self) -> int:
        return self._end_us - self._steps[0].begin_us if self._steps else 0

    @property
    def by_time(self) -> bool:
        return not self.profile.waits and any(any(step.cpu_us.values()) for step in self._steps)

    def functions(self, thread: Optional[int] = None) -> list[FunctionRow]:
        """thread: only of this one."""
        rows: dict[Function, FunctionRow] = {}
        for (number, node), count, cpu_us in self._sums():
            if thread is not None and number != thread:
                continue
            functions = self._on_stack(node)
            if not functions:
                continue
            for function in functions:
                row = rows.get(function)
                if row is None:
                    row = rows[function] = FunctionRow(function)
                row.total_count += count
                row.total_us += cpu_us
            leaf = rows[functions[0]]
            leaf.self_count += count
            leaf.self_us += cpu_us
        return list(rows.values())

    def threads(self) -> list[ThreadRow]:
        rows: dict[int, ThreadRow] = {}
        leaves: dict[int, Counter[Function]] = {}
        by_time = self.by_time
        for (number, node), count, cpu_us in self._sums():
            row = rows.setdefault(number, ThreadRow(self.profile.threads[number], number))
            row.count += count
            row.cpu_us += cpu_us
            weight = cpu_us if by_time else count
            for leaf in self._on_stack(node)[:1]:
                leaves.setdefault(number, Counter())[leaf] += weight
        for number, hottest in leaves.items():
            rows[number].hottest = hottest.most_common(1)[0][0]
        return list(rows.values())

    def _sums(self) -> Iterable[tuple[tuple[int, int], int, int]]:
        counts: Counter[tuple[int, int]] = Counter()
        cpu_us: Counter[tuple[int, int]] = Counter()
        for step in self._steps:
            counts.update(step.counts)
            cpu_us.update(step.cpu_us)
        return [(key, count, cpu_us[key]) for key, count in counts.items()]

    def _on_stack(self, node: int) -> tuple[Function, ...]:
        """Each function once, the leaf first; (): none is shown."""
        known = self._functions.get(node)
        if known is None:
            frames = self.profile.stack(node)
            if not self._inline:
                frames = tuple(frame for frame in frames if not frame.inlined) or frames[-1:]
            functions = [frame.function for frame in frames]
            if self._frames == MINE:
                functions = [function for function in functions if is_mine(function)]
            elif self._frames == FOLDED:
                functions = self._folding.stack(functions)
            known = tuple(dict.fromkeys(functions))
            self._functions[node] = known
        return known


class StillWindow:
    """The last length_us of a profile that gets no more samples; all of one whose samples have no
    times (span_us is 0 then)."""

    def __init__(self, profile: Profile, length_us: int) -> None:
        extent_us = profile.last_us - profile.first_us
        self.profile = profile.window(profile.last_us - length_us, None) if extent_us else profile
        self.span_us = min(length_us, extent_us)
        self.by_time = self.profile.weight == CPU

    def functions(self, thread: Optional[int] = None) -> list[FunctionRow]:
        profile = self.profile
        if thread is not None:
            mine = [i for i, number in enumerate(profile.sample_threads) if number == thread]
            profile = profile.choose(mine)
        return [
            FunctionRow(
                row.function, row.self_count, row.total_count, row.self_us, row.total_us
            )
            for row in call_tree(profile, group="all").functions()
        ]

    def threads(self) -> list[ThreadRow]:
        profile = self.profile
        rows: dict[int, ThreadRow] = {}
        leaves: dict[int, Counter[Function]] = {}
        functions = [frame.function for frame in profile.frames]
        for number, node, us in zip(profile.sample_threads, profile.nodes, profile.weights_us):
            row = rows.get(number)
            if row is None:
                row = rows[number] = ThreadRow(profile.threads[number], number)
                leaves[number] = Counter()
            row.count += 1
            row.cpu_us += us
            leaves[number][functions[profile.node_frames[node]]] += us if self.by_time else 1
        for number, row in rows.items():
            row.hottest = leaves[number].most_common(1)[0][0]
        return list(rows.values())
