"""Arguments by donation, what donations save, and donated bytes that are idle."""

from hlo_lsp.memory.advice import AdviceKind, advice_at_peaks
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.donation_savings import IdleDonation, donation_saving, idle_donations
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_STEM = "module_0001.jit_f.cpu_after_optimizations"

# `x` is donated to the output `r`, but `e` has other bytes while those of `x` are idle.
_MODULE = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}) }

ENTRY %main (x: f32[512]) -> f32[512] {
  %x = f32[512]{0} parameter(0), metadata={op_name="p[\\'w\\']"}
  %e = f32[512]{0} exponential(%x)
  %s = f32[8]{0} slice(%e), slice={[0:8]}
  %c = f32[8]{0} cosine(%s)
  ROOT %r = f32[512]{0} custom-call(%e, %c), custom_call_target="f"
}
"""
_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 2048, parameter 0, shape |f32[512]| at ShapeIndex {}, output shape is |f32[512]|, maybe-live-out:
 value: <0 x @0> (size=2048,offset=0): f32[512]{0}
 value: <4 r @0> (size=2048,offset=0): f32[512]{0}
allocation 1: size 2112, preallocated-temp:
 value: <1 e @0> (size=2048,offset=0): f32[512]{0}
 value: <2 s @0> (size=32,offset=2048): f32[8]{0}
 value: <3 c @0> (size=32,offset=2080): f32[8]{0}
"""  # noqa: E501
_RANGES = """\
HloLiveRange (max 5):
  InstructionSequence:
    0:x
    1:e
    2:s
    3:c
    4:r
  BufferLiveRange:
    x{}:0-1
    e{}:1-4
    s{}:2-3
    c{}:3-4
    r{}:4-5
"""


def _dump(module: str = _MODULE, assignment: str = _ASSIGNMENT, ranges: str = _RANGES) -> Compile:
    texts = {"": module, "-buffer-assignment": assignment, "-live-range": ranges}
    return Compile(
        [DumpFile.of_text(text, f"{_STEM}{name}.txt") for name, text in texts.items() if text]
    )


def _arguments(dump: Compile) -> list[Argument]:
    return list(donated_arguments(dump) or ())


def _idle(dump: Compile) -> IdleDonation:
    (found,) = idle_donations(dump, 0, 1, 9)
    return found


def test_donated_argument_names_its_path_and_idle_steps() -> None:
    (argument,) = _arguments(_dump())
    assert (argument.name, argument.bytes, argument.state) == (
        "p['w']",
        2048,
        DonationState.DONATED,
    )
    assert (argument.output, argument.idle_bytes, argument.idle_steps) == ((), 2048, (2, 3))


def test_idle_bytes_name_the_instruction_that_could_reuse_them() -> None:
    idle = _idle(_dump())
    assert idle.instruction is not None
    assert (idle.instruction.name, idle.step, idle.saves_bytes) == ("e", 1, 2048)
    assert idle.reason == "XLA gave it other bytes, although nothing in the dump prevents it"


def test_idle_bytes_are_advice() -> None:
    texts = (
        text.replace("f32[512]", "f32[524288]").replace("size=2048", "size=2097152")
        for text in (_MODULE, _ASSIGNMENT.replace("size 2048", "size 2097152"), _RANGES)
    )
    module, assignment, ranges = texts
    assignment = assignment.replace("size 2112", "size 2097216").replace(
        "offset=20", "offset=20971"
    )
    (one,) = (
        one
        for one in advice_at_peaks(_dump(module, assignment, ranges), False)
        if one.kind is AdviceKind.IN_PLACE
    )
    assert (one.bytes, one.saves_bytes, one.price) == (2097152, None, "saving unknown")
    assert one.text.startswith(
        "use the 2.00 MiB of the donated argument `p['w']`, which are idle at steps 2-3: `e` could "
    )


def test_later_reader_prevents_work_in_place() -> None:
    module = _MODULE.replace("slice(%e)", "slice(%x)")
    ranges = _RANGES.replace("x{}:0-1", "x{}:0-2")
    assert _idle(_dump(module, ranges=ranges)).reason == "`s` reads the argument later at step 2"


def test_other_layout_prevents_work_in_place() -> None:
    module = _MODULE.replace("%e = f32[512]{0} exp", "%e = s32[512]{0} exp")
    assert _idle(_dump(module)).reason == "its result has another shape, `s32[512]{0}`"


