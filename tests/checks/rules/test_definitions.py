"""``shape-definition-mismatch``: of three places with a shape the odd one is accused."""

from pathlib import Path

from checks.damage import replaced
from checks.values_rules import edited, findings_of, put, tell_in, tell_of
from hlo_lsp.model.workspace import DumpWorkspace

VALUES = "-buffer-assignment-values.txt"
ASSIGNMENT = "-buffer-assignment.txt"
MODULE = "after_optimizations.txt"
C1 = "c.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}"


def test_a_shape_in_an_allocation(compiled: Path) -> None:
    edited(compiled, ASSIGNMENT, put(C1, C1.replace("{1,0", "{0,1")))
    assert tell_in(compiled) == [
        (
            ASSIGNMENT,
            "shape-definition-mismatch",
            "10:  value: <14 c.1 @0> (size=32768,offset=0): »f32[64,64]{0,1:T(8,128)}«",
            "the shape of value 14 `c.1{}` is `f32[64,64]{0,1:T(8,128)}` here, and "
            "`f32[64,64]{1,0:T(8,128)}` behind `from instruction`",
        )
    ]


def test_a_shape_in_an_allocation_without_a_module_text(sample: str) -> None:
    old = "<71 copy-start{0} @1> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)S(1)}"
    ((code, place, _),) = tell_of(replaced(sample, old, old.replace("64,64", "64,63")))
    assert (code, place[:3]) == ("shape-definition-mismatch", "37:")


def test_without_a_module_text_the_size_of_the_value_decides(sample: str) -> None:
    old = " from instruction: %fusion.2 = f32[16]"
    ((code, place, message),) = tell_of(replaced(sample, old, old.replace("16", "1600")))
    assert (code, place[:4]) == ("shape-definition-mismatch", "203:")
    assert message == (
        "the shape of `fusion.2` is `f32[1600]{0:T(128)S(1)}` here, and "
        "`f32[16]{0:T(128)S(1)}` in its allocation"
    )


def test_a_shape_in_an_allocation_without_entries(compiled: Path) -> None:
    for path in compiled.glob("*-values.txt"):
        path.unlink()
    edited(compiled, ASSIGNMENT, put(C1, C1.replace("64,64", "64,65")))
    (_, code, place, message) = next(
        found for found in tell_in(compiled) if found[1] != "sibling-missing"
    )
    assert (code, place[:3]) == ("shape-definition-mismatch", "10:")
    assert message.endswith("`f32[64,64]{1,0:T(8,128)}` in the module text")


def test_a_shape_behind_from_instruction(compiled: Path) -> None:
    edited(compiled, VALUES, put("n: %c.1 = f32[64,64]", "n: %c.1 = f32[64,65]"))
    ((name, code, place, message),) = tell_in(compiled)
    assert (name, code) == (VALUES, "shape-definition-mismatch")
    assert place.startswith("63:  from instruction: %c.1 = »f32[64,65]{1,0:T(8,128)}«")
    assert message.endswith("and `f32[64,64]{1,0:T(8,128)}` in the module text")


def test_a_shape_in_the_module_text_is_told_there_once(compiled: Path) -> None:
    old = "%fusion = (f32[]{:T(128)}, f32[512,512]{1,0:T(8,128)}) fusion("
    edited(compiled, MODULE, put(old, old.replace("512,512", "512,511")))
    ((name, code, place, message),) = tell_in(compiled)
    assert (name, code) == (".txt", "shape-definition-mismatch")
    assert "»(f32[]{:T(128)}, f32[512,511]{1,0:T(8,128)})«" in place
    assert message.startswith("the shape of `fusion` is `(f32[]{:T(128)}, f32[512,511]")


def test_a_long_shape_is_shown_where_it_differs(compiled: Path) -> None:
    old = "(f32[512,512]{1,0:T(8,128)}, f32[64,64]{1,0:T(8,128)}, f32[]{:T(128)})"
    edited(compiled, ASSIGNMENT, put(old, old.replace("f32[]", "f32[" + "1," * 40 + "1]")))
    ((_, code, _, message),) = tell_in(compiled)
    assert code == "shape-definition-mismatch"
    assert "`...(8,128)}, f32[64,64]" in message


def test_a_name_that_is_wrong_is_not_told_as_a_shape(compiled: Path) -> None:
    edited(compiled, ASSIGNMENT, put("<14 c.1 @0>", "<14 a.1 @0>"))
    assert [code for _, code, _, _ in tell_in(compiled)] == ["header-mismatch"]


def test_an_entry_that_changes_on_disk_is_compared_again(compiled: Path) -> None:
    (assignment,) = compiled.glob(f"*{ASSIGNMENT}")
    library = DumpWorkspace()
    file = library.file(assignment)
    assert findings_of(library.set_of(file)) == []
    edited(
        compiled, VALUES, put("%c.1 = f32[64,64]{1,0:T(8,128)}", "%c.1 = f32[64,64]{0,1:T(8,128)}")
    )
    (finding,) = findings_of(library.set_of(file))
    assert finding.code == "shape-definition-mismatch"
    assert finding.place.file.label.endswith(VALUES)


def test_uses_are_compared_again_when_the_module_changes_on_disk(compiled: Path) -> None:
    (values,) = compiled.glob(f"*{VALUES}")
    library = DumpWorkspace()
    file = library.file(values)
    assert findings_of(library.set_of(file)) == []
    edited(compiled, MODULE, put("fusion(%b.1, %a.1)", "fusion(%a.1, %b.1)"))
    assert "use-mismatch" in {found.code for found in findings_of(library.set_of(file))}
