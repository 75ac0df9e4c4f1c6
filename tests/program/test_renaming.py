"""Renaming at every place that refers to the same entity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_cursor import split_at_cursor
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.program.renaming import (
    NameMention,
    RenameError,
    element_places,
    name_mentions,
    rename_places,
    rename_target_at,
)
from hlo_lsp.syntax.records import Record

MODULE = """\
HloModule m, is_scheduled=true

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = f32[] add(%a, f32[] negate(f32[] %a)), metadata={op_name="a/sum"}
}

ENTRY %main (a: f32[4], other: f32[]) -> f32[] {
  %a = f32[4]{0} parameter(0)
  %b = f32[] parameter(1), control-predecessors={%a}
  %c = f32[] reduce(%a, %b), dimensions={0}, to_apply=%sum, control-predecessors={%b, %a}
  %d = f32[] call(%c,
    %b), // of %a
    to_apply=%sum
  ROOT %e = f32[] conditional(%c, %c, %b), branch_computations={%sum, %sum}
}
"""


def after(text: str, new: str) -> str:
    """Return the text after a rename at the cursor ``|``."""
    file, line, column = split_at_cursor(text)
    for place in reversed(rename_places(file, line, column, new)):
        file.changed(
            file.document.edit((place.line, place.start), (place.line, place.end), new.lstrip("%"))
        )
    return file.document.text


def rename_error(text: str, new: str = "new") -> str:
    """Why it is refused."""
    with pytest.raises(RenameError) as error:
        rename_places(*split_at_cursor(text), new)
    return str(error.value)


def test_rename_is_limited_to_the_computation() -> None:
    expected = (
        MODULE.replace("(a: f32[],", "(new: f32[],")
        .replace("  %a = f32[] p", "  %new = f32[] p")
        .replace("add(%a, f32[] negate(f32[] %a))", "add(%new, f32[] negate(f32[] %new))")
    )
    for found in ("%sum (|a:", "  %|a = f32[] p", "add(%a|, f", "negate(f32[] |%a))"):
        assert after(MODULE.replace(found.replace("|", ""), found), "%new") == expected


def test_rename_covers_operands_and_predecessors() -> None:
    expected = (
        MODULE.replace("  %b = f32[] parameter(1), c", "  %new = f32[] parameter(1), c")
        .replace("(%a, %b), d", "(%a, %new), d")
        .replace("={%b, %a}", "={%new, %a}")
        .replace("    %b), //", "    %new), //")
        .replace("%c, %b), br", "%c, %new), br")
    )
    assert after(MODULE.replace("={%b, %a}", "={%b|, %a}"), "new") == expected
    assert after(MODULE.replace("    %b), //", "    |%b), //"), "new") == expected


def test_rename_covers_every_call() -> None:
    expected = MODULE.replace("%sum", "%new")
    assert '"a/sum"' in expected
    for found in ("%s|um (a", "to_apply=%sum|, c", "    to_apply=|%sum", "{%sum, %s|um}"):
        assert after(MODULE.replace(found.replace("|", ""), found, 1), "new") == expected


def test_rename_of_entry_computation() -> None:
    assert after(MODULE.replace("%main", "%ma|in"), "new") == MODULE.replace("%main", "%new")


def test_names_without_percent_stay_without() -> None:
    text = "HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] negate(|a)\n}\n"
    assert after(text, "%new") == (
        "HloModule m\n\nENTRY e {\n  new = f32[] parameter(0)\n  ROOT b = f32[] negate(new)\n}\n"
    )


def test_inline_computations_have_separate_scopes() -> None:
    text = (
        "HloModule m\n\nENTRY e {\n  a = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
        "  ROOT s = f32[] reduce(a, z), dimensions={0}, to_apply={ a = f32[] parameter(0)"
        " z = f32[] parameter(1)\n    ROOT s = f32[] add(a, z)\n  }\n}\n"
    )
    inner = text.replace("add(a", "add(|a")
    assert after(inner, "new") == text.replace("add(a", "add(new").replace("{ a", "{ new")
    outer = text.replace("reduce(a", "reduce(|a")
    assert after(outer, "new") == text.replace("reduce(a", "reduce(new").replace("  a", "  new")


def test_broken_lines_with_percent_names_are_renamed() -> None:
    broken = MODULE.replace("  ROOT %e", "  %half = f32[] add(%c, %b, to_apply=%sum\n  ROOT %e")
    changed = after(broken.replace("(%c, %c, %b)", "(%c, %c, %|b)"), "new")
    assert "  %half = f32[] add(%c, %new, to_apply=%sum\n" in changed
    called = after(broken.replace("%sum (a", "%su|m (a"), "new")
    assert "  %half = f32[] add(%c, %b, to_apply=%new\n" in called


def test_unchanged_name_has_no_edits() -> None:
    assert rename_places(*split_at_cursor(MODULE.replace("%main", "|%main")), "%main") == []


@pytest.mark.parametrize("new", ["", "%", "1a", "a b", "a%", "ä", "a:", "%%a", "-a"])
def test_invalid_names_are_rejected(new: str) -> None:
    assert "is not a valid name" in rename_error(MODULE.replace("%main", "|%main"), new)


@pytest.mark.parametrize("new", ["f32", "pred", "ROOT", "%true", "last_tile_dim_replicate"])
def test_reserved_words_are_rejected(new: str) -> None:
    assert "is a reserved word of HLO" in rename_error(MODULE.replace("%main", "|%main"), new)


def test_used_names_are_rejected() -> None:
    assert rename_error(MODULE.replace("add(%a", "add(%|a"), "b") == (
        "This computation already has an instruction `b`."
    )
    assert rename_error(MODULE.replace("%main", "|%main"), "sum") == (
        "This file already has a computation `sum`."
    )
    assert after(MODULE.replace("add(%a", "add(%|a"), "e").count("%e") == 4
    half = MODULE.replace("  %d = f32[] call(%c,\n    %b)", "  %d = f32[] call(%c,\n    %b")
    assert "already" in rename_error(half.replace("(%c, %c, %b)", "(%c, %c, %|b)"), "d")


@pytest.mark.parametrize(
    "place", ["Hlo|Module", "dimen|sions", "f32|[4]{0} p", "re|duce(", '"a/s|um"']
)
def test_position_without_name_is_rejected(place: str) -> None:
    text = MODULE.replace(place.replace("|", ""), place, 1)
    assert "No instruction, computation, or parameter" in rename_error(text)


def test_undefined_and_ambiguous_names_are_rejected() -> None:
    assert rename_error(MODULE.replace("(%c, %c, %b)", "(%|x, %c, %b)")) == (
        "This computation has no instruction `x`."
    )
    assert rename_error(MODULE.replace("{%sum, %sum}", "{%sum, %no|ne}")) == (
        "This file has no computation `none`."
    )
    assert rename_error(
        MODULE.replace("  %d = f32[] call", "  %b = f32[] call").replace("(%a, %b)", "(%a, %|b)")
    ) == ("`b` is ambiguous: 2 instructions in this computation.")
    assert "is ambiguous: 2 computations" in rename_error(
        MODULE.replace("ENTRY %main", "ENTRY %sum").replace("to_apply=%sum, c", "to_apply=%|sum, c")
    )
    assert "not the name of parameter 1" in rename_error(MODULE.replace("other:", "|other:"))


def test_broken_definition_is_rejected() -> None:
    broken = MODULE.replace("%b = f32[] parameter(1), ", "%b = f32[] parameter(1, ")
    reason = "The line that defines `b` has a syntax error. Fix it first."
    assert rename_error(broken.replace("(%c, %c, %b)", "(%c, %c, %|b)")) == reason
    assert (
        rename_error(broken.replace("%b = f32[] parameter(1, ", "%|b = f32[] parameter(1, "))
        == reason
    )


def test_memory_files_cannot_be_renamed() -> None:
    assert "only in HLO module text" in rename_error(
        "BufferAssignment:\nallocation 0: si|ze 8, constant:"
    )


def test_placeholder_omits_percent() -> None:
    found = rename_target_at(
        *split_at_cursor(MODULE.replace("    to_apply=%sum", "    to_apply=|%sum"))
    )
    assert found.name == "sum"
    text = DumpFile.of_text(MODULE).lines[found.place.line]
    assert text[found.place.start : found.place.end] == "sum"


BREAKS = st.sampled_from(["", " ", "\n", "\n    ", " /*index=5*/", " // and %more\n  "])


def statement_mentions(statement: str) -> list[NameMention]:
    """Return the names in a statement of a computation."""
    file = DumpFile.of_text(f"HloModule m\n\nENTRY %main {{\n{statement}\n}}\n")
    records: list[Record] = [*file.module.instructions.records(), *file.module.damaged]
    (record,) = records
    return verified_mentions(file, record)


def verified_mentions(file: DumpFile, record: Record) -> list[NameMention]:
    """Return the names in a record, after a check of their places."""
    found = list(name_mentions(file, record))
    for mention in found:
        place = mention.place
        assert file.lines[place.line][place.start : place.end] == mention.name
    return found


def names(found: list[NameMention], *, computation_attributes: bool = False) -> list[str]:
    return [mention.name for mention in found if mention.is_computation is computation_attributes]


@given(st.lists(BREAKS, min_size=1, max_size=8))
def test_operands_are_found_across_line_breaks(breaks: list[str]) -> None:
    operands = ",".join(f"{space}%o.{number}" for number, space in enumerate(breaks))
    found = statement_mentions(
        f"  %t = (f32[]) tuple({operands}), control-predecessors={{%p, %t.1}}"
    )
    assert names(found) == ["t", *(f"o.{number}" for number in range(len(breaks))), "p", "t.1"]


def test_inline_operands_yield_nested_names() -> None:
    found = statement_mentions(
        "  %r = f32[] add(f32[] %a, f32[] negate(f32[] subtract(%b,\n %a))), calls=%f"
    )
    assert names(found) == ["r", "a", "b", "a"]
    assert names(found, computation_attributes=True) == ["f"]


def test_broken_statement_names_called_computations() -> None:
    found = statement_mentions(
        "  %c = f32[] conditional(%i, %a, %b, branch_computations={%f,\n"
        '    %g}, control-predecessors={%a}, to_apply=%h, %d, metadata={op_name="%e calls={"}, %j'
    )
    assert names(found, computation_attributes=True) == ["f", "g", "h"]
    assert names(found) == ["c", "i", "a", "b", "a", "d", "j"]


ELEMENTS = """\
HloModule m

