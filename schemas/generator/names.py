"""What a name of the wire is called in C, Python and TypeScript.

    getVMTimelineMicros -> get_vm_timeline_micros      _getCpuSamples -> private_get_cpu_samples
    @Isolate -> IsolateRef     _CpuSample -> PrivateCpuSample     event Resume -> EventResume
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def snake(wire: str) -> str:
    words = "_".join(word.lower() for word in _WORD.findall(wire))
    return f"private_{words}" if wire.startswith("_") else words


def constant(wire: str) -> str:
    return snake(wire).upper()


def component(wire: str) -> str:
    """A type's name where '@' and a leading '_' cannot stand."""
    if wire.startswith("@"):
        return f"{wire[1:]}Ref"
    return f"Private{wire[1:]}" if wire.startswith("_") else wire


def event_component(kind: str) -> str:
    return f"Event{component(kind)}"


def method_class(wire: str) -> str:
    """getVM -> GetVM, _getCpuSamples -> PrivateGetCpuSamples, rpc.discover -> RpcDiscover."""
    parts = re.findall(r"[A-Za-z0-9]+", wire)
    joined = "".join(part[0].upper() + part[1:] for part in parts)
    return f"Private{joined}" if wire.startswith("_") else joined
