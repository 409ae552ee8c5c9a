"""Holds what a service sends against schemas/, and keeps count of what was seen.

    checker = WireChecker()            one per connection
    checker.sent(text)                 each request, so that replies find their method
    checker.received(text)             raises WrongMessage, which says what is wrong and where

What was seen is in SEEN, for all checkers of this program.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

import fastjsonschema

Json = dict[str, Any]

_OTHERS = re.compile(r"s[0-9]+\.")  # methods that clients offer each other

BUNDLE = Path(__file__).resolve().parents[2] / "schemas" / "generated" / "openrpc.json"


class WrongMessage(AssertionError):
    """Says which message breaks which schema, and where."""


@dataclass
class Seen:
    methods: set[str] = field(default_factory=set)  # with a result, or an error of their own
    components: set[str] = field(default_factory=set)
    errors: set[tuple[str, str]] = field(default_factory=set)  # method, error


SEEN = Seen()


class Wire:
    """The bundle, compiled."""

    def __init__(self, bundle: Json) -> None:
        self.schemas: Json = bundle["components"]["schemas"]
        self.errors: Json = bundle["components"]["errors"]
        self.methods: dict[str, Json] = {method["name"]: method for method in bundle["methods"]}
        self.streams: dict[str, Json] = bundle["x-streams"]
        self._validate = self._compiled()

    def check(self, component: str, value: Any) -> None:
        try:
            self._validate({component: value})
        except fastjsonschema.JsonSchemaValueException as error:
            raise WrongMessage(str(error).replace("data.", "", 1)) from None

    def choices(self, method: str) -> list[str]:
        """The components that a method's result is one of."""
        schema = self.methods[method]["result"]["schema"]
        return [_name(choice["$ref"]) for choice in schema.get("oneOf", [schema])]

    def event(self, stream: str, kind: Any) -> str:
        """The component of an event."""
        kinds = self.streams.get(stream, {})
        if kind not in kinds:
            raise WrongMessage(f"the stream {stream} has no event '{kind}'")
        return _name(kinds[kind]["$ref"])

    def errors_of(self, method: str) -> list[str]:
        return [_name(error["$ref"]) for error in self.methods[method]["errors"]]

    def own_errors(self, method: str) -> set[str]:
        """Those that not every method has."""
        common = set.intersection(*(set(self.errors_of(name)) for name in self.methods))
        return set(self.errors_of(method)) - common

    def choice(self, method: str, result: Json) -> str:
        """The one that says so in its type."""
        choices = self.choices(method)
        for choice in choices:
            kind = self.schemas[choice]["properties"].get("type", {}).get("const")
            if kind is None or kind == result.get("type"):
                return choice
        raise WrongMessage(f"{method} gives {choices}, and not '{result.get('type')}'")

    def _compiled(self) -> Callable[[Json], Any]:
        """One function per component, and each notes when it was content."""
        properties = {name: {"$ref": f"#/components/schemas/{name}"} for name in self.schemas}
        root = {"components": {"schemas": self.schemas}, "type": "object", "properties": properties}
        namespace: Json = {}
        exec(fastjsonschema.compile_to_code(root, use_default=False), namespace)
        for name in self.schemas:
            function = f"validate___components_schemas_{name.lower()}"
            namespace[function] = _noting(name, namespace[function])
        validate: Callable[[Json], Any] = namespace["validate"]
        return validate


def _noting(component: str, validate: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*arguments: Any) -> Any:
        value = validate(*arguments)
        SEEN.components.add(component)
        return value

    return noted


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


WIRE = Wire(json.loads(BUNDLE.read_text()))


class WireChecker:
    """One connection."""

    def __init__(self, wire: Wire = WIRE) -> None:
        self.wire = wire
        self.methods: dict[str, str] = {}  # id -> method

    def sent(self, text: str) -> None:
        """Anything: what is no request is for the service to refuse."""
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(request, dict) and isinstance(request.get("method"), str):
            self.methods[_key(request.get("id"))] = request["method"]

    def received(self, text: str) -> None:
        message = json.loads(text)
        try:
            self._message(message)
        except WrongMessage as error:
            raise WrongMessage(f"{error}\nin {text[:2000]}") from None

    def _message(self, message: Json) -> None:
        _members(message, {"jsonrpc"}, {"id", "result", "error", "method", "params"})
        if message["jsonrpc"] != "2.0":
            raise WrongMessage("jsonrpc is not 2.0")
        if "method" in message:
            return self._call(message) if "id" in message else self._notification(message)
        _members(message, {"jsonrpc", "id"}, {"result", "error"})
        method = self.methods.get(_key(message["id"]))
        if ("result" in message) == ("error" in message):
            raise WrongMessage("a reply has a result or an error")
        if _OTHERS.match(str(method)):
            return None  # that client's words, and not ours
        if "error" in message:
            return self._error(method, message["error"])
        return self._result(method, message["result"])

    def _result(self, method: Optional[str], result: Json) -> None:
        if method not in self.wire.methods:
            raise WrongMessage(f"a result for '{method}', which schemas/ does not know")
        self.wire.check(self.wire.choice(method, result), result)
        SEEN.methods.add(method)

    def _error(self, method: Optional[str], error: Json) -> None:
        self.wire.check("RpcError", error)
        name = self._error_name(error)
        known = method in self.wire.methods
        if not known and name not in ("MethodNotFound", "InvalidRequest", "InvalidParams"):
            raise WrongMessage(f"{name} for '{method}', which schemas/ does not know")
        if known and name not in self.wire.errors_of(str(method)):
            raise WrongMessage(f"{method} does not give the error {name}")
        if known and name in self.wire.own_errors(str(method)):
            SEEN.methods.add(str(method))
            SEEN.errors.add((str(method), name))

    def _error_name(self, error: Json) -> str:
        for name, known in self.wire.errors.items():
            if known["code"] == error["code"] and known["message"] == error["message"]:
                return str(name)
        raise WrongMessage(f"schemas/ has no error {error['code']} '{error['message']}'")

    def _call(self, message: Json) -> None:
        """Of a service that this client registered."""
        _members(message, {"jsonrpc", "id", "method"}, {"params"})
        if not str(message["id"]).startswith("sr"):
            raise WrongMessage(f"a call with the id '{message['id']}'")

    def _notification(self, message: Json) -> None:
        _members(message, {"jsonrpc", "method", "params"}, set())
        params = message["params"]
        _members(params, {"streamId", "event"}, set())
        component = self.wire.event(params["streamId"], params["event"].get("kind"))
        self.wire.check(component, params["event"])


def _key(request_id: Any) -> str:
    """As the service sends it back: an integer beyond 64 bits becomes a double."""
    is_number = isinstance(request_id, (int, float)) and not isinstance(request_id, bool)
    return repr(float(request_id) if is_number else request_id)


def _members(message: Json, needed: set[str], allowed: set[str]) -> None:
    names = set(message)
    if needed - names or names - needed - allowed:
        raise WrongMessage(f"a message with the members {sorted(names)}")
