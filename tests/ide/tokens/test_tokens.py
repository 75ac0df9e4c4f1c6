"""Tokens are ordered, do not overlap, and do not depend on the requested range."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumps import files_of, module_files
from edits import Texts
from hlo_lsp.ide.tokens.line_tokens import SemanticToken
from hlo_lsp.ide.tokens.semantic_tokens import MAX_TOKENIZED_COLUMNS, semantic_tokens
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk
from ide.tokens.helpers import all_tokens

_SAMPLE_INTERVAL = 9  # in files; most programs are compiled for several backends
_SIGNS = (
    'HloModule m\nENTRY %e () -> f32[] {\n  %a = f32[2]{0:T(8)S(1)} add(%b, c), k={"x"}\n/*é*/ //'
)


def misplaced_tokens(file: DumpFile, found: list[SemanticToken]) -> list[SemanticToken]:
    """Return the tokens that are empty, outside of their line, or overlap the previous one."""
    return [
        token
        for before, token in pairwise(
            [SemanticToken(-1, 0, 0, found[0].type, 0), *found] if found else []
        )
        if not 0 <= token.start < token.end <= len(file.lines[token.line])
        or (token.line, token.start) < (before.line, before.end)
    ]


@given(st.lists(st.sampled_from(_SIGNS)).map("".join), st.data())
@settings(max_examples=300, deadline=None)
def test_arbitrary_text_has_ordered_tokens(signs: str, data: st.DataObject) -> None:
    text = "HloModule m\n" + data.draw(st.sampled_from(["", _SIGNS + "\n"])) + signs
    file = DumpFile.of_text(text)
    assert misplaced_tokens(file, all_tokens(file)) == []


@pytest.fixture(scope="module")
def texts(corpus_small: Path) -> Texts:
    return Texts(corpus_small)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_range_has_the_tokens_of_the_file(texts: Texts, data: st.DataObject) -> None:
    file = DumpFile.of_text(texts[data.draw(st.sampled_from(sorted(texts)))])
    first = data.draw(st.integers(0, len(file.lines)))
    end = data.draw(st.integers(first, len(file.lines) + 2))
    everything = all_tokens(file)
    assert all_tokens(file, first, end) == [t for t in everything if first <= t.line < end]


def test_long_line_has_tokens_up_to_limit() -> None:
    line = f"  %t = (f32[]) tuple({', '.join(f'%x.{number}' for number in range(20_000))})"
    found = all_tokens(DumpFile.of_text(f"HloModule m\n\nENTRY %e {{\n{line}\n}}\n"))
    long = [token for token in found if token.line == 3]
    assert 1000 < len(long) < 2000
    assert MAX_TOKENIZED_COLUMNS - 20 < long[-1].end <= MAX_TOKENIZED_COLUMNS
    assert line[long[-1].start : long[-1].end + 1].endswith(",")  # not cut in the middle


def test_unclosed_comment_extends_to_end() -> None:
    file = DumpFile.of_text("HloModule m\n\n/* " + "  %x = f32[] add(%a)\n" * 5000)
    found = all_tokens(file, 4000, 4002)
    assert [(token.line, token.type.name, token.start) for token in found] == [
        (4000, "COMMENT", 2), (4001, "COMMENT", 2)
    ]  # fmt: skip


def test_tokens_come_in_small_parts() -> None:
    file = DumpFile.of_text("HloModule m\n\nENTRY %e {\n" + "  %x = f32[2]{0} add(%a, %b)\n" * 5000)
    steps = [len(some) for some in semantic_tokens(Compile([file]), file)]
    assert len(steps) > 10
    assert max(steps) < 4000


@pytest.mark.corpus
@pytest.mark.parametrize("kind", [kind for kind in FileKind if kind.has_records])
def test_real_dumps_have_ordered_tokens(corpus_small: Path, kind: FileKind) -> None:
    count = 0
    is_module = kind is FileKind.MODULE
    paths = module_files(corpus_small) if is_module else files_of(corpus_small, kind)
    for path in paths[::_SAMPLE_INTERVAL]:
        file = DumpFile(path.as_uri(), path, disk.read_document(path))
        file.refresh()
        found = all_tokens(file)
        assert misplaced_tokens(file, found) == [], path
        lines_with_tokens = {token.line for token in found}
        bare = [
            line for number, line in enumerate(file.lines)
            if number not in lines_with_tokens and any(sign.isdigit() for sign in line)
            and not line.startswith("HloLiveRange not") and not line.endswith(":")
        ]  # fmt: skip
        assert bare == [], path
        count += len(found)
    assert count > 1000
