"""Profiles as a scraper pulls them: by HTTP, decoded by protoc."""

from __future__ import annotations

import gzip
import http.client
from collections import Counter, defaultdict
from pathlib import Path

import protobuf_text

PROTO = Path(__file__).parents[1] / "readers" / "profile.proto"


def place(service) -> tuple[int, str]:
    """The port, and the token."""
    port, token = service.uri.split("://")[1].rstrip("/").split(":")[1].split("/")
    return int(port), token


def ask(service, path, method="GET", body=None, timeout=60, **headers):
    """The answer, and its bytes. path: below the token, or from the root when it begins with a slash."""
    port, token = place(service)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    target = path if path.startswith("/") else f"/{token}/{path}"
    connection.request(method, target, body, {k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def first(message: dict, name: str):
    """What is left out is 0."""
    return message.get(name, [0])[0]


class Pulled:
    """A profile, taken apart."""

    def __init__(self, zipped: bytes) -> None:
        self.message = protobuf_text.decoded(gzip.decompress(zipped), PROTO, "Profile")
        self.strings = self.message["string_table"]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.types = [self._words(one) for one in self.message["sample_type"]]
        self.period_type = self._words(self.message["period_type"][0])
        self.period = first(self.message, "period")
        self.duration_ns = first(self.message, "duration_nanos")
        self.time_ns = first(self.message, "time_nanos")
        self.comments = [self.strings[one] for one in self.message.get("comment", [])]
        self.default_type = self.strings[first(self.message, "default_sample_type")]
        self.samples = self.message.get("sample", [])
        functions = {first(one, "id"): self.strings[first(one, "name")] for one in self.message.get("function", [])}
        self.mappings = {first(one, "id"): one for one in self.message.get("mapping", [])}
        self.locations = {first(one, "id"): one for one in self.message.get("location", [])}
        assert all(number > 0 for number in [*functions, *self.mappings, *self.locations])
        assert all(first(one, "mapping_id") in (0, *self.mappings) for one in self.locations.values())
        self._names = {number: [functions[first(line, "function_id")] for line in one["line"]]
                       for number, one in self.locations.items()}

    @classmethod
    def of(cls, service, path, **named) -> Pulled:
        response, content = ask(service, path, **named)
        assert response.status == 200, (response.status, content)
        assert response.headers["Content-Type"] == "application/octet-stream"
        return cls(content)

    def _words(self, value_type: dict) -> tuple[str, str]:
        return self.strings[first(value_type, "type")], self.strings[first(value_type, "unit")]

    def names(self, sample: dict) -> list[str]:
        """Leaf first."""
        return [name for number in sample["location_id"] for name in self._names[number]]

    def labels(self, sample: dict) -> dict[str, object]:
        return {self.strings[first(one, "key")]: self.strings[first(one, "str")] or first(one, "num")
                for one in sample.get("label", [])}

    def sums(self, kind: str, label: str = "") -> tuple[Counter, Counter]:
        """Of each function's name, or value of a label, self and total in that kind of values."""
        column = [one for one, _ in self.types].index(kind)
        own: Counter = Counter()
        total: Counter = Counter()
        for sample in self.samples:
            names = [self.labels(sample)[label]] if label else self.names(sample)
            own[names[0]] += sample["value"][column]
            for name in set(names):
                total[name] += sample["value"][column]
        return +own, +total


def sums_of(profile, weight) -> tuple[Counter, Counter]:
    """The same of the Python client's profile. weight: of the sample at a place."""
    own: dict = defaultdict(float)
    total: dict = defaultdict(float)
    for place_, row in enumerate(profile.samples()):
        names = [frame.function.name for frame in profile.stack(row.node)]
        own[names[0]] += weight(place_)
        for name in set(names):
            total[name] += weight(place_)
    return +Counter(own), +Counter(total)
