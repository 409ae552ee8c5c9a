"""The typed methods: one for each that schemas/ describes, for both clients."""

import asyncio
import inspect
import json
from pathlib import Path

import pytest
from fakes import AsyncFake, FakeService, client_of
from isoscope import AsyncClient
from isoscope.errors import RpcError
from isoscope.methods import Methods

_SCHEMAS = Path(__file__).resolve().parents[2] / "schemas" / "methods"
_METHODS = {path.stem: json.loads(path.read_text()) for path in sorted(_SCHEMAS.glob("*.json"))}


def _typed():
    """Name on the wire -> the method, by what it asks for."""
    found = {}
    for name, _ in inspect.getmembers(Methods, inspect.isfunction):
        if not name.startswith("_"):
            asked = []
            methods = Methods(lambda method, asked=asked, **params: asked.append((method, params)))
            method = getattr(methods, name)
            words = {word: f"<{word}>" for word in inspect.signature(method).parameters}
            method(**words)
            (wire, params), = asked
            found[wire] = method, words, params
    return found


def test_each_method_of_the_schemas_has_one_and_takes_what_the_schema_says():
    typed = _typed()
    assert set(typed) == set(_METHODS)
    for wire, (method, words, params) in typed.items():
        told = _METHODS[wire]["params"]
        assert list(params) == [param["name"] for param in told], wire
        assert set(params.values()) == set(words.values()), wire
        needed = {p.name for p in inspect.signature(method).parameters.values()
                  if p.default is inspect.Parameter.empty}  # fmt: skip
        assert len(needed) == sum(bool(param.get("required")) for param in told), wire


def test_its_docstring_begins_with_the_summary():
    for wire, (method, _, _) in _typed().items():
        told = " ".join(inspect.getdoc(method).split())
        assert told.startswith(" ".join(_METHODS[wire]["summary"].split())), wire


def _service():
    isolate = {"type": "Isolate", "id": "isolates/7"}
    return FakeService({"getIsolate": lambda params: {**isolate, "asked": params}})


def test_what_is_not_given_is_not_sent():
    service = _service()
    service.answers["_getCpuSamples"] = lambda params: {"type": "Sentinel", "asked": params}
    reply = client_of(service).methods.private_get_cpu_samples(isolate_id="isolates/7", count=3)
    assert reply["asked"] == {"isolateId": "isolates/7", "count": 3}


def test_both_clients_have_the_same():
    reply = client_of(_service()).methods.get_isolate(isolate_id="isolates/7")

    async def ask():
        async def connect():
            return AsyncFake(_service())

        async with AsyncClient(connect=connect) as client:
            return await client.methods.get_isolate(isolate_id="isolates/7")

    assert asyncio.run(ask()) == reply
    assert reply["asked"] == {"isolateId": "isolates/7"}


def test_an_error_is_that_of_a_call():
    with pytest.raises(RpcError, match="getVM"):
        client_of(_service()).methods.get_vm()


def test_a_needed_argument_that_is_missing_is_pythons_own_error():
    with pytest.raises(TypeError, match="isolate_id"):
        client_of(_service()).methods.get_isolate()