def test_result_in_another_memory_space_saves_nothing() -> None:
    on_chip = """\
allocation 1: size 2048, color 1, preallocated-temp:
 value: <1 e @0> (size=2048,offset=0): f32[512]{0:S(1)}
allocation 2: size 64, preallocated-temp:
 value: <2 s @0> (size=32,offset=0): f32[8]{0}
 value: <3 c @0> (size=32,offset=32): f32[8]{0}
"""
    assignment = _ASSIGNMENT[: _ASSIGNMENT.index("allocation 1")] + on_chip
    module = _MODULE.replace("%e = f32[512]{0} exp", "%e = f32[512]{0:S(1)} exp")
    idle = _idle(_dump(module, assignment))
    assert idle.reason == "its result is in another memory space, `f32[512]{0:S(1)}`"
    assert idle.saves_bytes == 0


def test_copy_of_donated_argument_is_named() -> None:
    module = _MODULE.replace("exponential(%x)", "copy(%x)")
    assert _idle(_dump(module)).reason == "`e` only copies it"


def test_unused_donation_has_the_reason() -> None:
    module = _MODULE.replace("input_output_alias={ {}: (0, {}) }", "buffer_donor={ (0, {}) }")
    (argument,) = _arguments(_dump(module.replace("%r = f32[512]", "%r = f32[64]")))
    assert argument.state is DonationState.UNUSED
    assert argument.reason == "no output has its type and dimensions"


def test_sizes_without_buffer_assignment_follow_from_shapes() -> None:
    (argument,) = _arguments(_dump(assignment="", ranges=""))
    assert (argument.bytes, argument.idle_bytes) == (2048, None)


# Without donation, `e` is in the buffer of the output until the output is written.
_FREE = _MODULE.replace(", input_output_alias={ {}: (0, {}) }", "")
_OUTPUT = """\
BufferAssignment:
allocation 0: size 2048, parameter 0, shape |f32[512]| at ShapeIndex {}:
 value: <0 x @0> (size=2048,offset=0): f32[512]{0}
allocation 1: size 2048, output shape is |f32[512]|, maybe-live-out:
 value: <1 e @0> (size=2048,offset=0): f32[512]{0}
 value: <4 r @0> (size=2048,offset=0): f32[512]{0}
allocation 2: size 64, preallocated-temp:
 value: <2 s @0> (size=32,offset=0): f32[8]{0}
 value: <3 c @0> (size=32,offset=32): f32[8]{0}
"""


_READ_LATER = _FREE.replace("cosine(%s)", "cosine(%s), control-predecessors={%x}").replace(
    "slice(%e)", "slice(%x)"
)
_RANGES_READ_LATER = _RANGES.replace("x{}:0-1", "x{}:0-5").replace("e{}:1-4", "e{}:1-3")


def _saving(module: str, ranges: str, assignment: str = _OUTPUT) -> int:
    dump = _dump(module, assignment, ranges)
    (occupancy,) = memory_space_occupancies(dump)
    arguments = _arguments(dump)
    assert [one.state for one in arguments] == [DonationState.USABLE]
    return donation_saving(dump, arguments, occupancy)


def test_donation_saves_the_buffer_of_the_output() -> None:
    assert _saving(_FREE, _RANGES_READ_LATER) == 2048


def test_donation_saves_nothing_while_a_temporary_needs_the_bytes() -> None:
    assert _saving(_READ_LATER, _RANGES_READ_LATER) == 32


def test_displaced_bytes_that_values_share_count_once() -> None:
    e = " value: <1 e @0> (size=2048,offset=0): f32[512]{0}\n"
    assignment = _OUTPUT.replace(e, e + e.replace("1 e", "5 b"))
    ranges = f"{_RANGES_READ_LATER}    b{{}}:1-3\n"
    assert _saving(_READ_LATER, ranges, assignment) == 32


def test_token_cannot_be_donated() -> None:
    module = """\
HloModule jit_f, is_scheduled=true, buffer_donor={ (1, {}) }

ENTRY %main (t: token[], u: token[], x: f32[512]) -> (token[], f32[512]) {
  %t = token[] parameter(0)
  %u = token[] parameter(1)
  %x = f32[512]{0} parameter(2)
  %e = f32[512]{0} exponential(%x)
  ROOT %r = (token[], f32[512]{0}) tuple(%t, %e)
}
"""
    states = {one.shape: one.state for one in _arguments(_dump(module, "", ""))}
    assert states == {"token[]": DonationState.KEPT, "f32[512]{0}": DonationState.USABLE}
