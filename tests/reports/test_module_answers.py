"""The answers about the compiles of a folder."""

from dataclasses import replace
from pathlib import Path

from hlo_lsp.display.table import Content
from hlo_lsp.reports.module_answers import ModuleAnswer, answers_content
from hlo_lsp.reports.module_names import module_identity
from reports.example import example

_IDENTITY = module_identity(example())


def _answer(name: str, size: int, *lines: str, path: Path = Path("a.txt")) -> ModuleAnswer:
    def content(title: str) -> Content:
        return [f"{title}: {lines[0]}", *lines[1:]]

    return ModuleAnswer(replace(_IDENTITY, name=name), size, content, dict, frozenset({path}))


def _shown(*answers: ModuleAnswer, path: Path = Path(), with_small: bool = False) -> list[str]:
    blocks = answers_content(answers, [path], with_small=with_small)
    return [str(line) for block in blocks for line in block]


def test_small_modules_share_a_line() -> None:
    answers = _answer("a", 1000, "large", "more"), _answer("b", 9, "x"), _answer("b", 1, "y")
    note = "2 modules below 1% of the largest (--all shows them in full): b (2)"
    assert _shown(*answers) == ["a: large", "more", note]
    assert len(_shown(*answers, with_small=True)) == 4


def test_equal_lines_of_modules_are_one() -> None:
    answers = [_answer(name, 10, "no operations") for name in "abbc"]
    assert _shown(*answers, _answer("d", 10, "one")) == ["a, b (2), c: no operations", "d: one"]


def test_named_file_is_shown_in_full() -> None:
    small = _answer("b", 1, "small", "facts", path=Path("b.txt"))
    shown = _shown(_answer("a", 1000, "large"), small, path=Path("b.txt"))
    assert shown == ["a: large", "b: small", "facts"]
