"""Symbol search in many files, in the order of the buffers of a compile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.symbol_reading import read_symbols
from hlo_lsp.model.symbol_search import (
    FileSymbols,
    NameTable,
    Symbol,
    SymbolEntry,
    SymbolKind,
    SymbolQuery,
    pass_rank,
    search_symbols,
)


def file(title: str, *names: str, kind: SymbolKind = SymbolKind.INSTRUCTION) -> FileSymbols:
    """Return a file with a name in the second column of each line."""
    entries = [SymbolEntry(name, kind, line, 1, len(name)) for line, name in enumerate(names)]
    return FileSymbols(f"file:///{title}", title, entries)


def found(typed: str, *files: FileSymbols, limit: int = 200) -> list[Symbol]:
    return search_symbols(files, typed, limit)


def named(typed: str, *names: str, limit: int = 200) -> list[str]:
    return [symbol.name for symbol in found(typed, file("a.txt", *names), limit=limit)]


def test_symbol_has_the_position_of_its_name() -> None:
    assert found("ad", file("a.txt", "mul", "add.1")) == [
        Symbol("add.1", SymbolKind.INSTRUCTION, "file:///a.txt", 1, 1, 6, "a.txt")
    ]


def test_best_names_of_all_files_come_first() -> None:
    files = file("a.txt", "add.10", "fused_add", "mul"), file("b.txt", "add", "mad_id")
    assert [(symbol.name, symbol.uri[-5:]) for symbol in found("add", *files)] == [
        ("add", "b.txt"), ("add.10", "a.txt"), ("fused_add", "a.txt"), ("mad_id", "b.txt")
    ]  # fmt: skip


def test_limit_keeps_the_best_symbols() -> None:
    names = [f"add.{number}" for number in range(3000)]
    assert named("add.2", *reversed(names), limit=3) == ["add.2", "add.20", "add.21"]
    assert len(named("add", *names, limit=200)) == 200


def test_scattered_letters_match_if_better_names_are_few() -> None:
    names = [f"xaxbx.{number}" for number in range(10)]
    assert len(named("ab", *names, *["ab"] * 5, limit=20)) == 15
    assert named("ab", *names, *["ab"] * 5, limit=5) == ["ab"] * 5


def test_frequent_name_leaves_room_for_others() -> None:
    files = [file(f"{number:03}.txt", "add") for number in range(300)]
    others = file("other.txt", *(f"add.{number}" for number in range(100)))
    names = [symbol.name for symbol in found("add", *files, others, limit=200)]
    assert len(names) == 200
    assert names[:100] == ["add"] * 100  # 40 before other names, and 60 at the end of the list
    assert set(names[100:]) == {f"add.{number}" for number in range(100)}


def test_instruction_symbol_names_its_computation() -> None:
    entries = [
        SymbolEntry("body", SymbolKind.COMPUTATION, 0, 1, 4),
        SymbolEntry("add", SymbolKind.INSTRUCTION, 1, 3, 3, home=0),
    ]
    (symbol,) = found("add", FileSymbols("file:///a.txt", "sub/a.txt", entries))
    assert symbol.about == "body · sub/a.txt"


def test_module_precedes_instruction_of_equal_name() -> None:
    entries = [
        SymbolEntry("jit_f", SymbolKind.INSTRUCTION, 4, 1, 5),
        SymbolEntry("jit_f", SymbolKind.COMPUTATION, 3, 1, 5),
        SymbolEntry("jit_f", SymbolKind.MODULE, 0, 10, 5),
    ]
    kinds = [symbol.kind.name for symbol in found("jit_f", FileSymbols("u", "a", entries))]
    assert kinds == ["MODULE", "COMPUTATION", "INSTRUCTION"]


def test_empty_query_matches_modules() -> None:
    files = [
        file("a.txt", "jit_f", kind=SymbolKind.MODULE),
        file("b.txt", "add"),
        file("c.txt", "jit_g", "jit_h", kind=SymbolKind.MODULE),
    ]
    assert [symbol.name for symbol in found(" ", *files)] == ["jit_f", "jit_g", "jit_h"]
    assert [symbol.name for symbol in found("", *files, limit=2)] == ["jit_f", "jit_g"]


def test_python_line_yields_innermost_instructions_first() -> None:
    entries = [
        SymbolEntry("outer", SymbolKind.INSTRUCTION, 7, 2, 5, stack=1),
        SymbolEntry("other", SymbolKind.INSTRUCTION, 8, 2, 5, stack=2),
        SymbolEntry("inner", SymbolKind.INSTRUCTION, 9, 2, 5, stack=0),
        SymbolEntry("plain", SymbolKind.INSTRUCTION, 10, 2, 5),
    ]
    sources = ["train.py:21", "model.py:7"]
    one = FileSymbols("u", "a.txt", entries, sources, [(0,), (1, 0), (1,)])
    places = [(symbol.name, symbol.line, symbol.about) for symbol in found("train.py:21", one)]
    assert places == [
        ("train.py:21", 9, "inner · a.txt"),
        ("train.py:21", 7, "outer · a.txt"),
    ]
    assert [symbol.line for symbol in found("mod7", one)] == [7, 8]


LETTERS = st.text("abAB._1 {", max_size=6)


def matches(names: list[str], typed: str, number: int = -1) -> list[str]:
    """Return the matches of an expression, by default the last one, which finds all names."""
    query = SymbolQuery.of(typed)
    table = NameTable(names)
    if not query.expressions:
        return []
    hits = list(table.find(query.expressions[number], is_case_sensitive=query.is_case_sensitive))
    assert [length for length, _ in hits] == [len(table[table.number(p)]) for _, p in hits]
    return [table[table.number(place)] for _, place in hits]


def test_letters_in_order_are_found() -> None:
    names = ["fusion.40", "f", "fused.4.0", "suf40", "fus", "fusion.4"]
    assert matches(names, "fus40") == ["fusion.40", "fused.4.0"]
    assert matches(names, "fus40", 0) == []
    assert matches(names, "us", 0) == []
    assert matches(names, "us", 1) == ["fusion.40", "fused.4.0", "fus", "fusion.4"]
    assert matches(names, "fus", 0) == ["fusion.40", "fused.4.0", "fus", "fusion.4"]


def test_signs_of_expressions_are_letters_like_others() -> None:
    names = ["fusion.3{0}", "a^b", "a-b", "a]b", "a\\b", "axb"]
    assert matches(names, "3{0}", 1) == ["fusion.3{0}"]
    for name in names[1:]:
        assert name in matches(names, name)
    assert matches(names, "a.b") == []


def test_case_counts_where_there_is_a_capital() -> None:
    names = ["Arg_0.1", "arg_0.1"]
    assert matches(names, "arg") == names
    assert matches(names, "Arg") == ["Arg_0.1"]
    assert matches(names, "ARG") == []


def test_blanks_count_for_nothing() -> None:
    assert matches(["while_body.3"], " while bod ") == ["while_body.3"]
    assert matches(["while_body.3"], "   ") == []


def test_letters_that_change_their_number_with_their_case() -> None:
    assert matches(["İx", "abc"], "abc") == ["abc"]


@given(st.lists(LETTERS), LETTERS)
def test_name_matches_iff_it_contains_the_letters(names: list[str], typed: str) -> None:
    query = SymbolQuery.of(typed)

    def holds(name: str) -> bool:
        letters = iter(name if query.is_case_sensitive else name.lower())
        return all(letter in letters for letter in query.text)

    if query.text:
        assert matches(names, typed) == [name for name in names if holds(name)]


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


def test_name_of_several_texts_of_a_module_is_found_in_the_last_one() -> None:
    assert ["after" in one.uri for one in _found("add.22")] == [True]
    assert ["after" in one.uri for one in _found("f.py:3")] == [True, True]
    assert [one.uri.rpartition("/")[2] for one in _found("")] == [f"{STEM}.txt"]
    only_early = MODULE.replace("add.22", "early.22")
    texts = [
        (f"module_0001.jit_f.cl_12.{name}.txt", only_early)
        for name in ("0001.simplify.after_x.before_y", "before_optimizations")
    ]
    (found,) = _found("early.22", *texts)
    assert "after_x" in found.uri


def test_open_modules_precede_others() -> None:
    files = [file(f"module_000{number}.jit_f.after_optimizations.txt", "add") for number in (1, 2)]
    opened = frozenset({files[1].module_key})
    uris = [one.uri for one in search_symbols(files, "add", 9, opened)]
    assert uris == [files[1].uri, files[0].uri]


def test_compiled_module_precedes_other_passes() -> None:
    other = ("module_0002.jit_g.cl_12.before_optimizations.txt", MODULE)
    assert ["after" in one.uri for one in _found("add.22", other)] == [True, False]


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
    other = ("module_0002.jit_g.cl_12.before_optimizations.txt", MODULE)
    assert "KiB" not in _found("add.22", other)[1].about


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
