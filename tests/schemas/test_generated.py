"""What is made from schemas/: up to date, and what it claims to be."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import fastjsonschema
import pytest
from generator.source import SchemaError, read
from wire_schema import WIRE, WrongMessage

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "schemas"
META = Path(__file__).parent / "meta"
BUNDLE = json.loads((SCHEMAS / "generated" / "openrpc.json").read_text())


def generate(schemas: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(schemas / "generate.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def copy(tmp_path):
    """A tree with schemas/ in it, to break."""
    ignored = shutil.ignore_patterns("__pycache__", ".mypy_cache")
    shutil.copytree(SCHEMAS, tmp_path / "schemas", ignore=ignored)
    return tmp_path / "schemas"


def edit(path: Path, **changes) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


# Up to date


def test_what_is_committed_is_what_schemas_say():
    checked = generate(SCHEMAS, "--check")
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout + checked.stderr


def test_a_change_that_was_not_generated_is_found_and_generating_mends_it(copy):
    assert generate(copy).returncode == 0
    assert generate(copy, "--check").returncode == 0
    edit(copy / "methods" / "getVersion.json", summary="Another.")
    checked = generate(copy, "--check")
    assert checked.returncode == 1 and "schemas/generated/openrpc.json" in checked.stdout
    assert "./dev generate" in checked.stderr
    assert generate(copy).returncode == 0
    assert generate(copy, "--check").returncode == 0


# Mistakes


@pytest.mark.parametrize(
    "path, changes, message",
    [
        ("methods/getVM.json", {"name": "getVm"}, "methods/getVM.json: its name is 'getVm'"),
        ("methods/getVM.json", {"examples": None, "x-odd": 1}, "nobody knows ['x-odd']"),
        ("types/Success.json", {"x-extends": "Nothing"}, "no type 'Nothing' to extend"),
        ("types/Error.json", {"required": ["code"]}, "'code' is required and not described"),
        ("types/Success.json", {"description": ""}, "'description' is missing"),
        ("events/IsolateExit.json", {"x-stream": "Nothing"}, "'Nothing' is no StreamId"),
        ("errors/FeatureDisabled.json", {"data": {}}, "wants code, message and x-description"),
        (
            "methods/getVM.json",
            {"result": {"name": "vm", "schema": {"$ref": "#/types/Vm"}}},
            "'#/types/Vm' leads nowhere",
        ),
        (
            "types/Success.json",
            {"properties": {"type": {"type": "object"}}},
            "an object must say 'additionalProperties'",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_file(copy, path, changes, message):
    edit(copy / path, **changes)
    with pytest.raises(SchemaError, match=".") as refusal:
        read(copy)
    assert message in str(refusal.value)
    assert Path(path).stem.lstrip("@_") in str(refusal.value)


def test_text_that_is_no_json_is_refused_with_its_file(copy):
    (copy / "types" / "VM.json").write_text("{")
    refused = generate(copy)
    assert refused.returncode == 1 and "types/VM.json" in refused.stderr


# The bundle


def meta_schema():
    openrpc = json.loads((META / "openrpc-1.14.9.json").read_text())
    json_schema = json.loads((META / "json-schema-1.8.0.json").read_text())
    return fastjsonschema.compile(
        openrpc, handlers={"https": lambda uri: json_schema}, use_default=False
    )


def test_the_bundle_is_an_openrpc_document():
    meta_schema()(BUNDLE)


def test_what_is_no_openrpc_document_is_found():
    broken = json.loads(json.dumps(BUNDLE))
    del broken["methods"][0]["params"]
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        meta_schema()(broken)


def test_every_component_is_used():
    text = json.dumps(BUNDLE)
    unused = {name for name in WIRE.schemas if f'/schemas/{name}"' not in text}
    assert unused == {"RpcError"}  # in replies, which no schema describes as a whole


# The examples


@pytest.fixture(scope="module")
def check_params():
    """check_params({"method param": value}); one function for all, since it takes long to make."""
    schemas = {
        f"{name} {param['name']}": param["schema"]
        for name, method in WIRE.methods.items()
        for param in method["params"]
    }
    root = {"components": BUNDLE["components"], "properties": schemas}
    return fastjsonschema.compile(root, use_default=False)


@pytest.mark.parametrize("name", WIRE.methods)
def test_an_example_keeps_to_its_schema(name, check_params):
    params = WIRE.methods[name]["params"]
    required = {param["name"] for param in params if param.get("required")}
    for example in WIRE.methods[name]["examples"]:
        given = {param["name"]: param["value"] for param in example["params"]}
        assert required <= set(given) <= {param["name"] for param in params}
        check_params({f"{name} {param}": value for param, value in given.items()})
        result = example["result"]["value"]
        WIRE.check(WIRE.choice(name, result), result)


def test_an_example_with_a_wrong_parameter_is_found(check_params):
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        check_params({"getIsolate isolateId": "100"})


def test_one_member_more_or_less_or_of_another_type_is_found():
    example = WIRE.methods["getVM"]["examples"][0]["result"]["value"]
    changes = ({"extra": 1}, {"pid": "100"}, {"type": "Vm"}, {"isolates": [{"type": "@Isolate"}]})
    for change in changes:
        with pytest.raises(WrongMessage):
            WIRE.check("VM", {**example, **change})
    with pytest.raises(WrongMessage):
        WIRE.check("VM", {name: value for name, value in example.items() if name != "pid"})
