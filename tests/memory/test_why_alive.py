"""Why buffers are alive: uses, the last consumer, and what it waits for."""

from hlo_lsp.memory.why_alive import Lifetime, buffer_donation, lifetime_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.donation import DonationStatus

MODULE = """\
HloModule step, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }

%body (arg: (s32[], f32[8])) -> (s32[], f32[8]) {
  %arg = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %x = f32[8]{0} get-tuple-element(%arg), index=1
  %double = f32[8]{0} add(%x, %x)
  ROOT %next = (s32[], f32[8]{0}) tuple(%i, %double)
}

%condition (arg.1: (s32[], f32[8])) -> pred[] {
  %arg.1 = (s32[], f32[8]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%arg.1), index=0
  ROOT %less = pred[] compare(%i.1, %i.1), direction=LT
}

ENTRY %main (p: f32[8], q: f32[8], r: f32[4]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %r = f32[4]{0} parameter(2)
  %forward = f32[8]{0} sine(%p), metadata={op_name="jit(f)/jvp()/sin"}
  %offload = (f32[8]{0:S(5)}, f32[8]{0}, u32[]) copy-start(%forward)
  %offloaded = f32[8]{0:S(5)} copy-done(%offload)
  %slow.remat = f32[8]{0} cosine(%q), metadata={op_name="jit(f)/transpose(jvp())/cos"}
  %reload = (f32[8]{0}, f32[8]{0:S(5)}, u32[]) copy-start(%offloaded)
  %reloaded = f32[8]{0} copy-done(%reload)
  %product = f32[8]{0} multiply(%reloaded, %slow.remat)
  %zero = s32[] constant(0)
  %init = (s32[], f32[8]{0}) tuple(%zero, %product)
  %loop = (s32[], f32[8]{0}) while(%init), condition=%condition, body=%body
  %last = f32[8]{0} get-tuple-element(%loop), index=1
  %kept = f32[8]{0} negate(%q)
  ROOT %results = (f32[8]{0}, f32[8]{0}) tuple(%last, %kept)
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <0 p @0> (size=32,offset=0): f32[8]{0}
allocation 1: size 32, parameter 1, shape |f32[8]| at ShapeIndex {}, maybe-live-out:
 value: <1 q @0> (size=32,offset=0): f32[8]{0}
allocation 2: size 16, parameter 2, shape |f32[4]| at ShapeIndex {}:
 value: <2 r @0> (size=16,offset=0): f32[4]{0}
allocation 3: size 160, preallocated-temp:
 value: <3 forward @0> (size=32,offset=0): f32[8]{0}
 value: <4 slow.remat @0> (size=32,offset=32): f32[8]{0}
 value: <5 product @0> (size=32,offset=64): f32[8]{0}
 value: <6 kept @0> (size=32,offset=96): f32[8]{0}
"""
_SCHEDULE = (
    "p q r forward offload offloaded slow.remat reload reloaded product zero init arg i x double "
    "next arg.1 i.1 less loop last kept results"
)
RANGES = (
    "HloLiveRange (max 24):\n  InstructionSequence:\n"
    + "".join(f"    {step}:{name}\n" for step, name in enumerate(_SCHEDULE.split()))
    + "  BufferLiveRange:\n    forward{}:3-5\n    slow.remat{}:6-9\n    product{}:9-15\n"
)


def _dump(*texts: str) -> Compile:
    return Compile([DumpFile.of_text(text) for text in texts or (ASSIGNMENT, RANGES, MODULE)])


def _donation(name: str) -> DonationStatus | None:
    dump = _dump()
    value = dump.value_at(name)
    assert value is not None
    return buffer_donation(dump, value)


def _lifetime(name: str, *texts: str) -> Lifetime:
    dump = _dump(*texts)
    value = dump.value_at(name)
    assert value is not None
    found = lifetime_of(dump, value)
    assert found is not None
    return found


def _uses(found: Lifetime) -> list[tuple[int | None, str, str | None]]:
    return [(use.step, use.instruction.name, use.copy) for use in found.uses]


def test_uses_are_in_schedule_order() -> None:
    assert _uses(_lifetime("q")) == [(6, "slow.remat", None), (22, "kept", None)]


