"""What is missing is installed: beside another package manager, and from a mirror that is being updated."""

from __future__ import annotations

import pytest
from machine import Machine

LOCKS = [
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)",
    "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 812 (apt-get)",
    "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 812 (apt-get)",
    "E: Could not get lock /var/lib/apt/lists/lock - open (11: Resource temporarily unavailable)",
    "dpkg: error: dpkg frontend lock was locked by another process with pid 812",
]
MIRROR = [
    "E: Failed to fetch http://mirror/a.deb  Hash Sum mismatch",
    "E: Failed to fetch http://mirror/a.deb  404  Not Found [IP: 127.0.0.1 80]",
    "E: Failed to fetch http://mirror/a.deb  File has unexpected size (1 != 2). Mirror sync in progress?",
]


def test_what_is_there_is_not_asked_for(machine: Machine):
    (machine.folder / "installed").write_text("gcc\ncmake\n")
    result = machine.run("install_packages cmake gcc")
    assert (result.returncode, result.stdout, machine.calls()) == (0, "", [])


def test_only_what_is_missing_is_installed(machine: Machine):
    (machine.folder / "installed").write_text("gcc\n")
    result = machine.run("missing_packages gcc cmake && install_packages gcc cmake")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "cmake\nInstalling: cmake\n"
    assert machine.calls() == ["install"]


def test_lists_that_do_not_know_a_package_are_renewed(machine: Machine):
    (machine.folder / "lists_are_old").write_text("100")
    assert machine.run("install_packages cmake").returncode == 0
    assert machine.calls() == ["update", "install"]


@pytest.mark.parametrize("error", LOCKS)
@pytest.mark.parametrize("old_lists", [False, True])
def test_a_held_lock_is_waited_for_and_named_once(machine: Machine, error, old_lists):
    if old_lists:
        (machine.folder / "lists_are_old").write_text("100")
    for number in (1, 2, 3):
        machine.apt_answers(number, error)
    result = machine.run("install_packages cmake")
    assert result.returncode == 0, result.stderr
    assert machine.calls() == 3 * (["update"] if old_lists else ["install"]) + (
        ["update", "install"] if old_lists else ["install"])  # fmt: skip
    assert result.stderr.count("Waiting for") == 1
    assert "812" in result.stderr or "who holds" in result.stderr
    assert "/lock" in result.stderr or "package database" in result.stderr


def test_a_lock_is_not_waited_for_for_ever(machine: Machine):
    machine.apt_answers(1, LOCKS[0])
    result = machine.run("apt_patience_s=0; install_packages cmake")
    assert result.returncode == 1
    assert "waited 0 s for process 812 (unattended-upgr), which holds" in result.stderr


@pytest.mark.parametrize("error", MIRROR)
def test_a_mirror_in_mid_update_is_tried_again_with_new_lists(machine: Machine, error):
    machine.apt_answers(1, error)
    result = machine.run("install_packages cmake")
    assert result.returncode == 0, result.stderr
    assert machine.calls() == ["install", "update", "install"]
    assert "trying again" in result.stderr


def test_lists_that_cannot_be_renewed_may_do(machine: Machine):
    (machine.folder / "lists_are_old").write_text("100")
    machine.apt_answers(1, "E: Failed to fetch http://mirror/InRelease  Hash Sum mismatch")
    result = machine.run("install_packages cmake")
    assert result.returncode == 0
    assert "could not be renewed: E: Failed to fetch" in result.stderr
    assert machine.calls() == ["update", "install"]


def test_a_complaint_about_something_else_does_not_stop_us(machine: Machine):
    machine.apt_answers(1, "E: Sub-process /usr/bin/dpkg returned an error code (1)")
    answer = machine.folder / "answer.1"
    answer.write_text(f"echo cmake >>{machine.folder}/installed\n{answer.read_text()}")
    result = machine.run("install_packages cmake")
    assert result.returncode == 0
    assert "all that is needed is there" in result.stderr


def test_a_mirror_that_stays_broken_ends_with_its_words(machine: Machine):
    for number in range(1, 10):
        machine.apt_answers(number, MIRROR[0])
    result = machine.run("install_packages cmake")
    assert result.returncode == 1
    assert "Hash Sum mismatch" in result.stderr and "could not install: cmake" in result.stderr
    assert machine.calls() == ["install", "update", "install", "update", "install"]


def test_what_cannot_be_installed_is_not_tried_again(machine: Machine):
    machine.apt_answers(1, "E: Unable to correct problems, you have held broken packages.")
    result = machine.run("install_packages npm")
    assert result.returncode == 1
    assert "held broken packages" in result.stderr and "could not install: npm" in result.stderr
    assert machine.calls() == ["install"]


def test_without_sudo_the_line_for_root_is_said(machine: Machine):
    result = machine.run("may_be_root() { false; }; install_packages cmake gcc")
    assert result.returncode == 1
    assert "as root, run: apt-get install --no-install-recommends cmake gcc" in result.stderr
    assert machine.calls() == []
