"""What may differ between two answers that are the same byte for byte: this table, and nothing else.

    masked(text, Side(["127.0.0.1:8181"], token="..."))

A saved session gives the same bytes from run to run and from machine to machine, but for these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Sequence

from .entry import TOKEN


@dataclass(frozen=True)
class Side:
    """Of a comparison: what is known of the service that answered."""

    addresses: Sequence[str] = ()  # host and port: the service's, and of a proxy before it
    token: str = ""


def _mask_token(text: str, side: Side) -> str:
    return text.replace(side.token, TOKEN) if side.token else text


def _mask_address(text: str, side: Side) -> str:
    for address in side.addresses:
        text = text.replace(address, "$address")
    return text


_VM = re.compile(r'"result":\s*\{\s*"type":\s*"VM"')
_PID = re.compile(r'("pid":\s*)\d+')


def _mask_pid(text: str, side: Side) -> str:
    return _PID.sub(r'\1"$pid"', text, count=1) if _VM.search(text) else text


VARIABLES: dict[str, Callable[[str, Side], str]] = {
    "the token in the service's address": _mask_token,
    "the host and port in its address": _mask_address,
    "the service's own pid: VM.pid": _mask_pid,
}


def masked(text: str, side: Side) -> str:
    for mask in VARIABLES.values():
        text = mask(text, side)
    return text
