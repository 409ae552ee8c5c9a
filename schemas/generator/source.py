"""Reads schemas/ and refuses what is wrong in it, with the file's name.

    info.json             an OpenRPC info object: the protocol's version
    methods/<name>.json   an OpenRPC method object
    types/<Type>.json     a JSON Schema (draft-07)
    events/<Kind>.json    a JSON Schema, and the stream it comes on
    errors/<Name>.json    an OpenRPC error object

References are "#/types/X", "#/events/X" and "#/errors/X". README.md lists the x- members.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from .names import component, event_component

Json = dict[str, Any]

_FOLDERS = {"types": component, "events": event_component, "errors": component}
_METHOD_MEMBERS = {
    "name", "summary", "description", "params", "result", "errors", "examples",
    "x-refuses", "x-router", "x-reads-samples", "x-coverage",
}  # fmt: skip


class SchemaError(Exception):
    """Says which file is wrong, and how."""


@dataclass(frozen=True)
class Param:
    name: str
    schema: Json  # as written: may be a reference
    required: bool
    description: str

    @property
    def default(self) -> Any:
        return self.schema.get("default")


@dataclass(frozen=True)
class Method:
    name: str
    document: Json
    params: tuple[Param, ...]

    @property
    def summary(self) -> str:
        return str(self.document["summary"])

    @property
    def description(self) -> str:
        return str(self.document.get("description", ""))

    @property
    def result(self) -> Json:
        schema: Json = self.document["result"]["schema"]
        return schema

    @property
    def errors(self) -> list[str]:
        return [error["$ref"].rpartition("/")[2] for error in self.document.get("errors", [])]

    @property
    def refuses(self) -> list[str]:
        """Parameters that must not be there."""
        return list(self.document.get("x-refuses", []))

    @property
    def coverage(self) -> str:
        """full, subset or error; what is not said is full."""
        return str(self.document.get("x-coverage", "full"))

    @property
    def is_routers(self) -> bool:
        return bool(self.document.get("x-router"))

    @property
    def reads_samples(self) -> bool:
        return bool(self.document.get("x-reads-samples"))


@dataclass(frozen=True)
class Schemas:
    """Everything, sorted by name. Types and events have their bases' members merged in."""

    info: Json
    methods: dict[str, Method]
    types: dict[str, Json]
    events: dict[str, Json]
    errors: dict[str, Json]

    def resolve(self, schema: Json) -> Json:
        """What a reference points to; any other schema is itself."""
        if "$ref" not in schema:
            return schema
        _, folder, name = schema["$ref"].split("/")
        found: Json = getattr(self, folder)[name]
        return found

    def components(self) -> Iterator[tuple[str, str, Json]]:
        """Types and events: component name, wire name, schema."""
        for name, schema in self.types.items():
            yield component(name), name, schema
        for name, schema in self.events.items():
            yield event_component(name), name, schema


def streams_of(event: Json) -> list[str]:
    """All that an event comes on."""
    return [event["x-stream"], *event.get("x-also-on", [])]


def component_of(reference: str) -> str:
    """"#/types/@Isolate" -> "IsolateRef"."""
    _, folder, name = reference.split("/")
    return _FOLDERS[folder](name)


def read(folder: Path) -> Schemas:
    types = _read_folder(folder / "types")
    events = _read_folder(folder / "events")
    merged_types = {name: _merged(name, types, types) for name in types}
    schemas = Schemas(
        info=_read_file(folder / "info.json"),
        methods={name: _method(name, document) for name, document in
                 _read_folder(folder / "methods").items()},
        types={name: s for name, s in merged_types.items() if not s.get("x-abstract")},
        events={name: _merged(name, events, types) for name in events},
        errors=_read_folder(folder / "errors"),
    )  # fmt: skip
    _check(schemas)
    return schemas


def _read_folder(folder: Path) -> dict[str, Json]:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stem)
    return {path.stem: _read_file(path) for path in files}


def _read_file(path: Path) -> Json:
    try:
        document: Json = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SchemaError(f"{path.parent.name}/{path.name}: {error}") from error
    return document


def _merged(name: str, among: dict[str, Json], types: dict[str, Json]) -> Json:
    """The schema with what "x-extends" names: the base's members first."""
    schema = dict(among[name])
    base_name = schema.pop("x-extends", None)
    if base_name is None:
        return schema
    if base_name not in types:
        raise SchemaError(f"{name}: there is no type '{base_name}' to extend")
    base = _merged(base_name, types, types)
    base.pop("x-abstract", None)
    merged = {**base, **schema}
    merged["properties"] = {**base["properties"], **schema.get("properties", {})}
    merged["required"] = base["required"] + [
        member for member in schema.get("required", []) if member not in base["required"]
    ]
    return merged


def _method(name: str, document: Json) -> Method:
    where = f"methods/{name}.json"
    if document.get("name") != name:
        raise SchemaError(f"{where}: its name is '{document.get('name')}'")
    if unknown := set(document) - _METHOD_MEMBERS:
        raise SchemaError(f"{where}: nobody knows {sorted(unknown)}")
    for member in ("summary", "params", "result", "examples"):
        if member not in document:
            raise SchemaError(f"{where}: '{member}' is missing")
    if document.get("x-coverage", "full") not in ("full", "subset", "error"):
        raise SchemaError(f"{where}: 'x-coverage' is full, subset or error")
    params = tuple(
        Param(p["name"], p["schema"], bool(p.get("required")), str(p.get("description", "")))
        for p in document["params"]
    )
    return Method(name, document, params)


def _check(schemas: Schemas) -> None:
    for name, method in schemas.methods.items():
        _check_schema(schemas, f"methods/{name}.json", method.document)
    for component_name, _, schema in schemas.components():
        _check_schema(schemas, component_name, schema)
        if not schema.get("description"):
            raise SchemaError(f"{component_name}: 'description' is missing")
    for name, event in schemas.events.items():
        if event["properties"].get("kind") != {"const": name} or "x-stream" not in event:
            raise SchemaError(f"events/{name}.json: wants 'x-stream', and '{name}' as its kind")
        for stream in streams_of(event):
            if stream not in schemas.types["StreamId"]["enum"]:
                raise SchemaError(f"events/{name}.json: '{stream}' is no StreamId")
    for name, error in schemas.errors.items():
        if set(error) - {"x-any-method"} != {"code", "message", "x-description"}:
            raise SchemaError(f"errors/{name}.json: wants code, message and x-description")


def _check_schema(schemas: Schemas, where: str, schema: Any) -> None:
    """References lead somewhere, and objects say whether they may have unnamed members."""
    for part in _parts(schema):
        reference = part.get("$ref")
        if reference is not None and not _known(schemas, reference):
            raise SchemaError(f"{where}: '{reference}' leads nowhere")
        if part.get("type") == "object" and "additionalProperties" not in part:
            raise SchemaError(f"{where}: an object must say 'additionalProperties'")
        for member in part.get("required", []) if part.get("type") == "object" else []:
            if member not in part.get("properties", {}):
                raise SchemaError(f"{where}: '{member}' is required and not described")


def _known(schemas: Schemas, reference: str) -> bool:
    parts = reference.split("/")
    return len(parts) == 3 and parts[1] in _FOLDERS and parts[2] in getattr(schemas, parts[1])


def _parts(value: Any) -> Iterator[Json]:
    """All objects in a schema, but not the examples, which are values."""
    if isinstance(value, dict):
        yield value
        for name, item in value.items():
            if name not in ("examples", "const", "default"):
                yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
