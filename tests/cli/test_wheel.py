"""The contents of the wheel."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cli.command import environment
from e2e.compiles import Compile
from hlo_lsp import __version__

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "docs", "grammar", "server")
pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("wheel")]  # built and installed once


def call(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a program, require success, and return its output."""
    ended = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment(PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONPATH="", **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that is built from a copy of the repository, which stays clean."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in NEEDED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, source / name)
    call(sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "-w", out, cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return ``hlo-lsp`` in a new environment that uses the libraries of this one.

    Where there is bash, the action for GitHub installs it.
    """
    home = tmp_path_factory.mktemp("home") / "hlo-lsp"
    scripts = home / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    if sys.platform == "win32":
        venv.create(home, with_pip=True)
        call(python, "-m", "pip", "install", "--no-deps", wheel, cwd=home)
    else:
        action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        variables = {"ACTION": str(wheel), "RUNNER_TEMP": str(home.parent), "PIP_NO_DEPS": "1"}
        install = action["runs"]["steps"][0]["run"]
        call("bash", "-e", "-o", "pipefail", "-c", install, cwd=home.parent, **variables)
    packages = Path(call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
                         cwd=home).strip())  # fmt: skip
    libraries = sysconfig.get_path("purelib")
    # Appended by hand: as a line of a .pth file it would bring this checkout along.
    (packages / "libraries.pth").write_text(
        f"import sys; sys.path.append({libraries!r})\n", "utf-8"
    )
    return scripts / "hlo-lsp"


def test_wheel_contains_grammars_once(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    grammars = sorted(path.name for path in (ROOT / "grammar").glob("*.lark"))
    assert grammars
    assert sorted(Path(n).name for n in names if n.endswith(".lark")) == grammars
    assert {Path(n).parent.as_posix() for n in names if n.endswith(".lark")} == {"hlo_lsp/grammar"}


def test_wheel_contains_data_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "server" / "hlo_lsp"
    data = [
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    ]
    assert {"hlo_lsp/hlo/opcodes.toml", "hlo_lsp/hlo/attributes.toml"} <= set(data)
    assert set(data) <= names
    assert "hlo_lsp/docs/rules.md" in names  # where "explain this rule" leads


def test_wheel_contains_only_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    assert {name.split("/")[0] for name in names} == {
        "hlo_lsp", f"hlo_lsp-{__version__}.dist-info"
    }  # fmt: skip
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]
    assert "Name: hlo-lsp\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_installed_command_comes_from_wheel(command: Path) -> None:
    python = command.with_name("python")
    place = call(python, "-c", "import hlo_lsp; print(hlo_lsp.__file__)", cwd=command.parent)
    assert Path(place.strip()).is_relative_to(command.parent.parent)
    assert call(command, "--version", cwd=command.parent) == f"hlo-lsp {__version__}\n"


def test_installed_command_reads_dumps(command: Path, compiled: Callable[[str], Compile]) -> None:
    for name in ("tpu", "gpu"):
        files = compiled(name)
        facts = json.loads(
            call(command, "inspect", files.assignment, "--format", "json", cwd=files.folder)
        )
        assert facts["values"]
        assert all(value["padded_bytes"] == value["size"] for value in facts["values"])
    assert call(command, "check", ".", "--severity", "error", cwd=files.folder) == ""
