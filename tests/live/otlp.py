"""A request for an OTLP receiver, decoded by protoc."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Union

import protobuf_text
from pulled import first

PROTO = Path(__file__).with_name("otlp.proto")
Value = Union[str, int, list]


def value_of(message: dict) -> Value:
    if "array_value" in message:
        return [value_of(one) for one in message["array_value"][0].get("values", [])]
    (value,) = next(iter(message.values()))
    return value


@dataclass
class OtlpProfile:
    type: tuple[str, str]
    period_type: tuple[str, str]
    period: int
    time_ns: int
    duration_ns: int
    id: str
    attributes: dict[str, Value]
    samples: list[tuple[list[str], dict[str, Value], int]]  # names, leaf first; attributes; value

    def sums(self, attribute: str = "") -> tuple[Counter, Counter]:
        """Of each function's name, or value of an attribute, self and total."""
        own: Counter = Counter()
        total: Counter = Counter()
        for names, attributes, value in self.samples:
            keys = [attributes[attribute]] if attribute else names
            own[keys[0]] += value
            for key in set(keys):
                total[key] += value
        return own, total


def attributes_of(messages: list[dict]) -> dict[str, Value]:
    return {first(one, "key"): value_of(one["value"][0]) for one in messages}


@dataclass
class LogRecord:
    time_ns: int
    observed_ns: int
    severity: tuple[int, str]
    body: Value
    event: str
    attributes: dict[str, Value]
    resource: dict[str, Value]


def log_records(content: bytes) -> list[LogRecord]:
    (resource_logs,) = protobuf_text.decoded(content, PROTO, "LogsRequest")["resource_logs"]
    resource = attributes_of(resource_logs["resource"][0]["attributes"])
    (scope_logs,) = resource_logs["scope_logs"]
    return [LogRecord(first(one, "time_unix_nano"), first(one, "observed_time_unix_nano"),
                      (first(one, "severity_number"), first(one, "severity_text")), value_of(one["body"][0]),
                      first(one, "event_name"), attributes_of(one["attributes"]), resource)
            for one in scope_logs["log_records"]]


class Otlp:
    """What must hold of any request is held here."""

    def __init__(self, content: bytes) -> None:
        message = protobuf_text.decoded(content, PROTO, "Request")
        (self.dictionary,) = message["dictionary"]
        for name in ("mapping", "location", "function", "link", "attribute", "stack"):
            entries = [str(one) for one in self.dictionary[f"{name}_table"]]
            assert entries[0] == "{}" and len(set(entries)) == len(entries), name
        self.strings = self.dictionary["string_table"]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        (resource_profiles,) = message["resource_profiles"]
        self.resource = attributes_of(resource_profiles["resource"][0].get("attributes", []))
        (scope_profiles,) = resource_profiles["scope_profiles"]
        self.scope = (first(scope_profiles["scope"][0], "name"), first(scope_profiles["scope"][0], "version"))
        self._names = [self._names_of(one) for one in self.dictionary["stack_table"]]
        self.profiles = [self._profile(one) for one in scope_profiles["profiles"]]

    def attributes(self, message: dict) -> dict[str, Value]:
        indices = message.get("attribute_indices", [])
        assert 0 not in indices
        entries = [self.dictionary["attribute_table"][one] for one in indices]
        found = {self.strings[first(one, "key_strindex")]: value_of(one["value"][0]) for one in entries}
        assert len(found) == len(indices)
        return found

    def mappings(self) -> dict[str, dict[str, Value]]:
        """Attributes by path."""
        return {self.strings[first(one, "filename_strindex")]: self.attributes(one)
                for one in self.dictionary["mapping_table"][1:]}

    def _names_of(self, stack: dict) -> list[str]:
        names = []
        for place in stack.get("location_indices", []):
            location = self.dictionary["location_table"][place]
            assert "profile.frame.type" in self.attributes(location) or not first(location, "mapping_index")
            for line in location["lines"]:
                function = self.dictionary["function_table"][first(line, "function_index")]
                names.append(self.strings[first(function, "name_strindex")])
        return names

    def _words(self, value_type: dict) -> tuple[str, str]:
        return (self.strings[first(value_type, "type_strindex")],
                self.strings[first(value_type, "unit_strindex")])

    def _profile(self, message: dict) -> OtlpProfile:
        samples = []
        for sample in message["samples"]:
            (value,) = sample["values"]
            assert value > 0 and first(sample, "stack_index") > 0
            samples.append((self._names[first(sample, "stack_index")], self.attributes(sample), value))
        return OtlpProfile(self._words(message["sample_type"][0]), self._words(message.get("period_type", [{}])[0]),
                           first(message, "period"), first(message, "time_unix_nano"),
                           first(message, "duration_nano"), first(message, "profile_id"), self.attributes(message),
                           samples)

    def profile(self, kind: str) -> OtlpProfile:
        (found,) = [one for one in self.profiles if one.type[0] == kind]
        return found

