"""The action, the template for GitLab, and the hook for pre-commit, run without their services."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.command import environment
from e2e.compiles import copy_dump
from editors.absent import absent

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GITLAB = ROOT / "packaging" / "gitlab" / "hlo-lsp.gitlab-ci.yml"
BUDGET = '[[budget]]\nmodule = "jit_while_fn"\npeak = { HBM = "100 KiB" }\n'

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for bash"),
]


@pytest.fixture
def dumps(corpus_small: Path, tmp_path: Path) -> Path:
    """Return a folder with a real dump."""
    return copy_dump(corpus_small, "tpu", tmp_path / "my dumps").folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder with the command, and a pip that does nothing."""
    folder = tmp_path / "runner" / "hlo-lsp" / "bin"
    folder.mkdir(parents=True)
    for name, line in (("hlo-lsp", f'exec "{sys.executable}" -m hlo_lsp "$@"'), ("pip", ":")):
        (folder / name).write_text(f"#!/bin/sh\n{line}\n", "utf-8")
        (folder / name).chmod(0o755)
    return folder


@dataclass(frozen=True)
class Step:
    """A step of the action that ran, or the action that it uses."""

    name: str
    status: int
    out: str


def run_action(runner: Path, inputs: Mapping[str, str]) -> Iterator[Step]:
    """Run the steps of the action as GitHub does, but the installation."""
    known = {f"inputs.{name}": one.get("default", "") for name, one in ACTION["inputs"].items()}
    known.update({f"inputs.{name}": value for name, value in inputs.items()})
    files = {name: runner / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for step in ACTION["runs"]["steps"][1:]:
        if "run" not in step:
            assert known["steps.check.outputs.sarif"]
            continue
        variables = {name: str(path) for name, path in files.items()}
        variables |= {
            name: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: known[found[1]], value)
            for name, value in step["env"].items()
        }
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            env=environment(RUNNER_TEMP=str(runner), **variables),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
        yield Step(step["name"], ended.returncode, ended.stdout)
        for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step.get('id', 'check')}.outputs.{name}"] = value


def test_action_fails_on_a_budget(programs: Path, dumps: Path) -> None:
    (dumps / "hlo-lsp.toml").write_text(BUDGET, "utf-8")
    runner = programs.parents[1]
    check, summary = run_action(runner, {"dumps": str(dumps)})
    assert (check.status, summary.status) == (1, 0)
    assert "title=hlo-lsp budget-peak" in check.out
    assert (runner / "GITHUB_STEP_SUMMARY").read_text("utf-8").startswith("# Memory of `jit_while")
    (result,) = json.loads((runner / "hlo-lsp.sarif").read_text("utf-8"))["runs"]
    assert {found["ruleId"] for found in result["results"]} == {"budget-peak"}


@pytest.mark.parametrize(("limit", "status"), [("", 0), ("2%", 1)])
def test_action_compares_with_the_base(
    programs: Path, dumps: Path, tmp_path: Path, limit: str, status: int
) -> None:
    base = tmp_path / "base"
    shutil.copytree(dumps, base)
    grow(dumps)
    inputs = {"dumps": str(dumps), "base": str(base), "max-growth": limit, "severity": "error"}
    *_, summary = run_action(programs.parents[1], inputs)
    assert summary.status == status
    assert "jit_while_fn" in (programs.parents[1] / "GITHUB_STEP_SUMMARY").read_text("utf-8")


