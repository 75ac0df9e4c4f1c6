"""Tests for the installation of Debian packages."""

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from editors import machine


class Debian:
    """A machine with some packages, which records commands."""

    def __init__(self, *installed: str, broken: str = "", sudo: bool = True) -> None:
        self.installed = set(installed)
        self.commands: list[tuple[str, ...]] = []
        self._broken = broken
        self._sudo = sudo

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        output, status = "", 0
        if command[0] == "dpkg-query":
            output = "installed" if command[-1] in self.installed else ""
        elif command[:2] == ("sudo", "-n") and not self._sudo:
            status = 1
        else:
            self.commands.append(tuple(command))
            if "install" in command and self._broken not in command:
                self.installed |= set(command)
            elif "install" in command:
                output, status = f"E: Unable to locate package {self._broken}\n", 100
        return subprocess.CompletedProcess(command, status, output, "")


@pytest.fixture(autouse=True)
def apt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a machine with apt-get and sudo, whose user is root."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)


def on(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> Debian:
    monkeypatch.setattr(machine, "_output", debian)
    return debian


def test_installed_packages_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = on(Debian("make", "g++"), monkeypatch)
    assert machine.install(["make", "g++"]) is None
    assert debian.commands == []


def test_root_installs_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = on(Debian("make"), monkeypatch)
    assert machine.install(["make", "g++", "neovim"]) is None
    update, install = debian.commands
    assert update[:2] == ("apt-get", "update")
    assert (install[:2], install[-2:]) == (("apt-get", "install"), ("g++", "neovim"))


def test_sudo_without_password_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    debian = on(Debian(), monkeypatch)
    assert machine.install(["make"]) is None
    assert debian.commands[-1][:4] == ("sudo", "-n", "apt-get", "install")


def test_user_without_rights_gets_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    debian = on(Debian("make", sudo=False), monkeypatch)
    lack = machine.install(["make", "chromium", "neovim"])
    assert lack is not None
    assert lack.packages == ("chromium", "neovim")
    assert lack.advice.endswith("sudo apt-get install chromium neovim")
    assert debian.commands == []


def test_failure_shows_output_of_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    on(Debian(broken="neovim"), monkeypatch)
    lack = machine.install(["neovim"])
    assert lack is not None
    assert "E: Unable to locate package neovim" in lack.advice


def test_programs_are_searched_without_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {"chromium", "g++"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in present else None)
    lack = machine.install(["g++", "chromium", "neovim", "elpa-eglot"])
    assert lack is not None
    assert lack.packages == ("neovim",)
