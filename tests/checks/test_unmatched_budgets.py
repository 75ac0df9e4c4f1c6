"""Budgets whose pattern matches no module of a run."""

from pathlib import Path

import pytest

from cli.command import run

_MODULE = """\
HloModule jit_f

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} sine(%x)
}
"""
_FILE = "module_0001.jit_f.cpu_after_optimizations.txt"


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / _FILE).write_text(_MODULE.replace("jit_f", f"jit_{name}"), "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("module", "status"),
    [("jit_one", 0), ("jit_t*", 0), ("*", 0), ("jit_onn", 2)],
)
def test_budget_matches_a_module_of_any_folder(dumps: Path, module: str, status: int) -> None:
    budget = f'[[budget]]\nmodule = "{module}"\nflops = "1 PFLOP"\n'
    (dumps / "hlo-lsp.toml").write_text(budget, "utf-8")
    found = run("check", dumps / "one", dumps / "two", "--severity", "error")
    assert found.status == status
    assert ("matches none of the checked modules; did you mean `jit_one`?" in found.err) == (
        status == 2
    )


def test_named_files_need_not_match_all_budgets(dumps: Path) -> None:
    (dumps / "hlo-lsp.toml").write_text('[[budget]]\nmodule = "jit_two"\nflops = 1e15\n', "utf-8")
    assert run("check", dumps / "one" / _FILE, "--severity", "error").status == 0
