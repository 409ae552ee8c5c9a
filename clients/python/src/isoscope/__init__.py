"""isoscope: read the profile of a native program from its service, and build its call tree.

    from isoscope import Client, call_tree

    with Client("http://127.0.0.1:8181/TOKEN=/") as client:
        tree = call_tree(client.profile())
"""

from .async_client import AsyncClient
from .backoff import Backoff
from .client import Client
from .errors import (
    CannotConnect,
    IsoscopeError,
    ProtocolError,
    RpcError,
    ServiceEnded,
    TimedOut,
)
from .model import CpuSamples, Function, Library, Process, Sample
from .profile import Frame, Profile, Row, Thread
from .stalls import Loop, LoopStats, Stall, StallEvent
from .timeline import Event, Timeline
from .timeline.slices import SliceRow, slice_table
from .trees import CallTree, FunctionRow, Node, bottom_up, call_tree

__all__ = [
    "AsyncClient",
    "Backoff",
    "CallTree",
    "CannotConnect",
    "Client",
    "CpuSamples",
    "Event",
    "Frame",
    "Function",
    "FunctionRow",
    "IsoscopeError",
    "Library",
    "Loop",
    "LoopStats",
    "Node",
    "Process",
    "Profile",
    "ProtocolError",
    "Row",
    "RpcError",
    "Sample",
    "ServiceEnded",
    "SliceRow",
    "Stall",
    "StallEvent",
    "Thread",
    "TimedOut",
    "Timeline",
    "bottom_up",
    "call_tree",
    "slice_table",
]

__version__ = "0.1.0"


def _call_tree_html(profile: Profile) -> str:
    return call_tree(profile)._repr_html_()


Profile._repr_html_ = _call_tree_html
