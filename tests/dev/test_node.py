"""Which node serves, and what is installed when none does."""

from __future__ import annotations

import pytest
from machine import Machine

NPM = "#!/usr/bin/env bash\n"


def node(version: str) -> str:
    """As it answers to --version; process.exit takes a number only from 20 on."""
    return f"#!/usr/bin/env bash\n[[ $1 == --version ]] || exit 1\necho {version}\n"


@pytest.mark.parametrize("version", ["v18.0.0", "v18.20.4", "v20.20.2", "v22.1.0", "v24.0.0", "v100.0.0"])
def test_from_18_on_every_node_serves_and_nothing_is_installed(machine: Machine, version):
    machine.program("node", node(version))
    machine.program("npm", NPM)
    result = machine.run("has_node && install_node")
    assert result.returncode == 0, result.stderr
    assert machine.calls() == []


@pytest.mark.parametrize(
    "programs, why",
    [
        ({}, "there is no node"),
        ({"node": node("v16.20.2"), "npm": NPM}, "is v16.20.2, and 18 is needed"),
        ({"node": node("v8.1.0"), "npm": NPM}, "is v8.1.0, and 18 is needed"),
        ({"node": node("18"), "npm": NPM}, "does not tell its version"),
        ({"node": "#!/usr/bin/env bash\nexit 3\n", "npm": NPM}, "does not tell its version"),
        ({"node": node("v20.1.0")}, "there is no npm beside"),
    ],
)
def test_what_does_not_serve_is_said(machine: Machine, programs, why):
    for name, text in programs.items():
        machine.program(name, text)
    result = machine.run("! has_node && node_trouble")
    assert result.returncode == 0 and why in result.stdout


def test_where_there_is_no_node_debians_is_installed(machine: Machine):
    arrives = "".join(f"cat >{machine.bin}/{name} <<'END'\n{text}END\n"
                      for name, text in {"node": node("v18.20.4"), "npm": NPM}.items())  # fmt: skip
    (machine.folder / "answer.1").write_text(f"{arrives}env chmod +x {machine.bin}/n*\n")
    (machine.bin / "chmod").symlink_to("/bin/chmod")
    result = machine.run("install_node")
    assert result.returncode == 0, result.stderr
    assert "Installing: nodejs npm" in result.stdout


def test_an_old_node_that_stays_first_on_path_is_named(machine: Machine):
    machine.program("node", node("v16.20.2"))
    machine.program("npm", NPM)
    result = machine.run("install_node")
    assert result.returncode == 1
    assert f"{machine.bin}/node is v16.20.2, and 18 is needed" in result.stderr
