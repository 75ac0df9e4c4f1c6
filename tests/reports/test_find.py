"""Buffers by name, Python line, shape, and scope."""

import pytest

from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.find import (
    FindQuery,
    QueryKind,
    find_buffers,
    found_content,
    found_json,
    name_match,
)
from reports.example import ASSIGNMENT, MODULE, RANGES, example


def _names(text: str, *texts: str) -> list[str]:
    return [one.name for one in find_buffers(example(*texts), FindQuery.of(text)).buffers]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fusion.1", QueryKind.NAME),
        ("%copy-start.41{0}", QueryKind.NAME),
        ("train.py:27", QueryKind.LINE),
        ("/home/user/model.py:7", QueryKind.LINE),
        ("models/train.py", QueryKind.LINE),
        ("m['layers'][0]['w1']", QueryKind.NAME),
        ("params[1][0]", QueryKind.NAME),
        ("f32[8,128]", QueryKind.SHAPE),
        ("bf16[]{:T(256)}", QueryKind.SHAPE),
        ("(f32[8], s32[])", QueryKind.SHAPE),
        ("transpose(jvp(layer))", QueryKind.SCOPE),
        ("layer/dot_general", QueryKind.SCOPE),
    ],
)
def test_kind_of_query_is_recognized(text: str, kind: QueryKind) -> None:
    assert FindQuery.of(text).kind is kind


def test_line_finds_the_buffers_of_its_data() -> None:
    assert _names("model.py:7") == ["c", "b", "r"]
    assert _names("user/model.py:3") == ["a"]
    assert _names("other.py:3") == []


def test_file_finds_the_buffers_of_all_lines() -> None:
    assert _names("model.py") == ["a", "c", "b", "r"]
    assert _names("user/model.py") == _names("model.py")
    assert _names("del.py") == []


def test_argument_finds_its_buffers() -> None:
    copied = MODULE.replace("sine(%x)", "copy(%x)").replace("f32[512]{0} copy", "f32[256]{0} copy")
    assert _names("p['w']", ASSIGNMENT, RANGES, copied) == ["a", "x"]
    assert _names("['w']") == ["x"]
    assert _names("pw") == []


def test_line_without_buffers_finds_its_instructions() -> None:
    (found,) = find_buffers(example(MODULE), FindQuery.of("model.py:3")).buffers
    assert (found.name, found.bytes, found.space) == ("a", 0, None)


def test_shape_finds_any_layout() -> None:
    assert _names("f32[512]") == ["a", "c"]
    assert _names("f32[512]{0}") == ["a", "c"]
    assert _names("f32[512]{0:T(256)}") == []


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("f32[64,64]{0,1}", ["a"]),
        ("f32[64,64]{1,0}", []),
        ("f32[64,64]{0,1:T(8,128)}", ["a"]),
        ("f32[64,64]{0,1:T(4,128)}", []),
        ("f32[64,64]{0,1:T(8,128)S(1)}", ["a"]),
        ("f32[64,64]{0,1:T(8,128)S(5)}", []),
    ],
)
def test_layout_matches_what_the_query_names(query: str, names: list[str]) -> None:
    tiled = ASSIGNMENT.replace("f32[512]{0}", "f32[64,64]{0,1:T(8,128)S(1)}", 1)
    assert _names(query, tiled, RANGES, MODULE) == names


def test_scope_finds_parts_of_op_name() -> None:
    assert _names("jvp()/sin") == ["a"]


def test_equal_name_hides_other_matches() -> None:
    assert _names("a") == ["a"]


def test_name_without_equal_one_finds_parts() -> None:
    longer = [
        ASSIGNMENT.replace("2 a @", "2 sine.1 @"),
        RANGES.replace("a{}", "sine.1{}"),
        MODULE.replace("%a", "%sine.1"),
    ]
    assert _names("sin", *longer) == ["sine.1"]
    assert _names("se1", *longer) == ["sine.1"]


def test_compiled_module_precedes_other_passes() -> None:
    compiled = [DumpFile.of_text(text) for text in (ASSIGNMENT, RANGES, MODULE)]
    before = DumpFile.of_text(MODULE)
    found = find_buffers(Compile(compiled, others=[before]), FindQuery.of("a")).buffers
    assert [(one.file is before, one.pass_rank) for one in found] == [(False, 0), (True, 1)]


def test_shares_are_bytes_at_the_peak() -> None:
    (share,) = find_buffers(example(), FindQuery.of("f32[512]")).shares
    assert (share.bytes, share.peak_bytes, share.step) == (2048, 5120, 2)


def test_text_has_sums_and_places() -> None:
    found = find_buffers(example(), FindQuery.of("f32[512]"))
    first, second, *others = text_lines(found_content(found, 1))
    assert first == "jit_f: 2 buffers, 2.0 KiB of 5.0 KiB at the peak of memory space 0 (step 2)"
    words = "2.0 KiB memory space 0 a f32[512]{0} steps 1-2 at the peak model.py:3 main dump.txt:20"
    assert " ".join(second.split()) == words
    assert others == ["  and 1 more (2.0 KiB)"]


def test_json_has_the_size_at_the_peak() -> None:
    facts = found_json(find_buffers(example(), FindQuery.of("x")))
    (buffer,) = facts["buffers"]
    assert (buffer["bytes"], buffer["bytes_at_peak"], buffer["argument"]) == (1024, 1024, "p['w']")


def test_case_counts_with_a_capital_letter() -> None:
    assert name_match("FUSION", "fusion.1") is None
    assert name_match("fusion", "Fusion") == 0
