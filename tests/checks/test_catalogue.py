"""The rules themselves."""

from checks.damage import dump_of
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Severity
from hlo_lsp.syntax.records import Record
from hlo_lsp.vocabulary.vocabulary import vocabulary

CODES = {
    "syntax",
    "size-mismatch",
    "out-of-bounds",
    "total-mismatch",
    "undefined-value",
    "live-range-bounds",
    "undefined-instruction",
    "undefined-computation",
    "duplicate-name",
    "operand-count",
    "shape-mismatch",
    "parameter-number",
    "use-before-definition",
    "missing-attribute",
    "bad-stack-frame",
    "frame-cycle",
}


def test_the_codes_are_those_that_scripts_know() -> None:
    assert {rule.code for rule in CATALOGUE} == CODES


def test_every_rule_explains_itself() -> None:
    for rule in CATALOGUE:
        assert rule.explanation[0].isupper() or rule.explanation[0] == "`"
        assert "." in rule.explanation
        assert isinstance(rule.severity, Severity)
        assert issubclass(rule.applies_to, Record)


def test_no_rule_is_there_twice() -> None:
    assert len({rule.check for rule in CATALOGUE}) == len(CATALOGUE)


def test_every_rule_looks_at_records_that_a_dump_has(sample: str, module: str) -> None:
    """Also of the opcodes that it names, for rules that look at some only."""
    texts = [sample.replace("\nTotal", "\nbroken\nTotal"), module]
    seen = {type(record) for text in texts for record in dump_of(text).files[0].records}
    assert {rule.applies_to for rule in CATALOGUE} <= seen
    named = {opcode for rule in CATALOGUE for opcode in rule.opcodes or ()}
    plain = {opcode for opcode in named if vocabulary().opcode(opcode) is not None}
    assert named == plain
