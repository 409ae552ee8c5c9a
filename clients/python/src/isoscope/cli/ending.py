"""How a program ended, in words: what the wire's _Exit says."""

from __future__ import annotations

from ..protocol import PrivateExit

UNKNOWN: PrivateExit = {}


def how(end: PrivateExit) -> str:
    """"with status 3", "by SIGSEGV, core dumped"; "" where nobody knows."""
    if "signal" in end:
        return f"by {end['signal']}" + (", core dumped" if end.get("core") else "")
    return f"with status {end['status']}" if "status" in end else ""


def ended(subject: str, end: PrivateExit) -> str:
    """"the program has ended with status 3", "the program was ended by SIGSEGV"."""
    verb = "was" if "signal" in end else "has"
    return f"{subject} {verb} ended {how(end)}".rstrip()
