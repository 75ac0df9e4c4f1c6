"""Hovers of instructions, from all files of a compile."""

import pytest

import marked_dump
from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.hover.origin_text import needs_preparation, prepare_hovers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from ide.hover.facts import dump_of, facts
from sparse_core_texts import offloaded_text

DUMP = marked_dump.split()


def test_instruction_that_defines_a_value() -> None:
    card = instruction_card(DUMP.dump, "negate.7")
    assert card is not None
    assert card.title == "`negate.7` negate"
    assert card.text == "Every element with the opposite sign."
    assert facts(card) == {
        "result": "`f32[16,64]{1,0:T(8,128)S(1)}`: f32 (float), 16 x 64 (1,024 elements), "
        "row-major (dim 1 fastest), tiles (8,128)",
        "logical size": "4,096 B (4.0 KiB)",
        "padded size": "8,192 B (8.0 KiB): padded to T(8,128)",
        "padding": "4,096 B (4.0 KiB), 50.0%: dim 1: 64 -> 128 by T(8,128)",
        "operands": "1: `get-tuple-element` f32[16,64]",
        "users": "1: `fusion.2`",
        "schedule": "step 4 of 6",
        "value": "`<7 negate.7 @1>`",
        "allocation": "4 at offset 0, 8,192 B (8.0 KiB)",
        "shares memory with": "1 value over time: `fusion{0}` 1-4",
        "live range": "4-5 (1 step): `negate.7` -> `fusion.2`, not at VMEM's peak (step 1)",
        "reads": "1 value: `fusion{0}`",
    }


def test_instruction_that_forwards_a_value() -> None:
    shown = facts(instruction_card(DUMP.dump, "get-tuple-element.1"))
    assert shown["forwards"] == "`fusion{1}`"
    assert shown["allocation"] == "4 at offset 8,192, 512 B"
    assert shown["live range"].startswith("1-5 (4 steps): ")
    assert shown["reads"] == "1 value: `fusion{}`"
    assert shown["schedule"] == "step 3 of 6"
    assert "value" not in shown


def test_entry_describes_instruction_without_module_text() -> None:
    shown = facts(instruction_card(marked_dump.one_file().dump, "fusion"))
    assert shown["operands"] == "1: `x.1`"
    assert shown["op_name"] == "`jit(f)/mul`"
    assert shown["source"] == "/home/user/model.py:7"
    assert shown["value"] == "`<4 fusion{} @0>`"


def test_fused_instruction_has_no_allocation_or_step() -> None:
    shown = facts(instruction_card(DUMP.dump, "reduce.1"))
    assert shown["logical size"] == "256 B"
    assert not shown.keys() & {"schedule", "value", "allocation", "live range", "reads"}


def test_untiled_shape_in_module_text_shows_no_padding() -> None:
    module = "HloModule m\n\nENTRY %main () -> f32[3] {\n  %a = f32[3]{0} iota(), dimensions={0}\n}"
    shown = facts(instruction_card(dump_of(module), "a"))
    assert shown["result"] == "`f32[3]{0}`: f32 (float), 3 elements"
    assert shown["logical size"] == "12 B"
    assert not shown.keys() & {"padded size", "padding"}


def test_instruction_with_value_outside_any_allocation() -> None:
    text = " value: <1 a @0> (size=4,offset=8): f32[]\nHloLiveRange (max 9):\n    3:a\n"
    assert facts(instruction_card(dump_of(text), "a")) == {
        "schedule": "step 3 of 9",
        "value": "`<1 a @0>`",
    }


def test_unknown_instruction_has_no_card() -> None:
    assert instruction_card(DUMP.dump, "nobody") is None


def test_async_start_names_its_completion() -> None:
    dump = dump_of("""\
HloModule m

ENTRY %e (p: f32[8], t: token[]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = token[] parameter(1)
  %s = ((f32[8]{0}), f32[8]{0}, u32[]) negate-start(%p)
  %u = ((f32[8]{0}), f32[8]{0}, u32[]) negate-update(%s)
  ROOT %d = f32[8]{0} negate-done(%u)
  %out = (f32[8]{0}, u32[], token[]) send(%d, %t), channel_id=1
  %sent = token[] send-done(%out), channel_id=1
}
""")
    for start, done in {"s": "d", "u": "d", "out": "sent"}.items():
        assert facts(instruction_card(dump, start))["completed by"] == f"`{done}`"
    shown = facts(instruction_card(dump, "d"))
    assert shown["users"] == "1: `out` (also the computation root)"
    assert "completed by" not in shown


def test_prepared_and_searched_counterparts_are_the_same() -> None:
    add = '%add.{} = f32[] add(%p, %p), metadata={{op_name="jit(f)/add"}}\n'
    start = "HloModule jit_f\n\nENTRY %main (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
    stem = "module_0001.jit_f"
    text = start + "".join(f"  {add.format(number)}" for number in range(600)) + "}\n"
    before = DumpFile.of_text(text, f"{stem}.before_optimizations.txt")
    name = f"{stem}.cpu_after_optimizations.txt"
    after = DumpFile.of_text(f"{start}  ROOT {add.format(1)}}}\n", name)
    for is_prepared in (False, True):
        dump = Compile([after], others=[before])
        assert needs_preparation(dump)
        if is_prepared:
            prepare_hovers(dump)
        shown = facts(instruction_card(dump, "add.1"))["in before_optimizations"]
        assert shown == "`add.1`, `add.0`, `add.2`, `add.3` and 596 more"


@pytest.mark.parametrize("name", ["start", "update", "done", "inner"])
def test_parts_of_offloaded_collective_name_it(name: str) -> None:
    found = facts(instruction_card(dump_of(offloaded_text("all-gather")), name))
    assert found["operation"] == "`all-gather`, `run`"
    assert found["replica groups"] == "1 group of 2 devices: {0,1}"