ENTRY %main (p: (f32[8], (s32[], f32[4]))) -> f32[4] {
  %p = (f32[8]{0}, (s32[], f32[4]{0})) parameter(0)
  %n = f32[8]{0} negate(%p#0)
  %m = f32[4]{0} add(%p#1#1, p#1#1)
  ROOT %r = f32[4]{0} tanh(%m)
}
"""


@pytest.mark.parametrize(
    "marked", [("  %p = ", "  %|p = "), ("negate(%p#0)", "negate(%|p#0)"), ("p#1#1)", "p|#1#1)")]
)
def test_rename_of_tuple_keeps_its_elements(marked: tuple[str, str]) -> None:
    expected = ELEMENTS.replace("%p", "%new").replace(", p#", ", new#").replace("(p:", "(new:")
    assert after(ELEMENTS.replace(*marked), "new") == expected


def test_places_of_element_are_its_operands() -> None:
    file = DumpFile.of_text(ELEMENTS)
    operand = file.module.operands(file.module.instructions.all("m")[0])[0]
    assert isinstance(operand, TupleElement)
    places = element_places(file, operand)
    assert [file.lines[one.line][one.start : one.end] for one in places] == ["p#1#1", "p#1#1"]
    holder = operand.holder
    assert isinstance(holder, TupleElement)
    assert len(element_places(file, holder)) == 2
