"""Stalls of a command that has ended: the ends of its last ones may still be on their way."""

from __future__ import annotations

import time
from typing import Optional

from ..client import Client
from ..model import Process
from ..stalls import Stall

_SETTLE_S, _LOOK_S = 4.0, 0.05


def settled_stalls(client: Client, process: Optional[Process]) -> list[Stall]:
    deadline = time.monotonic() + _SETTLE_S
    while True:
        stalls = client.stalls(process=process)
        if time.monotonic() >= deadline or not any(stall["ongoing"] for stall in stalls):
            return stalls
        time.sleep(_LOOK_S)
