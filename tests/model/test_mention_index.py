"""Mention queries before, during and after the build of the index."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.model import module_index as mentions
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.text.checkpoint import Job

LINES = (
    "  %{} = f32[] add(%{}, %{})",
    "  {} = f32[] add({}, {})",
    "  %{} = f32[] negate(%{}), control-predecessors={{%{}}}",
    "  {} = f32[] negate({}), control-predecessors={{{}}}",
    "  %{} = f32[] fusion(%{}), calls=%{}",
    '  %{} = f32[] exp(%{}), metadata={{op_name="%{}"}}',
    "%{} (p: f32[]) -> f32[] {{",
    "}}",
)
NAMES = ("n", "n.1", "n.2", "n.10", "m", "p")
NAMED = st.sampled_from(NAMES)
LINE = st.builds(str.format, st.sampled_from(LINES), NAMED, NAMED, NAMED)

Said = dict[str, list[list[int]]]


def _said(module: ModuleIndex) -> Said:
    """Return the lines of users and callers by name."""
    users = {
        f"%{name}": [
            [user.line for user in module.users(record)] for record in module.instructions.all(name)
        ]
        for name in NAMES
    }
    callers = {
        name: [
            [caller.line for caller in module.callers(head)]
            for head in module.computations.all(name)
        ]
        for name in NAMES
    }
    return users | callers


def _replaced(file: DumpFile, number: int, line: str) -> None:
    at = 2 + number % (len(file.lines) - 2)
    file.changed(file.document.edit((at, 0), (at, len(file.lines[at])), line))
    file.refresh()


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    lines=st.lists(LINE, min_size=1, max_size=12),
    edits=st.lists(st.tuples(st.integers(0, 99), LINE, st.integers(0, 3)), max_size=6),
)
def test_index_build_does_not_change_answers(
    lines: list[str], edits: list[tuple[int, str, int]]
) -> None:
    file = DumpFile.of_text("\n".join(["HloModule m", "%f (p: f32[]) -> f32[] {", *lines]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mentions, "_INSTRUCTIONS_PER_CHECKPOINT", 2)
        learning = Job(file.module.build_mention_index)
        for number, line, steps in edits:
            for _ in range(steps):
                learning.step(0)
            _replaced(file, number, line)
            assert _said(file.module) == _said(DumpFile.of_text(file.document.text).module)
        learning.step(60)
    learnt = DumpFile.of_text(file.document.text)
    expected = _said(learnt.module)
    assert _said(file.module) == expected
    learnt.module.build_mention_index()
    assert _said(learnt.module) == expected


def test_index_contains_whole_names_only() -> None:
    file = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %n = f32[] constant(0)\n  %n.1 = f32[] negate(%n)\n"
        "  %n.10 = f32[] negate(%n.1)\n}\n"
    )
    assert [record.name for record in file.module.mentioning("n.1")] == ["n.1", "n.10"]
    file.module.build_mention_index()
    assert [record.name for record in file.module.mentioning("n.1")] == ["n.10"]
    assert [record.name for record in file.module.mentioning("n")] == ["n.1"]


def test_cancelled_index_build_can_restart() -> None:
    text = "HloModule m\n\nENTRY %e {\n  %a = f32[] constant(0)\n  %b = f32[] negate(%a)\n}\n"
    file = DumpFile.of_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mentions, "_INSTRUCTIONS_PER_CHECKPOINT", 1)
        learning = Job(file.module.build_mention_index)
        assert not learning.step(0)
        learning.cancel()
    _replaced(file, 2, "  %b = f32[] negate(%c)")
    file.module.build_mention_index()
    assert file.module.mentioning("a") == []
    assert [record.name for record in file.module.mentioning("c")] == ["b"]
