"""What Python and TypeScript have in common: a schema as a type expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Union

from .source import Json, SchemaError, component_of


class TypeWriter(ABC):
    """One language's words for the few schemas that schemas/ is made of."""

    names: dict[str, str]  # of integer, number, string, boolean, null
    unknown: str  # any value

    @abstractmethod
    def literal(self, value: Union[str, int, bool]) -> str: ...

    def choice(self, values: list[Union[str, int, bool]]) -> str:
        return self.union([self.literal(value) for value in values])

    @abstractmethod
    def union(self, types: list[str]) -> str: ...

    @abstractmethod
    def list_of(self, item: str) -> str: ...

    @abstractmethod
    def map_of(self, value: str) -> str: ...

    def expression(self, schema: Json) -> str:
        if "$ref" in schema:
            return component_of(schema["$ref"])
        if "const" in schema:
            return self.literal(schema["const"])
        if "enum" in schema:
            return self.choice(schema["enum"])
        if "oneOf" in schema:
            return self.union([self.expression(choice) for choice in schema["oneOf"]])
        return self._by_type(schema)

    def _by_type(self, schema: Json) -> str:
        kind: Any = schema.get("type")
        if isinstance(kind, list):
            return self.union([self.names[one] for one in kind])
        if kind == "array":
            item = self.expression(schema["items"]) if "items" in schema else self.unknown
            return self.list_of(item)
        if kind == "object":
            return self.map_of(self._map_value(schema))
        if kind not in self.names:
            raise SchemaError(f"there is no type for the schema {schema}")
        return self.names[kind]

    def _map_value(self, schema: Json) -> str:
        if "properties" in schema:
            raise SchemaError(f"an object within another wants a type of its own: {schema}")
        values = list(schema.get("patternProperties", {}).values())
        if isinstance(schema["additionalProperties"], dict):
            values.append(schema["additionalProperties"])
        return self.union([self.expression(value) for value in values]) if values else self.unknown


def is_record(schema: Json) -> bool:
    """An object whose members have names."""
    return schema.get("type") == "object" and "properties" in schema


def split_members(schema: Json) -> tuple[Json, Json]:
    """The required members, and the optional ones."""
    required = set(schema.get("required", []))
    members = schema["properties"].items()
    return (
        {name: member for name, member in members if name in required},
        {name: member for name, member in members if name not in required},
    )


def params_schema(params: Any) -> Json:
    """A method's parameters as the object that a client sends."""
    return {
        "type": "object",
        "properties": {param.name: param.schema for param in params},
        "required": [param.name for param in params if param.required],
        "additionalProperties": False,
    }
