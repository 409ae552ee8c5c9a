"""isoscope: read the profile of a native program from its service, and build its call tree.

    from isoscope import Client, CallTree

    with Client("http://127.0.0.1:8181/TOKEN=/") as client:
        profile = [(p, s) for p in client.processes() if (s := client.cpu_samples(p))]
    tree = CallTree.build(profile)
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
from .tree import CallTree, FunctionRow, Node

__all__ = [
    "AsyncClient",
    "Backoff",
    "CallTree",
    "CannotConnect",
    "Client",
    "CpuSamples",
    "Frame",
    "Function",
    "FunctionRow",
    "IsoscopeError",
    "Library",
    "Node",
    "Process",
    "Profile",
    "ProtocolError",
    "Row",
    "RpcError",
    "Sample",
    "ServiceEnded",
    "Thread",
    "TimedOut",
]

__version__ = "0.1.0"
