"""Tests for the fast recognition of instructions without damaged and unknown parts."""

import pytest

from hlo_lsp.model.regular_instructions import is_regular
from hlo_lsp.model.unknown_parts import parts_of_record
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.scanners import module_scanner

_CONFIG = 'backend_config={"a":[{"b":{"c":[{"d":["1"]}]}}],"e":"}"}'


def _instruction(text: str) -> InstructionLine:
    record = module_scanner().read([text, "}"], 0)
    assert isinstance(record, InstructionLine)
    return record


def _is_regular(text: str) -> bool:
    record = _instruction(text)
    return is_regular(record.text, record.opened, record.opcode, record.shape)


@pytest.mark.parametrize(
    "text",
    [
        "  %a = f32[8]{0:T(128)S(1)} add(%b, %c#1)",
        "  ROOT %a = (f32[], /*index=1*/f32[8]) tuple(%b, /*index=1*/%c)",
        "  %a = f32[8] add(f32[8]{0} %b, f32[8]{0} %c)",
        "  %a = f32[8] negate(%b), sharding={replicated}, metadata={}",
        "  %a = f32[] constant(-inf)",
        '  %a = f32[8] negate(%b), metadata={op_name="f({, x" source_line=3}',
        f"  %a = f32[8] fusion(%b), kind=kLoop, calls=%f, {_CONFIG}",
    ],
)
def test_usual_instruction_is_regular(text: str) -> None:
    assert _is_regular(text)


@pytest.mark.parametrize(
    "text",
    [
        "  %a = f32x[8] add(%b, %c)",
        "  %a = f32[8]{0:Q(3)} add(%b, %c)",
        "  %a = f32[8] sharpen(%b)",
        "  %a = f32[8] add(%b, %c@2)",
        "  %a = f32[8] add(f32x[8] %b, %c)",
        "  %a = f32[8] add(%b, %c) metadata={}",
        "  %a = f32[8] add(%b, %c), fast",
        "  %a = f32[8] add(%b, %c), tiling={1}",
        "  %a = f32[8] reduce(%b, %c), dimensions=[0]",
        "  %a = f32[8] negate(%b), metadata={thread=3}",
        "  %a = f32[8] negate(%b), metadata={op_name=}",
        "  %a = f32[8] negate(%b), calls=",
        "  %a = f32[8] negate(%b), sharding={manual}",  # its value is read in full
    ],
)
def test_other_instructions_are_read_in_parts(text: str) -> None:
    assert not _is_regular(text)


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("slice={[0:8], [2:8:2]}", "slice={[0:8 by 1]}"),
        ("padding=0_0x-1_2_1", "padding=same:0_0"),
        ("window={size=3x1 pad=1_-1x0_0 rhs_reversal=1x0}", "window={shape=full size=3}"),
        ("window={}", "window={size=3:1}"),
        ("source_target_pairs={{0,1},{1,0}}", "source_target_pairs={0->1,1->0}"),
        ("dim_labels=b01f_01io->b01f", "dim_labels=[b01f]x[01io]->b01f"),
    ],
)
def test_notation_of_a_value_is_read(known: str, unknown: str) -> None:
    assert _is_regular(f"  %a = f32[8] copy(%b), {known}")
    text = f"  %a = f32[8] copy(%b), {unknown}, metadata={{}}"
    assert not _is_regular(text)
    (part,) = parts_of_record(FileKind.MODULE, _instruction(text), [text])
    assert (part.what, part.text) == ("form of the attribute", unknown.partition("=")[0])


def test_regular_instructions_have_no_unknown_parts() -> None:
    texts = [
        f"  %a = {shape} {opcode}({operands}){attributes}"
        for shape in ("f32[8]", "f32x[8]", "(f32[], q[])", "f32[8]{0:Z(1)}")
        for opcode in ("add", "sharpen", "constant")
        for operands in ("%b, %c", "%b, %c!", "f32[8] %b", "q[8] %b", "", "{1, 2}")
        for attributes in ("", ", kind=kLoop", ", kind={1}", ", new=1", ", @", "@", ", a<1>={}")
    ]
    for text in texts:
        found = list(parts_of_record(FileKind.MODULE, _instruction(text), [text]))
        assert not (_is_regular(text) and found), text
