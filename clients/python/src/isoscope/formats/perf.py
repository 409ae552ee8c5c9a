"""Text as `perf script` prints it: one block a sample, leaf first.

    python3  4242/4243  12.003456:    1000000 cpu-clock:
    \t               0 lex+0x0 (/usr/bin/python3.11)

Lost: tags, lines, cut stacks; of inlined frames their library, in whose place stands (inlined), as
perf has it. Spaces in libraries' paths become underscores: readers look for the last parenthesis.
The period is the sample's CPU time in nanoseconds. Addresses are not known: 0.
"""

from __future__ import annotations

from typing import BinaryIO

from ..profile import Frame, Profile
from .common import UTF8, in_time, library_path, one_line, pid_of


def write(profile: Profile, out: BinaryIO) -> None:
    stacks: dict[int, bytes] = {}
    for place in in_time(profile):
        node = profile.nodes[place]
        if node not in stacks:
            lines = [_frame(frame) for frame in profile.stack(node)]
            stacks[node] = ("".join(lines) + "\n").encode(*UTF8)
        thread = profile.threads[profile.sample_threads[place]]
        seconds, us = divmod(profile.times_us[place], 1_000_000)
        name = one_line(thread.name or thread.process.name) or "unknown"
        head = f"{name}  {pid_of(thread.process)}/{thread.tid}  {seconds}.{us:06}:"
        period_ns = profile.weights_us[place] * 1000
        out.write(f"{head} {period_ns:>10} cpu-clock: \n".encode(*UTF8) + stacks[node])


def _frame(frame: Frame) -> str:
    library = library_path(frame.function) or "[unknown]"
    where = "inlined" if frame.inlined else "_".join(library.split())
    return f"\t{0:>16x} {one_line(frame.function.name)}+0x0 ({where})\n"
