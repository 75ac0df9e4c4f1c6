"""Tests for the catalogue of rules."""

from checks.damage import dump_of
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.rule import Rule
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.syntax.records import Record

ON_RECORDS = [rule for rule in CATALOGUE if isinstance(rule, Rule)]


def test_codes_and_explanations_are_the_same() -> None:
    assert {rule.code for rule in CATALOGUE} == set(explanations())


def test_explanations_are_sentences() -> None:
    for code, explanation in explanations().items():
        for text in (
            explanation.what,
            explanation.why,
            *([explanation.remedy] if explanation.remedy else []),
        ):
            assert text[0].isupper() or text[0] == "`", (code, text)
            assert text.endswith("."), (code, text)
        assert explanation.source, code
        assert explanation.example, code


def test_rules_have_severities_and_records() -> None:
    assert all(isinstance(rule.severity, Severity) for rule in CATALOGUE)
    assert all(issubclass(rule.applies_to, Record) for rule in ON_RECORDS)


def test_each_rule_occurs_once() -> None:
    keys = {(rule.check, getattr(rule, "applies_to", None)) for rule in CATALOGUE}
    assert len(keys) == len(CATALOGUE)


def test_every_rule_reads_records_of_a_dump(sample: str, module: str) -> None:
    """Check also that rules on certain opcodes read instructions with each of them."""
    texts = [sample.replace("\nTotal", "\nbroken\nTotal"), module]
    seen = {type(record) for text in texts for record in dump_of(text).files[0].records}
    assert {rule.applies_to for rule in ON_RECORDS} <= seen
    named = {opcode for rule in ON_RECORDS for opcode in rule.opcodes or ()}
    plain = {opcode for opcode in named if vocabulary().opcode(opcode) is not None}
    assert named == plain
