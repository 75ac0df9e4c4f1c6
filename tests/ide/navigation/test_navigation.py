"""Definition, declaration, and type definition in memory files."""

import pytest

import marked_dump
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.navigation.definitions import (
    declaration,
    definitions,
    type_definitions,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Place

SPLIT = marked_dump.split()
ONE_FILE = marked_dump.one_file()

# Where definition leads from a mention of a value, and from the name of an instruction that
# defines one: the same in both generations.
VALUES = [
    ("x.1-range", "x.1-entry"),
    ("fusion0-range", "fusion0-entry"), ("negate.7-peak", "negate.7-entry"),
    ("fusion1-peak", "fusion1-entry"), ("x.1-position", "x.1-entry"),
    ("fusion0-position", "fusion0-entry"), ("fusion.2-position", "fusion.2-entry"),
    ("x.1-use", "fusion-entry"), ("fusion0-use", "negate.7-entry"),
    ("fusion1-use", "fusion.2-entry"), ("fusion-operand", "x.1-entry"), ("x.1-step", "x.1-entry"),
    ("fusion-step", "fusion-entry"), ("negate.7-step", "negate.7-entry"),
]  # fmt: skip
# A get-tuple-element defines no value.
NO_VALUE = ["gte-position", "fusion-use", "gte-operand", "gte-step"]


def definition(dump: Compile, target: CursorTarget) -> Place | None:
    """Return the best place that defines a target."""
    return next(iter(definitions(dump, target)), None)


@pytest.mark.parametrize(("start", "end"), VALUES)
def test_mention_resolves_to_entry(start: str, end: str) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert dump.mark_at(definition(dump.dump, dump.target(start))) == end


@pytest.mark.parametrize("start", NO_VALUE)
def test_instruction_without_value_resolves_to_module_text(start: str) -> None:
    assert SPLIT.mark_at(definition(SPLIT.dump, SPLIT.target(start))) == "gte-line"


@pytest.mark.parametrize("start", NO_VALUE)
def test_resolves_to_schedule_without_module_text(start: str) -> None:
    assert ONE_FILE.mark_at(definition(ONE_FILE.dump, ONE_FILE.target(start))) == "gte-step"


@pytest.mark.parametrize("start", NO_VALUE[:3])
def test_no_definition_without_module_text_and_schedule(start: str) -> None:
    alone = marked_dump.split(marked_dump.VALUES)
    assert definition(alone.dump, alone.target(start)) is None


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("x.1-in-fusion", "x.1-line"), ("fusion-in-gte", "fusion-line"),
        ("gte-in-negate", "gte-line"), ("negate.7-in-fusion.2", "negate.7-line"),
        ("fusion-before", "fusion-line"), ("fusion-line", "fusion-line"),
        ("region-call", "region-line"), ("fused-call", "fused-line"),
        ("fused.1-call", "fused.1-line"),
    ],
)  # fmt: skip
def test_name_in_module_text_resolves_to_its_line(start: str, end: str) -> None:
    assert SPLIT.mark_at(definition(SPLIT.dump, SPLIT.target(start))) == end


def test_live_range_resolves_to_allocation_without_values_file() -> None:
    dump = marked_dump.split(marked_dump.ASSIGNMENT, marked_dump.LIVE)
    assert dump.mark_at(definition(dump.dump, dump.target("fusion0-range"))) == "fusion0-value"
    assert dump.mark_at(definition(dump.dump, dump.target("negate.7-peak"))) == "negate.7-value"
    assert dump.mark_at(definition(dump.dump, dump.target("fusion0-value"))) == "fusion0-value"
    assert dump.mark_at(definition(dump.dump, dump.target("fusion-step"))) == "fusion-step"


def test_entry_resolves_to_itself_without_assignment() -> None:
    dump = marked_dump.split(marked_dump.VALUES)
    assert dump.mark_at(definition(dump.dump, dump.target("fusion0-entry"))) == "fusion0-entry"
    assert declaration(dump.dump, dump.target("fusion0-entry")) is None


def test_live_range_file_alone_resolves_to_schedule() -> None:
    dump = marked_dump.split(marked_dump.LIVE)
    assert dump.mark_at(definition(dump.dump, dump.target("fusion0-range"))) == "fusion-step"
    assert dump.mark_at(definition(dump.dump, dump.target("negate.7-peak"))) == "negate.7-step"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("fusion0-value", "allocation-4"), ("fusion0-entry", "allocation-4"),
        ("fusion0-range", "allocation-4"), ("fusion0-position", "allocation-4"),
        ("negate.7-peak", "allocation-4"), ("negate.7-step", "allocation-4"),
        ("fusion0-use", "allocation-4"), ("add.9-entry", "allocation-0"),
        ("allocation-4", "allocation-4"), ("gte-step", None),
    ],
)  # fmt: skip
def test_declaration_is_allocation_line(start: str, end: str | None) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert dump.mark_at(declaration(dump.dump, dump.target(start))) == end


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("gte-position", "fusion0-entry"), ("gte-step", "fusion0-entry"),
        ("gte-operand", "fusion0-entry"), ("fusion0-position", "fusion0-entry"),
        ("negate.7-step", "negate.7-entry"), ("fusion0-range", "fusion0-entry"),
    ],
)  # fmt: skip
def test_type_definition_is_value_at_position(start: str, end: str) -> None:
    for dump in (SPLIT, ONE_FILE):
        assert [
            dump.mark_at(place) for place in type_definitions(dump.dump, dump.target(start))
        ] == [end]


@pytest.mark.parametrize("start", ["fusion-line", "fusion-in-gte"])
def test_type_definition_in_module_text_is_callee(start: str) -> None:
    places = type_definitions(SPLIT.dump, SPLIT.target(start))
    assert [SPLIT.mark_at(place) for place in places] == ["fused-line"]


def test_instruction_without_callee_has_no_type_definition() -> None:
    assert type_definitions(SPLIT.dump, SPLIT.target("gte-in-negate")) == []


def test_computation_is_its_own_type_definition() -> None:
    found = SPLIT.target("region-call")
    assert declaration(SPLIT.dump, found) is None
    places = type_definitions(SPLIT.dump, found)
    assert [SPLIT.mark_at(place) for place in places] == ["region-line"]


@pytest.mark.parametrize(
    ("start", "line", "other"),
    [
        ("fusion0-value", "fusion-line", "fusion0-entry"),
        ("fusion0-entry", "fusion-line", "fusion0-value"),
        ("x.1-value", "x.1-line", "x.1-entry"),
        ("x.1-entry", "x.1-line", "x.1-value"),
        ("fusion1-entry", "fusion-line", "fusion1-value"),
    ],
)
def test_value_header_resolves_to_module_text_and_its_type_to_the_other_header(
    start: str, line: str, other: str
) -> None:
    target, alone = SPLIT.target(start), ONE_FILE.target(start)
    assert [SPLIT.mark_at(place) for place in definitions(SPLIT.dump, target)] == [line]
    assert [SPLIT.mark_at(place) for place in type_definitions(SPLIT.dump, target)] == [other]
    assert [ONE_FILE.mark_at(place) for place in definitions(ONE_FILE.dump, alone)] == [other]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("x.1-in-fusion", "allocation-1"),
        ("negate.7-line", "allocation-4"),
        ("gte-line", "allocation-4"),
    ],
)
def test_declaration_in_module_text_is_allocation_line(start: str, end: str) -> None:
    assert SPLIT.mark_at(declaration(SPLIT.dump, SPLIT.target(start))) == end