def test_uses_include_those_of_copies() -> None:
    found = _lifetime("forward")
    assert _uses(found) == [
        (4, "offload", None),
        (7, "reload", "offload"),
        (9, "product", "offload"),
    ]


def test_last_consumer_skips_copies() -> None:
    found = _lifetime("forward")
    assert found.last_consumer is not None
    assert found.last_consumer.instruction.name == "product"
    assert found.last_consumer.copy == "offload"


def test_last_consumer_waits_for_latest_operand() -> None:
    found = _lifetime("forward")
    assert found.awaited is not None
    assert (found.awaited.instruction.name, found.awaited.step) == ("slow.remat", 6)


def test_operand_before_the_value_is_not_awaited() -> None:
    assert _lifetime("slow.remat").awaited is None


def test_uses_inside_loops_are_found() -> None:
    found = _lifetime("product")
    assert _uses(found) == [(15, "double", None)]
    assert found.awaited is None


def test_loop_uses_the_result_of_its_condition() -> None:
    values = " value: <7 less @0> (size=1,offset=128): pred[]\n"
    assert _uses(_lifetime("less", ASSIGNMENT + values, RANGES, MODULE)) == [(20, "loop", None)]


def test_slice_does_not_copy_its_start_index() -> None:
    module = MODULE.replace(
        "  %init =",
        "  %part = f32[2]{0} dynamic-slice(%q, %zero), dynamic_slice_sizes={2}\n  %init =",
    )
    values = " value: <7 zero @0> (size=4,offset=128): s32[]\n"
    found = _lifetime("zero", ASSIGNMENT + values, RANGES, module)
    assert ("part", False) in [(use.instruction.name, use.is_copy) for use in found.uses]


def test_tables_and_semaphores_are_used_by_done() -> None:
    values = """\
 value: <7 offload{} @0> (size=24,offset=128): (f32[8]{0:S(5)}, f32[8]{0}, u32[])
 value: <8 offload{2} @0> (size=4,offset=152): u32[]
"""
    done = [(5, "offloaded", None)]
    for index in ("{}", "{2}"):
        dump = Compile([DumpFile.of_text(text) for text in (ASSIGNMENT + values, RANGES, MODULE)])
        value = dump.value_at("offload", index)
        assert value is not None
        found = lifetime_of(dump, value)
        assert found is not None
        assert _uses(found) == done


def test_tuple_table_is_read_by_get_tuple_element() -> None:
    values = " value: <7 init{} @0> (size=16,offset=128): (s32[], f32[8]{0})\n"
    found = _lifetime("init", ASSIGNMENT + values, RANGES, MODULE)
    assert [name for _, name, _ in _uses(found)] == ["i", "x", "i.1"]


def test_output_is_recognized() -> None:
    assert _lifetime("kept").is_output
    assert not _lifetime("forward").is_output


def test_passes_are_those_of_op_name() -> None:
    assert _lifetime("forward").is_backward is False
    assert _lifetime("slow.remat").is_backward is True
    assert _lifetime("kept").is_backward is None


def test_rematerialized_value_is_recognized() -> None:
    assert _lifetime("slow.remat").is_rematerialized
    assert not _lifetime("forward").is_rematerialized


def test_copy_in_host_memory_is_offloading() -> None:
    assert _lifetime("forward").is_offloaded
    assert not _lifetime("product").is_offloaded


def test_donated_argument_names_its_output() -> None:
    found = _donation("q")
    assert found is not None
    assert (found.is_donated, found.output) == (True, (0,))


def test_fitting_argument_names_the_open_output() -> None:
    found = _donation("p")
    assert found is not None
    assert (found.is_donated, found.fits, found.obstacle) == (False, (1,), None)


def test_other_argument_names_the_first_mismatch() -> None:
    found = _donation("r")
    assert found is not None
    assert found.obstacle == "no output has its type and dimensions"


def test_temporary_has_no_donation() -> None:
    assert _donation("forward") is None


def test_uses_have_no_steps_without_live_ranges() -> None:
    found = _lifetime("q", ASSIGNMENT, MODULE)
    assert _uses(found) == [(None, "slow.remat", None), (None, "kept", None)]


def test_lifetime_is_unknown_without_module_text() -> None:
    dump = Compile([DumpFile.of_text(ASSIGNMENT)])
    value = dump.value_at("p")
    assert value is not None
    assert lifetime_of(dump, value) is None
