"""The owners of instructions."""

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.instruction_owners import InstructionKey, group_of, instruction_facts

_TEXT = """\
HloModule m, is_scheduled=true

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0), metadata={op_name="x"}
  %s = (f32[8], f32[8], u32[]) copy-start(%x)
  %d = f32[8] copy-done(%s)
  %y = f32[8] multiply(%d, %d), metadata={op_name="jit(f)/jvp(g)/mul" source_file="/f.py" \
source_line=7}
  %t = (f32[8], f32[8], u32[]) copy-start(%y)
  %e = f32[8] copy-done(%t)
  %n = f32[8] iota(), iota_dimension=0
  ROOT %r = f32[8] add(%e, %n), metadata={op_name="jit(f)/transpose(jvp(g))/add"}
}
"""
_FACTS = instruction_facts(
    Compile([DumpFile.of_text(_TEXT, "m.txt")]), ["s", "d", "y", "t", "e", "n", "r", "none"]
)


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        (
            InstructionKey.LINE,
            {
                "copies of arguments": ["s", "d"],
                "/f.py:7": ["y", "t", "e"],
                "no Python line": ["n", "r"],
            },
        ),
        (
            InstructionKey.SCOPE,
            {
                "no scope": ["s", "d", "n"],
                "jit(f)/jvp(g)": ["y", "t", "e"],
                "jit(f)/transpose(jvp(g))": ["r"],
            },
        ),
        (
            InstructionKey.PHASE,
            {"other": ["s", "d", "n"], "forward": ["y", "t", "e"], "backward": ["r"]},
        ),
        (InstructionKey.COMPUTATION, {"main": ["s", "d", "y", "t", "e", "n", "r"]}),
        (InstructionKey.INSTRUCTION, {name: [name] for name in "sdyten"} | {"r": ["r"]}),
    ],
)
def test_copies_belong_to_what_they_move(key: InstructionKey, groups: dict[str, list[str]]) -> None:
    found: dict[str, list[str]] = {}
    for name, facts in _FACTS.items():
        found.setdefault(group_of(name, facts, key), []).append(name)
    assert found == groups


def test_opcode_and_unknown_name() -> None:
    assert group_of("y", _FACTS["y"], InstructionKey.OPCODE) == "multiply"
    assert "none" not in _FACTS
    assert group_of("none", None, InstructionKey.LINE) == "unknown"


def test_fusion_of_a_library_belongs_to_its_product() -> None:
    text = """\
HloModule m, is_scheduled=true

%fused (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  %dot.1 = f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/dot_general" source_file="/f.py" source_line=12}
  ROOT %e = f32[8,8]{1,0} exponential(%dot.1)
}

ENTRY %main (x: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8]{1,0} parameter(0)
  ROOT %ynn_fusion = f32[8,8]{1,0} fusion(%x), kind=kCustom, calls=%fused, \
metadata={op_name="jit(f)/exp" source_file="/f.py" source_line=13}
}
"""
    lines = []
    for name in ("module_0001.m.cpu_after_optimizations.txt", "m.txt"):
        found = instruction_facts(Compile([DumpFile.of_text(text, name)]), ["ynn_fusion"])
        lines.append((str(found["ynn_fusion"].source), found["ynn_fusion"].op_name))
    assert lines == [("/f.py:12", "jit(f)/dot_general"), ("/f.py:13", "jit(f)/exp")]
    config = ', backend_config={"fusion_config":{"kind":"__ynn_fusion"}}\n}\n'
    unnamed = Compile([DumpFile.of_text(text.removesuffix("\n}\n") + config)])
    assert str(instruction_facts(unnamed, ["ynn_fusion"])["ynn_fusion"].source) == "/f.py:12"


@pytest.mark.parametrize("is_fused", [False, True])
def test_product_belongs_to_the_transpose_of_its_result(is_fused: bool) -> None:
    line = 'metadata={op_name="jit(f)/conv_general_dilated" source_file="/f.py" source_line=12}'
    transpose = f"%t = f32[8,4]{{1,0}} transpose(DATA), dimensions={{1,0}}, {line}"
    fused = "%r = f32[8,4]{1,0} fusion(%ynn_fusion), kind=kLoop, calls=%transposed"
    text = f"""\
HloModule m, is_scheduled=true

%product (p: f32[4,8], q: f32[8,8]) -> f32[4,8] {{
  %p = f32[4,8]{{1,0}} parameter(0)
  %q = f32[8,8]{{1,0}} parameter(1)
  ROOT %c = f32[4,8]{{1,0}} convolution(%p, %q), dim_labels=bf_io->bf
}}

%transposed (v: f32[4,8]) -> f32[8,4] {{
  %v = f32[4,8]{{1,0}} parameter(0)
  ROOT {transpose.replace("DATA", "%v")}
}}

ENTRY %main (x: f32[4,8], w: f32[8,8]) -> f32[8,4] {{
  %x = f32[4,8]{{1,0}} parameter(0)
  %w = f32[8,8]{{1,0}} parameter(1)
  %ynn_fusion = f32[4,8]{{1,0}} fusion(%x, %w), kind=kCustom, calls=%product
  ROOT {fused if is_fused else transpose.replace("DATA", "%ynn_fusion")}
}}
"""
    dump = Compile([DumpFile.of_text(text, "module_0001.m.cpu_after_optimizations.txt")])
    facts = instruction_facts(dump, ["ynn_fusion"])["ynn_fusion"]
    assert (str(facts.source), facts.op_name) == ("/f.py:12", "jit(f)/conv_general_dilated")


def test_collectives_are_grouped_by_axis() -> None:
    text = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %a = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true
  %b = f32[8] all-reduce(%a), channel_id=2, replica_groups={}, use_global_device_ids=true
  %c = f32[8] all-to-all(%b), replica_groups={{0}}
  ROOT %d = f32[8] negate(%c)
}
"""
    names = ["a", "b", "c", "d"]
    facts = instruction_facts(Compile([DumpFile.of_text(text, "m.txt")]), names)
    groups = [group_of(name, facts[name], InstructionKey.AXIS) for name in names]
    assert groups == ["model", "data x model", "unknown axis", "no collective"]
