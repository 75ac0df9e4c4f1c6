"""A current folder whose files have the names of all modules: none of them runs."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path
from time import sleep

import pytest

import hlo_lsp
from cli.command import environment
from e2e.process import COMMAND
from e2e.wire import Wire, did_open, hover, message
from stats.test_measured_programs import MODULE, written_profile

pytestmark = pytest.mark.e2e

_BUNDLED = Path(__file__).parents[2] / "vscode-client/bundled/tool/hlo_lsp_main.py"
_DUMP = "module_0001.jit_f.cl_1.after_optimizations.txt"
_MODULES = {*sys.stdlib_module_names, *packages_distributions(), "hlo_lsp", "sitecustomize"}


@dataclass(frozen=True)
class HostileFolder:
    """A folder whose modules write their names to a file elsewhere when they are imported."""

    path: Path
    record: Path

    @property
    def dump(self) -> Path:
        return self.path / _DUMP

    def imported(self) -> set[str]:
        """Return the modules that ran."""
        return set(self.record.read_text("utf-8").split()) if self.record.exists() else set()

    def run(self, *command: str, **variables: str) -> str:
        """Run a command in the folder, and return its output."""
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            cwd=self.path,
            env=environment(**variables),
            check=False,
            timeout=120,
        )
        return ended.stdout


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    """Return the folder, with a dump, a profile, and enough files for several processes."""
    folder = HostileFolder(tmp_path / "dumps", tmp_path / "imported.txt")
    folder.path.mkdir()
    for name in _MODULES:
        code = f"open({str(folder.record)!r}, 'a').write({name + chr(10)!r})\n"
        (folder.path / f"{name}.py").write_text(code, "utf-8")
    filling = "// filling\n" * 60_000
    for number in (1, 2):
        path = folder.path / _DUMP.replace("0001", f"000{number}")
        path.write_text(MODULE + filling, "utf-8")
    written_profile(folder.path / "host.xplane.pb", dot=10, neg=30)
    return folder


def test_the_folder_runs_code_in_other_programs(hostile: HostileFolder) -> None:
    hostile.run(sys.executable, "-c", "import colorsys")
    assert hostile.imported() == {"colorsys"}


@pytest.mark.parametrize(
    "command", [COMMAND, [sys.executable, str(_BUNDLED)]], ids=["script", "bundled"]
)
def test_server_imports_nothing(hostile: HostileFolder, command: list[str]) -> None:
    wire = Wire(command=command, cwd=hostile.path)
    wire.initialize()
    uri = hostile.dump.as_uri()
    wire.send(did_open(uri, hostile.dump.read_text("utf-8")))
    side = {"uri": uri, "line": 0}
    wire.send(message("hlo/compare", {"before": side, "after": side}, "compare"))
    assert "result" in wire.reply("compare")
    text, number = "", 0
    while "measured" not in text:
        number += 1
        wire.send(hover(uri, 4, 8, number))
        text = json.dumps(wire.reply(number))
        sleep(0.05)
    wire.end()
    assert hostile.imported() == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", ".", "--jobs", "2", "--exit-zero"],
        ["profile", ".", "."],
        ["mcp", "--call", "summary", "--arguments", '{"path": "."}'],
        ["run", "--", "true"],
        ["check", ".", "--executor", "antigravity:open"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_command_imports_nothing(hostile: HostileFolder, arguments: list[str]) -> None:
    hostile.run(*COMMAND, *arguments)
    assert hostile.imported() == set()


def test_relative_python_path_is_ignored(hostile: HostileFolder) -> None:
    path = os.pathsep.join([str(Path(hlo_lsp.__file__).parents[1]), "", "."])
    # Python itself imports these before any program runs.
    loaded = subprocess.check_output(
        [sys.executable, "-c", "import re, runpy, sys; print(*sys.modules)"], text=True
    )
    for name in {*loaded.split(), "sitecustomize", "usercustomize"} & _MODULES:
        (hostile.path / f"{name}.py").unlink()
    hostile.record.unlink(missing_ok=True)
    printed = hostile.run(*COMMAND, "check", ".", PYTHONPATH=path)
    assert "Traceback" not in printed
    assert hostile.imported() == set()


_IN_NEW_PROCESSES = """
from hlo_lsp.cli.worker_processes import NewProcesses
from hlo_lsp.import_path import leave_out_current_folder

if __name__ == "__main__":
    leave_out_current_folder()
    with NewProcesses(2, int) as executor:
        print([one.result() for one in [executor.submit(abs, -3), executor.submit(abs, -4)]])
"""


@pytest.mark.parametrize("path", ["", "." + os.pathsep + "lib"])
def test_new_processes_ignore_relative_paths(hostile: HostileFolder, path: str) -> None:
    program = hostile.record.with_name("program.py")
    # The program itself starts without these paths: Python imports from them before any program.
    program.write_text(f"import os\nos.environ['PYTHONPATH'] = {path!r}\n{_IN_NEW_PROCESSES}")
    assert hostile.run(sys.executable, str(program)) == "[3, 4]\n"
    assert hostile.imported() == set()


_JOB_IN_WORKER = """
import sys
sys.path.insert(0, "")
from hlo_lsp.cli.workers import RemotePaths, run_in_folder

def imported(name):
    __import__(name)
    return name

class Job:
    path = None

print(run_in_folder("1", sys.argv[1], RemotePaths({}), lambda _: imported("colorsys"), Job()))
"""


def test_worker_ignores_folder_of_command(hostile: HostileFolder, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _JOB_IN_WORKER, str(hostile.path)]
    assert subprocess.check_output(command, cwd=tmp_path, text=True) == "colorsys\n"
    assert hostile.imported() == set()
