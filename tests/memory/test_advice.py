"""Advice on the peak of a memory space."""

import pytest

from hlo_lsp.memory.advice import Advice, AdviceKind
from hlo_lsp.memory.savings import Proof
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.summary import SpaceSummary, SummaryOptions, summarize

_MIB = 1 << 20
_TPU = "module_0001.jit_f.cl_1.after_optimizations-"
_MODULE = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[100,130], y: f32[2]) -> (f32[100,130], f32[2]) {
  %x = f32[100,130]{0,1:T(8,128)S(5)} parameter(0)
  %y = f32[2]{0:T(128)} parameter(1)
  %s = f32[]{:T(128)} fusion(%y), kind=kLoop, calls=%sum
  %a = f32[100,130]{0,1:T(8,128)S(5)} custom-call(%x), custom_call_target="HostExecute"
  %b = f32[2]{0:T(128)} fusion(%y, %s), kind=kLoop, calls=%add
  ROOT %r = (f32[100,130]{0,1:T(8,128)S(5)}, f32[2]{0:T(128)}) tuple(%a, %b)
}
"""
_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 69632, color 5, page 0, parameter 0, shape |f32[100,130]| at ShapeIndex {}:
 value: <1 x @5> (size=69632,offset=0): f32[100,130]{0,1:T(8,128)S(5)}
allocation 1: size 512, page 0, parameter 1, shape |f32[2]| at ShapeIndex {}:
 value: <2 y @0> (size=512,offset=0): f32[2]{0:T(128)}
allocation 2: size 69632, color 5, page 0, maybe-live-out:
 value: <4 a @5> (size=69632,offset=0): f32[100,130]{0,1:T(8,128)S(5)}
allocation 3: size 512, page 0, maybe-live-out:
 value: <5 b @0> (size=512,offset=0): f32[2]{0:T(128)}
allocation 4: size 512, page 0, output shape is |(f32[100,130], f32[2])|, maybe-live-out:
 value: <6 r{} @0> (size=512,offset=0): (f32[100,130]{0,1:T(8,128)S(5)}, f32[2]{0:T(128)})
allocation 5: size 512, page 0, preallocated-temp:
 value: <3 s @0> (size=512,offset=0): f32[]{:T(128)}
"""
_RANGES = """\
HloLiveRange (max 6):
  InstructionSequence:
    0:x
    1:y
    2:s
    3:a
    4:b
    5:r
  BufferLiveRange:
    x{}:0-6
    y{}:0-6
    s{}:2-4
    a{}:3-6
    b{}:4-6
    r{}:5-6
"""


def _savings(kind: AdviceKind, module: str = _MODULE) -> dict[int, list[int]]:
    """Return the bytes that advice of a kind saves in each memory space."""
    files = [DumpFile.of_text(text) for text in (module, _ASSIGNMENT, _RANGES)]
    return {
        space.space: [one.bytes for one in space.advice if one.kind is kind]
        for space in summarize(Compile(files), SummaryOptions(with_negligible=True)).spaces
    }


def test_donation_saves_allocations_of_its_space() -> None:
    assert _savings(AdviceKind.DONATION) == {0: [512], 5: [69632]}


def test_donation_leaves_out_small_arguments() -> None:
    texts = (_MODULE, _ASSIGNMENT, _RANGES)
    texts_in_hbm = [text.replace("S(5)", "").replace("color 5, ", "") for text in texts]
    dump = Compile([DumpFile.of_text(text.replace("@5", "@0")) for text in texts_in_hbm])
    (space,) = summarize(dump, SummaryOptions(with_negligible=True)).spaces
    (donation,) = (one for one in space.advice if one.kind is AdviceKind.DONATION)
    assert donation.text.startswith("donate 1 argument, `parameter 0`, of the shape")


def test_part_of_program_has_no_donation_advice() -> None:
    module = _MODULE.replace("jit_f", "called_computation")
    assert _savings(AdviceKind.DONATION, module) == {0: [], 5: []}


def test_padding_of_scalars_cannot_be_avoided() -> None:
    assert _savings(AdviceKind.PADDING)[0] == [2 * (512 - 8)]


