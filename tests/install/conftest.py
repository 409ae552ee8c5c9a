"""One build for all installs; each install once for all that looks at it."""

from __future__ import annotations

import os

import pytest
from places import BUILD, PLACES, Installed, Tree


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    writable = os.access(BUILD, os.W_OK)
    return Tree(BUILD / "install-tests" if writable else tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def install(tree, tmp_path_factory):
    """install("usr"): below one folder, which then gets another name."""

    def install_one(name: str) -> Installed:
        folder = tmp_path_factory.mktemp(name)
        tree.install(PLACES[name], folder / "packed")
        (folder / "packed").rename(folder / "moved")
        return Installed(PLACES[name], folder / "moved")

    return install_one


@pytest.fixture(scope="module", params=PLACES)
def installed(request, install):
    return install(request.param)
