"""The stacks of a profile by function, whatever the lines.

    Profile's nodes (function, line, caller) -> FunctionTree's nodes (function, caller)
"""

from __future__ import annotations

from .model import Function
from .profile import Profile


class FunctionTree:
    """of: profile's node -> this tree's. Node 0 is nobody, and callers come before callees."""

    def __init__(self, profile: Profile) -> None:
        self.callers = [0]
        self.functions: list[Function] = []  # node n's is functions[n - 1]
        self.of = [0]
        known: dict[tuple[int, Function], int] = {}
        for node in range(1, len(profile.callers)):
            function = profile.frames[profile.node_frames[node]].function
            key = (self.of[profile.callers[node]], function)
            mine = known.setdefault(key, len(self.callers))
            if mine == len(self.callers):
                self.callers.append(key[0])
                self.functions.append(function)
            self.of.append(mine)

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