@pytest.mark.parametrize(
    ("saved", "peak", "is_given"),
    [(_MIB, 100 * _MIB, True), (_MIB - 1, 10 * _MIB, False), (_MIB, 101 * _MIB, False)],
    ids=["worth it", "few bytes", "small share"],
)
def test_advice_on_small_savings_is_left_out(saved: int, peak: int, is_given: bool) -> None:
    assignment = _ASSIGNMENT
    for old, size in (("1: size", saved), ("3: size", saved), ("5: size", peak - 2 * saved - 512)):
        assignment = assignment.replace(f"allocation {old} 512", f"allocation {old} {size}")
    assignment = assignment.replace(
        "<3 s @0> (size=512", f"<3 s @0> (size={peak - 2 * saved - 512}"
    )
    dump = Compile([DumpFile.of_text(text) for text in (_MODULE, assignment, _RANGES)])
    for with_negligible in (False, True):
        options = SummaryOptions(space=0, with_negligible=with_negligible)
        kinds = {one.kind for one in summarize(dump, options).spaces[0].advice}
        assert (AdviceKind.DONATION in kinds) == (with_negligible or is_given)


def test_on_chip_memory_has_only_advice_on_padding() -> None:
    module = _MODULE.replace("S(5)", "S(1)")
    files = [
        DumpFile.of_text(
            text.replace("color 5", "color 1").replace("@5", "@1"), f"{_TPU}{number}.txt"
        )
        for number, text in enumerate((module, _ASSIGNMENT, _RANGES))
    ]
    spaces = summarize(Compile(files), SummaryOptions(with_negligible=True)).spaces
    (padding,) = spaces[1].advice
    assert (padding.kind, padding.price) == (AdviceKind.PADDING, "saving unknown")


@pytest.mark.parametrize(
    ("kind", "backends"),
    [
        (AdviceKind.DONATION, {Backend.CPU, Backend.GPU, Backend.TPU}),
        (AdviceKind.DTYPE, {Backend.GPU, Backend.TPU}),
        (AdviceKind.OFFLOAD, {Backend.GPU, Backend.TPU}),
        (AdviceKind.PADDING, {Backend.TPU}),
        (AdviceKind.REMATERIALIZATION, {Backend.CPU, Backend.GPU, Backend.TPU}),
    ],
)
def test_advice_is_for_backends(kind: AdviceKind, backends: set[Backend]) -> None:
    assert {one for one in Backend if kind.applies_to(one)} == {*backends, Backend.UNKNOWN}


_STEP = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[512]) -> f32[512] {
  %x = f32[512]{0} parameter(0)
  %s = f32[512]{0} sine(%x), metadata={op_name="jit(f)/jvp()/sin"}
  ROOT %r = f32[512]{0} cosine(%s)
}
"""
_STEP_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 2048, parameter 0, shape |f32[512]| at ShapeIndex {}:
 value: <1 x @0> (size=2048,offset=0): f32[512]{0}
allocation 1: size 2048, output shape is |f32[512]|, maybe-live-out:
 value: <3 r @0> (size=2048,offset=0): f32[512]{0}
allocation 2: size 2048, preallocated-temp:
 value: <2 s @0> (size=2048,offset=0): f32[512]{0}
"""
_STEP_RANGES = """\
HloLiveRange (max 3):
  InstructionSequence:
    0:x
    1:s
    2:r
  BufferLiveRange:
    x{}:0-3
    s{}:1-2
    r{}:2-3
"""


@pytest.mark.parametrize(("architecture", "is_offered"), [("cpu_", False), ("sm_9.0_gpu_", True)])
def test_cpu_programs_cannot_offload(architecture: str, is_offered: bool) -> None:
    name = f"module_0001.jit_f.{architecture}after_optimizations"
    files = [
        DumpFile.of_text(_STEP, f"{name}.txt"),
        DumpFile.of_text(_STEP_ASSIGNMENT, f"{name}-buffer-assignment.txt"),
        DumpFile.of_text(_STEP_RANGES, f"{name}-live-range.txt"),
    ]
    (space,) = summarize(Compile(files), SummaryOptions(with_negligible=True)).spaces
    kinds = {one.kind for one in space.advice}
    assert AdviceKind.DONATION in kinds
    assert (AdviceKind.OFFLOAD in kinds) == is_offered
    assert (AdviceKind.DTYPE in kinds) == is_offered


