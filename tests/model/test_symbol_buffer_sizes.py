"""Symbols of a compile in the order of their buffers."""

import pytest

from hlo_lsp.model.symbol_buffer_sizes import pass_rank
from hlo_lsp.model.symbol_reading import read_symbols
from hlo_lsp.model.symbol_search import FileSymbols, Symbol, search_symbols

STEM = "module_0001.jit_f.cl_12.after_optimizations"
MODULE = """\
HloModule jit_f

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %add.1 = f32[4] add(%x, %x), metadata={op_name="f" source_file="f.py" source_line=3}
  %add.22 = f32[400] add(%x, %x), metadata={op_name="f" source_file="f.py" source_line=3}
  ROOT %add = f32[4] add(%add.1, %x)
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 1632, color 1, preallocated-temp:
 value: <1 add.1 @1> (size=16,offset=0): f32[4]
 value: <2 add.22 @1> (size=1600,offset=16): f32[400]
 value: <3 add @1> (size=16,offset=1616): f32[4]
"""


def _files(*others: tuple[str, str]) -> list[FileSymbols]:
    texts = (
        ("module_0001.jit_f.cl_12.before_optimizations.txt", MODULE),
        (f"{STEM}.txt", MODULE),
        (f"{STEM}-buffer-assignment.txt", ASSIGNMENT),
        *others,
    )
    return [
        symbols
        for name, text in texts
        for symbols in read_symbols(f"file:///dump/{name}", name, text.split("\n"))
    ]


def _found(text: str, *others: tuple[str, str]) -> list[Symbol]:
    return search_symbols(_files(*others), text, 200)


def test_largest_buffer_comes_first() -> None:
    assert [one.name for one in _found("add.") if "after" in one.uri] == ["add.22", "add.1"]


def test_equal_name_precedes_larger_buffers() -> None:
    assert _found("add")[0].name == "add"


def test_compiled_module_precedes_other_passes() -> None:
    passes = ["after" in one.uri for one in _found("add.22")]
    assert passes == [True, False]


def test_name_of_the_compiled_module_precedes_shorter_ones() -> None:
    text = MODULE.replace("%add.22", "%add.2")
    early = ("module_0001.jit_f.cl_12.before_optimizations.txt", text)
    names = [one.name for one in _found("add.", early)]
    assert names.index("add.1") < names.index("add.2")


def test_leaf_of_a_found_instruction_is_left_out() -> None:
    leaves = ASSIGNMENT.replace("add.22 @1", "add.22{1} @1")
    files = [("other.after_optimizations.txt", MODULE),
             ("other.after_optimizations-buffer-assignment.txt", leaves)]  # fmt: skip
    found = [file for name, text in files
             for file in read_symbols(f"file:///{name}", name, text.split("\n"))]  # fmt: skip
    assert [one.name for one in search_symbols(found, "add.22", 200)] == ["add.22"]
    assert [one.name for one in search_symbols(found, "add.22{1}", 200)] == ["add.22{1}"]


def test_value_of_a_found_instruction_is_left_out() -> None:
    assert {one.name for one in _found("add")} == {"add", "add.1", "add.22"}
    assert _found("add{}")[0].name == "add{}"


def test_value_of_another_compile_is_kept() -> None:
    other = "module_0002.jit_g.cl_12.after_optimizations-buffer-assignment.txt"
    names = [(one.name, "0002" in one.uri) for one in _found("add.22", (other, ASSIGNMENT))]
    assert ("add.22{}", True) in names


def test_container_is_computation_and_size() -> None:
    assert _found("add.22")[0].about == f"main · 1.6 KiB VMEM · {STEM}.txt"


def test_instructions_of_a_line_are_ordered_by_size() -> None:
    compiled = [one for one in _found("f.py:3") if "after" in one.uri]
    assert [one.about.partition(" · ")[0] for one in compiled] == ["add.22", "add.1"]


def test_instruction_before_optimizations_has_no_size() -> None:
    assert "KiB" not in _found("add.22")[1].about


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        (f"{STEM}.txt", 0),
        (f"{STEM}-buffer-assignment.txt", 0),
        ("module_0001.jit_f.cl_12.before_optimizations.txt", 1),
        ("module_0001.jit_f.0003.pipeline.after_cse.before_dce.txt", 1),
        ("step.hlo", 0),
    ],
)
def test_rank_of_a_text_follows_from_its_name(name: str, rank: int) -> None:
    assert pass_rank(name) == rank


def test_files_of_a_compile_have_one_key() -> None:
    before, after, assignment = (file.compile_key for file in _files())
    assert after == assignment != before
