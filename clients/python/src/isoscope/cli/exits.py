"""What a command's end means to who called it.

    0 done    1 failed, or there is nothing to show    2 usage
    3 cannot connect    4 the service's answer is an error or breaks the protocol    130 Ctrl-C
    5 of explain --budget: a budget is exceeded

With `-- COMMAND`: COMMAND's own status where its profile was shown (128 + N when signal N ended
it), and one of the above, or of `isoscope run` (125 to 127), where it was not.
"""

from __future__ import annotations

from ..errors import CannotConnect, IsoscopeError, ProtocolError

DONE, FAILED, USAGE, CANNOT_CONNECT, PROTOCOL, OVER_BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

_STATUSES = (
    "exit status: 0 done, 1 failed or nothing to show, 2 usage, 3 cannot connect, 4 the service\n"
    "answered with an error or broke the protocol, 130 Ctrl-C; with `-- COMMAND` its own"
)


def epilog(*examples: str, more: str = "") -> str:
    """What stands below the options in a command's help. more: paragraphs."""
    shown = "examples:\n" + "".join(f"  {example}\n" for example in examples)
    return "\n".join([shown, *([more + "\n"] if more else []), _STATUSES])


class NothingToShow(IsoscopeError):
    """No samples; the message says why."""


class UsageError(IsoscopeError):
    """Found out only after the words were parsed."""


class NotStarted(IsoscopeError):
    """`isoscope run`, or attach, has said itself why there is no profile."""

    def __init__(self, status: int, word: str = "run") -> None:
        super().__init__(f"isoscope {word} ended with status {status}")
        self.status = status


def status_of(error: IsoscopeError) -> int:
    if isinstance(error, UsageError):
        return USAGE
    if isinstance(error, CannotConnect):
        return CANNOT_CONNECT
    return PROTOCOL if isinstance(error, ProtocolError) else FAILED
