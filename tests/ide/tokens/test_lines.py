"""The tokens of memory files and thunks."""

import pytest

from ide.tokens.helpers import tokens_by_line
from lsp.opened import DUMP

# A line of each kind, a text that makes it one, and what its parts are.
LINES = {
    "allocation 3: size 20, color 1, page 2, preallocated-temp, new-field:": (
        "3/number 20/number 1/memory_space 2/number preallocated-temp/attribute "
        "new-field/attribute"
    ),
    "allocation 0: size 512, parameter 0, shape |f32[4]{0:T(8)S(1)}| at ShapeIndex {1,2}:": (
        "0/number 512/number 0/number f32/element_type 4/number 0/number T(8)/tile "
        "S(1)/memory_space 1/number 2/number"
    ),
    " value: <7 fusion{0} (phi) @1> (size=512,offset=4): f32[4]{0:T(128)}": (
        "7/number fusion/instruction+declaration 0/number phi/attribute 1/memory_space "
        "512/number 4/number f32/element_type 4/number 0/number T(128)/tile"
    ),
    "Total bytes used: 2048 (2.0KiB)": "2048/number 2.0KiB/number",
    "<7 fusion{0} @1>": "7/number fusion/instruction+declaration 0/number 1/memory_space",
    " positions:": "",
    "  fusion {0,1}": "fusion/instruction 0/number 1/number",
    "  add, operand 1 {2}": "add/instruction 1/number 2/number",
    "  (none)": "",
    " from instruction: %x = f32[] add(%a, %b), calls=%f": (
        "%x/instruction+declaration f32/element_type add/opcode %a/instruction %b/instruction "
        "calls/attribute %f/computation"
    ),
    "HloLiveRange (max 3):": "3/number",
    "    0:x.1": "0/number x.1/instruction",
    "    x{0}:0-3": "x/instruction 0/number 0/number 3/number",
    "  Live ranges at 2 (peak):": "2/number",
    "    add{}: 16 bytes (cumulative: 32 bytes)": "add/instruction 16/number 32/number",
    "      ├── jit(f)/add (33.3%, total: 1 600 bytes, current: 16 bytes, remaining: 0 bytes)": (
        "jit(f)/add/string 33.3/number 1 600/number 16/number 0/number"
    ),
    "Memory Space: vmem (color=1)": "vmem/memory_space 1/memory_space",
    "   4.1KiB( 20%);     512B;        0;          2; 5×f32[4,2], (s32[])": (
        "4.1KiB/number 20/number 512B/number 0/number 2/number 5/number f32/element_type 4/number "
        "2/number s32/element_type"
    ),
    "memory_space_allocation_entries {": "",
    '  name: "x"': '"x"/string',
    "001: kCopy  [source       | next=003 (2)] kCopy": (
        "001/number kCopy/opcode 003/number 2/number"
    ),
    "004: kKernel\t, kernel = loop_fusion, launch dimensions = blocks: {24, 1}": (
        "004/number kKernel/opcode kernel/attribute loop_fusion/computation "
        "launch dimensions/attribute blocks/attribute 24/number 1/number"
    ),
    "005: kGemm\tprofile_annotation = dot.3": (
        "005/number kGemm/opcode profile_annotation/attribute dot.3/instruction"
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_field_tokens(line: str) -> None:
    thunks = "001: kCopy  [source | sink] x" if " k" in line[:6] else "BufferAssignment:"
    assert tokens_by_line(f"{thunks}\n{line}\n")[1] == LINES[line]


def test_broken_lines_have_rule_independent_tokens() -> None:
    assert tokens_by_line("BufferAssignment:\n value: <7 %x (f(a=3): f32[4]{0:T(128)}\n")[1] == (
        "7/number %x/instruction 3/number f32/element_type 4/number 0/number T(128)/tile"
    )


def test_every_line_with_fields_has_tokens() -> None:
    bare = {
        line.strip()
        for line, found in zip(DUMP.split("\n"), tokens_by_line(DUMP), strict=True)
        if not found
    }
    assert bare == {
        "", "BufferAssignment:", "Used values:", "positions:", "uses:", "InstructionSequence:",
        "BufferLiveRange:",
    }  # fmt: skip
