"""Snippets of opcodes and attribute values."""

import re

import pytest

from hlo_lsp.hlo.vocabulary import AttributeKind, vocabulary
from hlo_lsp.ide.completion.candidates import opcode_snippet, value_snippet

WORDS = vocabulary()
NAMES = {AttributeKind.COMPUTATION, AttributeKind.COMPUTATIONS, AttributeKind.INSTRUCTIONS}
_STOP = re.compile(r"\$\{(\d+)(?::((?:[^\\}]|\\.)*)\}|\|([^|]*)\|\})")


@pytest.mark.parametrize(
    ("name", "snippet"),
    [
        ("add", "add(${1:lhs}, ${2:rhs})"),
        ("compare", "compare(${1:lhs}, ${2:rhs}), direction=${3|EQ,NE,GE,GT,LE,LT|}"),
        ("partition-id", "partition-id()"),
        ("tuple", "tuple(${1:operands})"),
        ("while", "while(${1:init}), condition=${2:computation}, body=${3:computation}"),
    ],
)
def test_opcode_snippet_has_operands_and_required_attributes(name: str, snippet: str) -> None:
    assert opcode_snippet(WORDS.opcodes[name], WORDS) == snippet


@pytest.mark.parametrize(
    ("name", "snippet"),
    [
        ("replica_groups", "{${1:{0,1\\},{2,3\\}}}"),
        ("is_stable", "${1|true,false|}"),
        ("control-predecessors", "{${1:instructions}}"),
        ("custom_call_target", '"${1:__cublas\\$gemm}"'),
    ],
)
def test_attribute_value_snippet_is_its_example(name: str, snippet: str) -> None:
    assert value_snippet(WORDS.attributes[name], 1) == snippet


def test_every_value_snippet_matches_the_vocabulary() -> None:
    for attribute in WORDS.attributes.values():
        if attribute.kind in NAMES:  # those of an example are of another module
            continue
        snippet = value_snippet(attribute, 1)
        assert len(_STOP.findall(snippet)) == 1, snippet
        filled = _STOP.sub(
            lambda m: m[3].split(",")[0] if m[3] else re.sub(r"\\(.)", r"\1", m[2]), snippet
        )
        assert "$" not in filled or "$" in attribute.example
        assert filled in (attribute.example, *attribute.values)