def test_action_cuts_a_summary_that_github_rejects(programs: Path, dumps: Path) -> None:
    program = programs / "hlo-lsp"
    program.write_text("#!/bin/sh\nyes '| jit_step | 1 GiB |' | head -n 50000\n", "utf-8")
    *_, summary = run_action(programs.parents[1], {"dumps": str(dumps)})
    text = (programs.parents[1] / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert summary.status == 0
    assert 900_000 < len(text) < 2**20
    assert text.endswith(" 1 GiB |\n\nThe rest is too long for GitHub.\n")


def grow(dumps: Path) -> None:
    """Make an allocation of a dump larger."""
    (path,) = dumps.glob("*optimizations-buffer-assignment.txt")
    text = path.read_text("utf-8")
    first = re.search(r"allocation \d+: size (\d+), .*", text)
    assert first is not None
    size = int(first[1])
    path.write_text(text.replace(f"size {size},", f"size {size + 2**20},", 1), "utf-8")


def test_action_has_all_inputs_that_its_steps_use() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == ACTION["inputs"].keys()
    for step in ACTION["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash"
        # An input in a script would be run by the shell.
        assert "${{" not in step.get("run", "")


def gitlab_job() -> tuple[dict[str, str], list[str]]:
    """Return the variables and the script of the template."""
    text = re.sub(r"@\w+@", "0", GITLAB.read_text("utf-8"))
    job = yaml.safe_load(text)[".hlo-lsp"]
    return job["variables"], job["script"]


@pytest.mark.parametrize(("budget", "status"), [("", 0), (BUDGET, 1)])
def test_gitlab_job_checks_the_dumps(
    programs: Path, dumps: Path, tmp_path: Path, budget: str, status: int
) -> None:
    (dumps / "hlo-lsp.toml").write_text(budget, "utf-8")
    variables, script = gitlab_job()
    variables = {**variables, "HLO_DUMPS": str(dumps), "PATH": f"{programs}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == status
    assert ("budget-peak" in ended.stdout) is bool(budget)
    assert "# Memory of `jit_while_fn`" in ended.stdout
    assert json.loads((tmp_path / "hlo-lsp.sarif").read_text("utf-8"))["version"] == "2.1.0"


@pytest.fixture
def hooked(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a module that uses the hook of this one."""
    if shutil.which("pre-commit") is None:
        absent("pre-commit", "pip install --group test")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@localhost")
    hooks, user = tmp_path / "hooks", tmp_path / "user"
    for folder in (hooks, user):
        folder.mkdir()
        git("init", "--quiet", cwd=folder)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    git("add", ".", cwd=hooks)
    git("commit", "--quiet", "-m", "hooks", cwd=hooks)
    # With the command of this environment: pre-commit would install it from the package index.
    hook = {"id": "hlo-check", "language": "system"}
    revision = git("rev-parse", "HEAD", cwd=hooks).strip()
    config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": [hook]}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    (user / "notes.txt").write_text("no dump\n", "utf-8")
    return user


def test_hook_takes_no_file_for_an_option(hooked: Path) -> None:
    config = hooked / ".pre-commit-config.yaml"
    content = yaml.safe_load(config.read_text("utf-8"))
    for arguments in (None, ["--severity", "error"]):
        if arguments is not None:
            content["repos"][0]["hooks"][0]["args"] = arguments
            config.write_text(yaml.safe_dump(content), "utf-8")
        for name in ("--exit-zero", "--executor=evil:f.hlo", "m.hlo"):
            (hooked / name).write_text("HloModule m\n\nENTRY e {\n  ROOT n = f32[] negate(q)\n}\n")
        git("add", ".", cwd=hooked)
        ended = subprocess.run(
            ["pre-commit", "run"], cwd=hooked, stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
        assert ended.returncode == 1
        assert "executor" not in ended.stdout


def git(*arguments: str, cwd: Path) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=cwd, stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout


@pytest.mark.parametrize(("operand", "status"), [("p", 0), ("q", 1)])
def test_hook_checks_modules_of_a_commit(hooked: Path, operand: str, status: int) -> None:
    lines = ["HloModule m", "", "ENTRY e {", "  p = f32[] parameter(0)"]
    lines += [f"  ROOT n = f32[] negate({operand})", "}", ""]
    (hooked / "m.hlo").write_text("\n".join(lines), "utf-8")
    git("add", ".", cwd=hooked)
    ended = subprocess.run(
        ["pre-commit", "run"], cwd=hooked, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    assert ended.returncode == status, ended.stdout
    assert ("undefined-instruction" in ended.stdout) is bool(status)
