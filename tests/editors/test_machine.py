"""Packages of the machine: installed where that may be, else asked for."""

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from editors import machine


class Debian:
    """Stands for the commands that would be run on a machine with some packages."""

    def __init__(self, *installed: str, broken: str = "", sudo: bool = True) -> None:
        self.installed = set(installed)
        self.commands: list[tuple[str, ...]] = []
        self._broken = broken
        self._sudo = sudo

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        told, status = "", 0
        if command[0] == "dpkg-query":
            told = "installed" if command[-1] in self.installed else ""
        elif command[:2] == ("sudo", "-n") and not self._sudo:
            status = 1
        else:
            self.commands.append(tuple(command))
            if "install" in command and self._broken not in command:
                self.installed |= set(command)
            elif "install" in command:
                told, status = f"E: Unable to locate package {self._broken}\n", 100
        return subprocess.CompletedProcess(command, status, told, "")


@pytest.fixture(autouse=True)
def apt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has apt-get and sudo, and us as its root."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)


def on(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> Debian:
    monkeypatch.setattr(machine, "_output", debian)
    return debian


def test_what_is_there_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = on(Debian("make", "g++"), monkeypatch)
    assert machine.install(["make", "g++"]) is None
    assert debian.commands == []


def test_root_installs_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = on(Debian("make"), monkeypatch)
    assert machine.install(["make", "g++", "neovim"]) is None
    update, install = debian.commands
    assert update[:2] == ("apt-get", "update")
    assert (install[:2], install[-2:]) == (("apt-get", "install"), ("g++", "neovim"))


def test_sudo_serves_where_it_asks_for_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    debian = on(Debian(), monkeypatch)
    assert machine.install(["make"]) is None
    assert debian.commands[-1][:4] == ("sudo", "-n", "apt-get", "install")


def test_who_may_not_install_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    debian = on(Debian("make", sudo=False), monkeypatch)
    lack = machine.install(["make", "chromium", "neovim"])
    assert lack is not None
    assert lack.packages == ("chromium", "neovim")
    assert lack.advice.endswith("sudo apt-get install chromium neovim")
    assert debian.commands == []


def test_what_apt_could_not_do_is_told_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    on(Debian(broken="neovim"), monkeypatch)
    lack = machine.install(["neovim"])
    assert lack is not None
    assert "E: Unable to locate package neovim" in lack.advice


def test_without_apt_programs_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {"chromium", "g++"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in present else None)
    lack = machine.install(["g++", "chromium", "neovim", "elpa-eglot"])
    assert lack is not None
    assert lack.packages == ("neovim",)
