"""References to values, instructions, allocations, and computations."""

import pytest

import marked_dump
from hlo_lsp.ide.navigation.references import declarations_and_references, user_instructions
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

SPLIT = marked_dump.split()
ONE_FILE = marked_dump.one_file()

FUSION0 = (
    {"fusion0-value", "fusion0-entry"},
    {"fusion0-position", "gte-position", "fusion0-use", "fusion0-range"},
)
# The places of the same value in module text.
IN_MODULE = ({"fusion-line"}, {"gte-in-negate"})


def _of(dump: marked_dump.MarkedDump, start: str) -> tuple[set[str | None], set[str | None]]:
    declared, mentioned = declarations_and_references(dump.dump, dump.target(start))
    return set(map(dump.mark_at, declared)), set(map(dump.mark_at, mentioned))


@pytest.mark.parametrize("start", ["fusion0-value", "fusion0-entry", "fusion0-range"])
def test_value_references_cover_all_files(start: str) -> None:
    assert _of(ONE_FILE, start) == FUSION0
    assert _of(SPLIT, start) == (FUSION0[0] | IN_MODULE[0], FUSION0[1] | IN_MODULE[1])


def test_value_references_include_peak_row() -> None:
    declared, mentioned = _of(SPLIT, "negate.7-peak")
    assert declared == {"negate.7-value", "negate.7-entry", "negate.7-line"}
    assert {"negate.7-range", "negate.7-peak", "negate.7-in-fusion.2"} <= mentioned
    assert len(mentioned) == 5  # and the rows of its entry: one position, one use


def test_value_references_exclude_other_leaves() -> None:
    declared, mentioned = _of(SPLIT, "fusion1-peak")
    assert not (declared | mentioned) & {"fusion0-value", "fusion0-range", "fusion0-position"}
    assert {"fusion1-use", "fusion1-peak"} <= mentioned


def test_instruction_references_cover_all_files() -> None:
    declared, mentioned = _of(SPLIT, "gte-position")
    assert declared == {"gte-line"}
    assert mentioned == {"gte-position", "gte-step", "gte-in-negate", "fusion-use"}


def test_no_declaration_without_module_text() -> None:
    assert _of(ONE_FILE, "gte-step") == (set(), {"gte-position", "gte-step", "fusion-use"})


def test_instruction_references_include_headers_of_its_values() -> None:
    declared, mentioned = _of(SPLIT, "fusion-line")
    assert declared == {"fusion-line"}
    assert mentioned >= {
        "fusion-entry",
        "fusion0-entry",
        "fusion0-value",
        "fusion0-range",
        "fusion0-position",
        "fusion-step",
        "fusion1-peak",
        "x.1-use",
        "fusion-in-gte",
        "fusion-in-gte1",
        "fusion-before",
    }
    assert not mentioned & {"fusion.2-entry", "fusion.2-line", "fused-call"}


def test_allocation_is_declared_by_its_line() -> None:
    assert _of(SPLIT, "allocation-4") == ({"allocation-4"}, set())


def test_places_are_unique() -> None:
    for start in SPLIT.marks:
        declared, mentioned = declarations_and_references(SPLIT.dump, SPLIT.target(start))
        places = [(place.file.uri, place.line, place.start) for place in (*declared, *mentioned)]
        assert len(places) == len(set(places)), start


def test_places_are_sorted() -> None:
    for start in SPLIT.marks:
        for places in declarations_and_references(SPLIT.dump, SPLIT.target(start)):
            keys = [(place.file.uri, place.line, place.start) for place in places]
            assert keys == sorted(keys)


def test_users_have_module_text_order() -> None:
    assert user_instructions(SPLIT.dump, "fusion") == ["get-tuple-element", "get-tuple-element.1"]
    assert user_instructions(SPLIT.dump, "p") == ["add.9"]
    assert user_instructions(SPLIT.dump, "fusion.2") == []


def test_users_of_elements_are_among_the_others() -> None:
    text = (
        "HloModule m\n\nENTRY %e {\n  %t = (f32[], f32[]) parameter(0)\n"
        "  %a = f32[] negate(%t#0)\n  %b = f32[] negate(%t#1)\n"
        "  ROOT %c = f32[] add(%t#0, %b)\n}\n"
    )
    dump = Compile([DumpFile.of_text(text, "m.txt")])
    assert user_instructions(dump, "t") == ["a", "b", "c"]


def test_users_without_module_text_come_from_values() -> None:
    users = ["get-tuple-element", "get-tuple-element.1", "negate.7", "fusion.2"]
    assert user_instructions(ONE_FILE.dump, "fusion") == users
    assert user_instructions(ONE_FILE.dump, "get-tuple-element") == []
