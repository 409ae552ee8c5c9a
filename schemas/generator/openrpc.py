"""The whole wire as one OpenRPC document, which the service hands out."""

from __future__ import annotations

from typing import Any

from .names import component
from .source import Json, Method, Schemas, component_of, streams_of
from .text import compact_json


def document(schemas: Schemas) -> Json:
    return {
        "openrpc": "1.3.2",
        "info": schemas.info,
        "methods": [_method(schemas, method) for method in schemas.methods.values()],
        "components": {
            "schemas": {name: _pointed(schema) for name, _, schema in schemas.components()},
            "errors": {component(name): _error(error) for name, error in schemas.errors.items()},
        },
        "x-streams": streams(schemas),
    }


def text(schemas: Schemas) -> str:
    return compact_json(document(schemas))


def streams(schemas: Schemas) -> dict[str, dict[str, Json]]:
    """OpenRPC knows no events: each stream's kinds, and their schemas."""
    found: dict[str, dict[str, Json]] = {}
    for kind, event in schemas.events.items():
        reference = _pointed({"$ref": f"#/events/{kind}"})
        for stream in streams_of(event):
            found.setdefault(stream, {})[kind] = reference
    return found


def _method(schemas: Schemas, method: Method) -> Json:
    common = [f"#/errors/{name}" for name, e in schemas.errors.items() if e.get("x-any-method")]
    errors = [{"$ref": reference} for reference in common] + method.document.get("errors", [])
    whole = _pointed({**method.document, "errors": errors})
    return {"paramStructure": "by-name", **whole}


def _error(error: Json) -> Json:
    """Without our description: OpenRPC lets an error have none."""
    return {"code": error["code"], "message": error["message"]}


def _pointed(value: Any) -> Any:
    """With references into components."""
    if isinstance(value, list):
        return [_pointed(item) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if not isinstance(reference, str):
        return {name: _pointed(item) for name, item in value.items()}
    folder = "errors" if reference.startswith("#/errors/") else "schemas"
    return {**value, "$ref": f"#/components/{folder}/{component_of(reference)}"}
