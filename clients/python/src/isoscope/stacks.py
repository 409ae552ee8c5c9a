"""The stacks of a profile by function, whatever the lines.

    Profile's nodes (function, line, caller) -> FunctionTree's nodes (function, caller)
"""

from __future__ import annotations

from array import array

from .model import Function
from .profile import Profile
from .ways import Ways


class FunctionTree:
    """of: profile's node -> this tree's. Node 0 is nobody, and callers come before callees."""

    def __init__(self, profile: Profile) -> None:
        self.callers = array("I", [0])
        self.functions: list[Function] = []  # node n's is functions[n - 1]
        self.of = array("I", [0])
        numbers: dict[Function, int] = {}
        of_frame = [numbers.setdefault(f.function, len(numbers)) for f in profile.frames]
        found, labels, child = list(numbers), array("I", [0]), Ways().child
        for caller, frame in zip(profile.callers[1:], profile.node_frames[1:]):
            self.of.append(child(self.of[caller], of_frame[frame], labels, self.callers))
        self.functions = [found[label] for label in labels[1:]]

    def stack(self, node: int) -> list[Function]:
        """Outermost first."""
        stack = []
        while node:
            stack.append(self.functions[node - 1])
            node = self.callers[node]
        return stack[::-1]

    def used(self, nodes: set[int]) -> list[int]:
        """Those nodes and all their callers, callers first: a window of a profile shares the tree
        of the whole one."""
        found: set[int] = set()
        for node in nodes:
            while node and node not in found:
                found.add(node)
                node = self.callers[node]
        return sorted(found)
