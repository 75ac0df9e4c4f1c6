"""Tests for the shapes of a value in its allocation, its entry, and the module text."""

from pathlib import Path

from checks.damage import dump_of, replace_once, report_of
from checks.values_rules import edit_file, findings_of, replacement, reports_in
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.model.workspace import DumpWorkspace

VALUES = "-buffer-assignment-values.txt"
ASSIGNMENT = "-buffer-assignment.txt"
MODULE = "after_optimizations.txt"
C1 = "c.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}"


def _findings(folder: Path) -> list[Finding]:
    library = DumpWorkspace()
    return findings_of(library.compile_of(library.file(next(folder.glob(f"*{ASSIGNMENT}")))))


def test_wrong_shape_in_allocation_is_reported(compiled: Path) -> None:
    edit_file(compiled, ASSIGNMENT, replacement(C1, C1.replace("{1,0", "{0,1")))
    (finding,) = _findings(compiled)
    assert report_of(finding) == (
        "shape-definition-mismatch",
        "10:  value: <14 c.1 @0> (size=32768,offset=0): »f32[64,64]{0,1:T(8,128)}«",
        "shape `f32[64,64]{0,1:T(8,128)}` does not match `f32[64,64]{1,0:T(8,128)}` in the module "
        "text",
    )
    assert len(finding.related) == 2
    assert [fix.title for fix in finding.fixes] == ["Change to `f32[64,64]{1,0:T(8,128)}`"]


def test_two_shapes_without_module_have_no_fix(sample: str) -> None:
    old = "<71 copy-start{0} @1> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)S(1)}"
    (finding,) = findings_of(dump_of(replace_once(sample, old, old.replace("64,64", "64,63"))))
    assert (finding.code, finding.fixes) == ("shape-definition-mismatch", ())
    assert finding.place.line == 36


def test_wrong_shape_without_entries_is_reported(compiled: Path) -> None:
    for path in compiled.glob("*-values.txt"):
        path.unlink()
    edit_file(compiled, ASSIGNMENT, replacement(C1, C1.replace("64,64", "64,65")))
    found = {code: message for _, code, _, message in reports_in(compiled)}
    assert found["shape-definition-mismatch"].endswith(
        "`f32[64,64]{1,0:T(8,128)}` in the module text"
    )


def test_wrong_shape_in_entry_is_reported(compiled: Path) -> None:
    edit_file(compiled, VALUES, replacement("n: %c.1 = f32[64,64]", "n: %c.1 = f32[64,65]"))
    (finding,) = _findings(compiled)
    assert report_of(finding)[:2] == (
        "shape-definition-mismatch",
        "63:  from instruction: %c.1 = »f32[64,65]{1,0:T(8,128)}« parameter(2)"
        + report_of(finding)[1].partition("parameter(2)")[2],
    )
    assert [fix.title for fix in finding.fixes] == ["Change to `f32[64,64]{1,0:T(8,128)}`"]


def test_shape_in_the_module_text_is_reported_once(compiled: Path) -> None:
    old = "%fusion = (f32[]{:T(128)}, f32[512,512]{1,0:T(8,128)}) fusion("
    edit_file(compiled, MODULE, replacement(old, old.replace("512,512", "512,511")))
    (finding,) = _findings(compiled)
    assert "»(f32[]{:T(128)}, f32[512,511]{1,0:T(8,128)})«" in report_of(finding)[1]
    right = "(f32[]{:T(128)}, f32[512,512]{1,0:T(8,128)})"
    assert [fix.title for fix in finding.fixes] == [f"Change to `{right}`"]


def test_long_shape_shows_the_difference(compiled: Path) -> None:
    old = "(f32[512,512]{1,0:T(8,128)}, f32[64,64]{1,0:T(8,128)}, f32[]{:T(128)})"
    edit_file(
        compiled, ASSIGNMENT, replacement(old, old.replace("f32[]", "f32[" + "1," * 40 + "1]"))
    )
    ((_, code, _, message),) = reports_in(compiled)
    assert code == "shape-definition-mismatch"
    assert "`...(8,128)}, f32[64,64]" in message


def test_entry_changed_on_disk_is_compared_again(compiled: Path) -> None:
    (assignment,) = compiled.glob(f"*{ASSIGNMENT}")
    library = DumpWorkspace()
    file = library.file(assignment)
    assert findings_of(library.compile_of(file)) == []
    edit_file(
        compiled,
        VALUES,
        replacement("%c.1 = f32[64,64]{1,0:T(8,128)}", "%c.1 = f32[64,64]{0,1:T(8,128)}"),
    )
    (finding,) = findings_of(library.compile_of(file))
    assert finding.code == "shape-definition-mismatch"
    assert finding.place.file.label.endswith(VALUES)


def test_module_changed_on_disk_updates_uses(compiled: Path) -> None:
    (values,) = compiled.glob(f"*{VALUES}")
    library = DumpWorkspace()
    file = library.file(values)
    assert findings_of(library.compile_of(file)) == []
    edit_file(compiled, MODULE, replacement("fusion(%b.1, %a.1)", "fusion(%a.1, %b.1)"))
    assert "use-mismatch" in {found.code for found in findings_of(library.compile_of(file))}
