"""The regular expression of a rule agrees with Lark."""

from itertools import islice
from pathlib import Path

import pytest

from hlo_lsp.syntax.grammar import load_grammar
from syntax.rules import GROUPS, by_expression, by_lark, disagreements, distinct_lines

# Text between fields, whose terminals are not compared.
_BLANKS = {"PAD", "SPACE", "SIGNED", "OPENING", "EQUALS", "PARENTHESIS"}


@pytest.mark.parametrize("group", GROUPS)
def test_both_readers_find_the_same_fields(group: str, corpus_small: Path) -> None:
    lines = distinct_lines(corpus_small, group, every=11)
    assert list(islice(disagreements(lines, group, each=100), 3)) == []


@pytest.mark.corpus
@pytest.mark.parametrize("group", GROUPS)
def test_both_readers_find_the_same_fields_everywhere(group: str, corpus_small: Path) -> None:
    lines = distinct_lines(corpus_small, group)
    assert list(islice(disagreements(lines, group, each=None), 3)) == []


@pytest.mark.parametrize(
    ("grammar", "rule", "line", "fields"),
    [
        (
            "live_range",
            "breakdown_label",
            "  Stack trace breakdown for peak usage: 1 024 124 bytes",
            {"TOTAL": "1 024 124"},
        ),
        (
            "live_range",
            "breakdown_row",
            "      └── f(x, y) (0.5%, total: 40 bytes, current: 8 bytes, remaining: 1 028 bytes)",
            {
                "TREE": "      └── ",
                "TITLE": "f(x, y)",
                "PERCENT": "0.5",
                "TOTAL": "40",
                "CURRENT": "8",
                "REMAINING": "1 028",
            },
        ),
        (
            "module",
            "computation_line",
            "ENTRY %main (a: f32[2]) -> f32[2] {",
            {
                "ENTRY": "ENTRY ",
                "PERCENT": "%",
                "NAME": "main",
                "SIGNATURE": "(a: f32[2]) -> f32[2]",
            },
        ),
        ("module", "computation_line", "ENTRY main.16 {", {"ENTRY": "ENTRY ", "NAME": "main.16"}),
        ("module", "computation_line", "region_0.10 {", {"NAME": "region_0.10"}),
        (
            "module",
            "instruction_line",
            "  ROOT %t = (f32[2]{0}, f32[]) tuple(%a, %b)",
            {
                "INDENT": "  ",
                "ROOT": "ROOT ",
                "PERCENT": "%",
                "NAME": "t",
                "SHAPE": "(f32[2]{0}, f32[])",
                "OPCODE": "tuple",
                "REST": "%a, %b)",
            },
        ),
        (
            "thunks",
            "thunk_row",
            "    008: kCopy   [prev=002 (1) | sink      ] kCopy",
            {
                "INDENT": "    ",
                "THUNK": "008",
                "KIND": "kCopy",
                "PREVIOUS": "002",
                "PREVIOUS_DISTANCE": " (1)",
                "SINK": "sink",
                "DETAIL": " kCopy",
            },
        ),
        ("thunks", "thunk_row", "kGemm  \t", {"KIND": "kGemm", "TAB": "  \t"}),
    ],
)
def test_both_readers_find_these_fields(
    grammar: str, rule: str, line: str, fields: dict[str, str]
) -> None:
    for found in (
        by_expression(load_grammar(grammar), rule, line),
        by_lark(load_grammar(grammar), rule, line),
    ):
        assert found is not None
        assert {role: text for role, text in found.items() if role not in _BLANKS} == fields