def _summary(
    module: str, assignment: str = _STEP_ASSIGNMENT, ranges: str = _STEP_RANGES
) -> SpaceSummary:
    """Return the main memory space of a TPU program."""
    texts = {"": module, "-buffer-assignment": assignment, "-live-range": ranges}
    files = [DumpFile.of_text(text, f"{_TPU[:-1]}{name}.txt") for name, text in texts.items()]
    main = summarize(Compile(files), SummaryOptions(with_negligible=True)).main
    assert main is not None
    return main


def _advice(space: SpaceSummary) -> dict[AdviceKind, Advice]:
    return {one.kind: one for one in space.advice}


_TWO_LAYERS = _STEP.replace(
    "  ROOT %r = f32[512]{0} cosine(%s)",
    '  %u = f32[512]{0} sine(%s), metadata={op_name="jit(f)/jvp()/sin"}\n'
    "  ROOT %r = f32[512]{0} add(%s, %u)",
)
_TWO_ASSIGNMENT = (
    _STEP_ASSIGNMENT.replace("2: size 2048", "2: size 4096").replace("<3 r", "<4 r")
    + " value: <3 u @0> (size=2048,offset=2048): f32[512]{0}\n"
)
_TWO_RANGES = _STEP_RANGES.replace("2:r", "2:u\n    3:r").replace(
    "s{}:1-2\n    r{}:2-3", "s{}:1-3\n    u{}:2-3\n    r{}:3-4"
)


def test_recomputation_saves_at_most_all_activations() -> None:
    found = _advice(_summary(_TWO_LAYERS, _TWO_ASSIGNMENT, _TWO_RANGES))
    assert found[AdviceKind.REMATERIALIZATION].price == "saves at most 4.0 KiB"
    assert found[AdviceKind.OFFLOAD].price == "saving unknown"


def test_data_that_loop_saves_can_be_recomputed() -> None:
    # It has the operation name of the data, not that of the update of the buffer.
    found = _advice(_summary(_STEP.replace("jvp()/sin", "jvp()/while/body/sin")))
    assert found[AdviceKind.REMATERIALIZATION].bytes == 2048


def test_activation_of_one_layer_cannot_be_recomputed() -> None:
    assert AdviceKind.REMATERIALIZATION not in _advice(_summary(_STEP))


@pytest.mark.parametrize(("on_chip", "saved"), [(0, 1024), (512, 1536), (4096, 2048)])
def test_narrow_types_save_half_and_fill_on_chip_memory(on_chip: int, saved: int) -> None:
    vmem = f"allocation 3: size {on_chip}, color 1, preallocated-temp:\n" if on_chip else ""
    dtype = _advice(_summary(_STEP, _STEP_ASSIGNMENT + vmem))[AdviceKind.DTYPE]
    assert dtype.saves_bytes == saved
    assert ("half of 2.0 KiB, and what then fits in on-chip memory" in dtype.text) == bool(on_chip)


def test_saving_of_partitioning_is_unknown() -> None:
    module = _STEP.replace("true\n", "true, num_partitions=4\n").replace(
        "parameter(0)", "parameter(0), sharding={replicated}"
    )
    advice = _advice(_summary(module))[AdviceKind.REPLICATION]
    assert advice.text == "partition 1 replicated argument (2.0 KiB) over 4 devices"
    assert (advice.bytes, advice.price) == (2048 * 3 // 4, "saving unknown")


def test_tuple_tables_have_no_advice() -> None:
    table = " value: <5 t{} @0> (size=2048,offset=2048): (f32[512]{0}, f32[512]{0})\n"
    assignment = _STEP_ASSIGNMENT.replace("2: size 2048", "2: size 4096") + table
    ranges = _STEP_RANGES.replace("s{}:1-2", "s{}:1-2\n    t{}:1-2")
    assert not any("scan" in one.text for one in _summary(_STEP, assignment, ranges).advice)


@pytest.mark.parametrize(
    ("after", "price"),
    [
        (72, "saves 28.00 MiB (compiled)"),
        (90, "saves 10.00 MiB (compiled; estimate: about 28.00 MiB)"),
        (56, "saves 44.00 MiB (compiled; estimate: about 28.00 MiB)"),
        (104, "the peak grows by 4.00 MiB (compiled; estimate: about 28.00 MiB)"),
    ],
)
def test_proof_precedes_an_estimate_that_is_far_off(after: int, price: str) -> None:
    proof = Proof(100 * _MIB, after * _MIB)
    one = Advice(AdviceKind.DONATION, "donate", 28 * _MIB, label="about", proof=proof)
    assert one.price == price
