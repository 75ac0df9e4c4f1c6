"""Definition, declaration and type definition, by the one rule."""

import pytest

from analysis import tiny
from hlo_lsp.ide.navigation.definitions import (
    declaration,
    definition,
    definitions,
    type_definitions,
)

SPLIT = tiny.split()
ONE_FILE = tiny.one_file()

# Where definition leads from a mention of a value, and from the name of an instruction that
# defines one: the same in both generations.
VALUES = [
    ("x.1-value", "x.1-entry"),
    ("fusion0-value", "fusion0-entry"),
    ("x.1-entry", "x.1-value"),
    ("fusion1-entry", "fusion1-value"),
    ("add.9-entry", "add.9-value"),
    ("x.1-range", "x.1-entry"),
    ("fusion0-range", "fusion0-entry"),
    ("negate.7-peak", "negate.7-entry"),
    ("fusion1-peak", "fusion1-entry"),
    ("x.1-position", "x.1-entry"),
    ("fusion0-position", "fusion0-entry"),
    ("fusion.2-position", "fusion.2-entry"),
    ("x.1-use", "fusion-entry"),
    ("fusion0-use", "negate.7-entry"),
    ("fusion1-use", "fusion.2-entry"),
    ("fusion-operand", "x.1-entry"),
    ("x.1-step", "x.1-entry"),
    ("fusion-step", "fusion-entry"),
    ("negate.7-step", "negate.7-entry"),
]
# A get-tuple-element defines no value.
NO_VALUE = ["gte-position", "fusion-use", "gte-operand", "gte-step"]


@pytest.mark.parametrize(("start", "end"), VALUES)
def test_a_mention_leads_to_the_entry_and_the_entry_to_its_line(start: str, end: str) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert dump.at(definition(dump.dump, dump.found(start))) == end


@pytest.mark.parametrize("start", NO_VALUE)
def test_an_instruction_that_defines_no_value_leads_to_the_module_text(start: str) -> None:
    assert SPLIT.at(definition(SPLIT.dump, SPLIT.found(start))) == "gte-line"


@pytest.mark.parametrize("start", NO_VALUE)
def test_without_module_text_it_leads_to_the_schedule(start: str) -> None:
    assert ONE_FILE.at(definition(ONE_FILE.dump, ONE_FILE.found(start))) == "gte-step"


@pytest.mark.parametrize("start", NO_VALUE[:3])
def test_without_both_it_leads_nowhere(start: str) -> None:
    alone = tiny.split(tiny.VALUES)
    assert definition(alone.dump, alone.found(start)) is None


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("x.1-in-fusion", "x.1-line"),
        ("fusion-in-gte", "fusion-line"),
        ("gte-in-negate", "gte-line"),
        ("negate.7-in-fusion.2", "negate.7-line"),
        ("fusion-before", "fusion-line"),
        ("fusion-line", "fusion-line"),
        ("region-call", "region-line"),
        ("fused-call", "fused-line"),
        ("fused.1-call", "fused.1-line"),
    ],
)
def test_in_module_text_a_name_leads_to_its_line(start: str, end: str) -> None:
    assert SPLIT.at(definition(SPLIT.dump, SPLIT.found(start))) == end


def test_without_the_values_file_a_range_leads_to_the_allocation() -> None:
    dump = tiny.split(tiny.ASSIGNMENT, tiny.LIVE)
    assert dump.at(definition(dump.dump, dump.found("fusion0-range"))) == "fusion0-value"
    assert dump.at(definition(dump.dump, dump.found("negate.7-peak"))) == "negate.7-value"
    assert dump.at(definition(dump.dump, dump.found("fusion0-value"))) == "fusion0-value"
    assert dump.at(definition(dump.dump, dump.found("fusion-step"))) == "fusion-step"


def test_without_the_assignment_an_entry_leads_to_itself() -> None:
    dump = tiny.split(tiny.VALUES)
    assert dump.at(definition(dump.dump, dump.found("fusion0-entry"))) == "fusion0-entry"
    assert declaration(dump.dump, dump.found("fusion0-entry")) is None


def test_live_ranges_alone_lead_to_the_schedule() -> None:
    dump = tiny.split(tiny.LIVE)
    assert dump.at(definition(dump.dump, dump.found("fusion0-range"))) == "fusion-step"
    assert dump.at(definition(dump.dump, dump.found("negate.7-peak"))) == "negate.7-step"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("fusion0-value", "allocation-4"),
        ("fusion0-entry", "allocation-4"),
        ("fusion0-range", "allocation-4"),
        ("fusion0-position", "allocation-4"),
        ("negate.7-peak", "allocation-4"),
        ("negate.7-step", "allocation-4"),
        ("fusion0-use", "allocation-4"),
        ("add.9-entry", "allocation-0"),
        ("allocation-4", "allocation-4"),
        ("gte-step", None),
    ],
)
def test_declaration_is_the_allocation_line(start: str, end: str | None) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert dump.at(declaration(dump.dump, dump.found(start))) == end


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("gte-position", "fusion0-entry"),
        ("gte-step", "fusion0-entry"),
        ("gte-operand", "fusion0-entry"),
        ("fusion0-position", "fusion0-entry"),
        ("negate.7-step", "negate.7-entry"),
        ("fusion0-range", "fusion0-entry"),
    ],
)
def test_type_definition_is_the_value_that_flows_through(start: str, end: str) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert [dump.at(place) for place in type_definitions(dump.dump, dump.found(start))] == [end]


@pytest.mark.parametrize("start", ["fusion-line", "fusion-in-gte"])
def test_in_module_text_type_definition_is_what_an_instruction_calls(start: str) -> None:
    places = type_definitions(SPLIT.dump, SPLIT.found(start))
    assert [SPLIT.at(place) for place in places] == ["fused-line"]


def test_in_module_text_an_instruction_that_calls_nothing_has_no_type_definition() -> None:
    assert type_definitions(SPLIT.dump, SPLIT.found("gte-in-negate")) == []


def test_a_computation_is_its_own_type_definition_and_has_no_declaration() -> None:
    found = SPLIT.found("region-call")
    assert declaration(SPLIT.dump, found) is None
    places = type_definitions(SPLIT.dump, found)
    assert [SPLIT.at(place) for place in places] == ["region-line"]


@pytest.mark.parametrize(
    ("start", "ends"),
    [
        ("fusion0-value", ["fusion0-entry", "fusion-line"]),
        ("fusion0-entry", ["fusion0-value", "fusion-line"]),
        ("x.1-entry", ["x.1-value", "x.1-line"]),
        ("fusion0-range", ["fusion0-entry"]),
        ("fusion0-position", ["fusion0-entry"]),
        ("negate.7-peak", ["negate.7-entry"]),
    ],
)
def test_headers_of_values_lead_to_the_module_text_too(start: str, ends: list[str]) -> None:
    places = definitions(SPLIT.dump, SPLIT.found(start))
    assert [SPLIT.at(place) for place in places] == ends


def test_without_module_text_headers_lead_to_one_place() -> None:
    places = definitions(ONE_FILE.dump, ONE_FILE.found("fusion0-value"))
    assert [ONE_FILE.at(place) for place in places] == ["fusion0-entry"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("x.1-in-fusion", "allocation-1"),
        ("negate.7-line", "allocation-4"),
        ("gte-line", "allocation-4"),
    ],
)
def test_in_module_text_declaration_is_the_allocation_line(start: str, end: str) -> None:
    assert SPLIT.at(declaration(SPLIT.dump, SPLIT.found(start))) == end
