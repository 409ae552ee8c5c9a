"""What can go wrong between a client and a service, or a file, each with a sentence a user can act on.

    IsoscopeError
      CannotConnect    nothing answers, or it refuses us; no RPC was sent
      TimedOut         connected, but the answer does not come
      ServiceEnded     the connection went away while we waited
      ProtocolError    the service said something that the protocol does not allow
        RpcError       the service answered a request with an error
      BadFile          a file holds no profile that can be read
      CannotWrite      a file could not be written
"""

from __future__ import annotations

from typing import Any, Mapping, Optional


class IsoscopeError(Exception):
    """Base of everything the package raises on purpose."""


class CannotConnect(IsoscopeError):
    pass


class TimedOut(IsoscopeError):
    pass


class ServiceEnded(IsoscopeError):
    pass


class ProtocolError(IsoscopeError):
    pass


class RpcError(ProtocolError):
    """An error reply. `details` is the service's own sentence, None when it gave none."""

    def __init__(self, method: str, error: Mapping[str, Any]) -> None:
        code, message, data = error.get("code"), error.get("message"), error.get("data")
        self.method = method
        self.code = code if isinstance(code, int) else 0
        self.message = message if isinstance(message, str) else "no message"
        self.data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        details = self.data.get("details")
        self.details: Optional[str] = details if isinstance(details, str) else None
        said = f"{self.message}: {self.details}" if self.details else self.message
        super().__init__(f"{method}: {said} (error {self.code})")


class BadFile(IsoscopeError):
    """A file that holds no profile we can read; says what is wrong with it."""


class CannotWrite(IsoscopeError):
    """Nothing was written; says why."""
