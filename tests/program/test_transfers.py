"""Asynchronous operations, and what runs between their start and their done."""

import pytest

from fused_collective import FUSED_COLLECTIVE, REDUCE_SCATTER
from hlo_lsp.cost.chips import chips
from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.transfers import async_operations, is_communication
from hlo_lsp.reports.overlap import overlap_content, overlap_of

_MODULE = """\
HloModule jit_f, is_scheduled=true

%slice_computation (s: f32[8]) -> f32[4] {
  %s = f32[8]{0} parameter(0)
  ROOT %part = f32[4]{0:S(1)} slice(%s), slice={[0:4]}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="p['w']"}
  %hidden = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%x)
  %y = f32[8]{0} sine(%x)
  %hidden.1 = f32[8]{0:S(1)} copy-done(%hidden)
  %exposed = ((f32[8]{0}), f32[4]{0:S(1)}, s32[]) async-start(%y), calls=%slice_computation
  %g = f32[8]{0} bitcast(%y)
  %exposed.1 = f32[4]{0:S(1)} async-done(%exposed)
  ROOT %r = f32[8]{0} add(%g, %hidden.1)
}
"""


def _dump(text: str = _MODULE) -> Compile:
    return Compile([DumpFile.of_text(text)])


def test_work_between_start_and_done_is_counted() -> None:
    found = async_operations(_dump().files[0].module)
    assert found is not None
    assert [
        (one.kind, one.bytes, one.source_space, one.target_space, one.work) for one in found
    ] == [
        ("copy", 32, 0, 1, 1),
        ("slice", 16, 0, 1, 0),
    ]


def test_module_without_schedule_is_unknown() -> None:
    text = _MODULE.replace(", is_scheduled=true", "")
    assert list(text_lines(overlap_content(overlap_of(_dump(text)), 5, "jit_f"))) == [
        "jit_f: no scheduled module text, so the overlap is unknown"
    ]


def test_exposed_operations_have_their_origin() -> None:
    lines = list(text_lines(overlap_content(overlap_of(_dump()), 5, "jit_f")))
    assert lines[0] == (
        "jit_f: 2 asynchronous operations, 48 B in one run; exposed 1, 16 B"
        " (no computation runs meanwhile)"
    )
    assert lines[-1] == "   16 B  16 B           1  exposed -> exposed.1"


def test_moved_bytes_of_update_are_those_of_the_update() -> None:
    update = "ROOT %part = f32[8]{0} dynamic-update-slice(%s, %s, %s)"
    text = _MODULE.replace("ROOT %part = f32[4]{0:S(1)} slice(%s), slice={[0:4]}", update)
    text = text.replace("async-start(%y)", "async-start(%x, %hidden.1)")
    found = async_operations(_dump(text).files[0].module)
    assert found is not None
    assert (found[1].kind, found[1].bytes, found[1].source_space) == ("dynamic-update-slice", 32, 1)


def test_synchronous_collectives_are_listed_by_size() -> None:
    text = """\
HloModule jit_f, is_scheduled=true

%gather (s: f32[8]) -> f32[16] {
  %s = f32[8]{0} parameter(0)
  ROOT %part = f32[16]{0} all-gather(%s), dimensions={0}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %small = f32[8]{0} collective-permute(%x), source_target_pairs={{0,1}}
  %start = ((f32[8]{0}), f32[16]{0}) async-start(%small), calls=%gather
  %large = f32[32]{0} all-gather(%small), dimensions={0}
  %done = f32[16]{0} async-done(%start)
  ROOT %r = f32[8]{0} collective-permute(%x), source_target_pairs={{0,1}}
}
"""
    overlap = overlap_of(_dump(text))
    names = [(one.start.name, one.bytes) for one in overlap.synchronous]
    assert names == [("large", 128), ("small", 32), ("r", 32)]
    lines = "\n".join(text_lines(overlap_content(overlap, 1, "jit_f")))
    assert lines.endswith(
        "  128 B          128 B           1        1  all-gather, synchronous\n"
        "   64 B           64 B           2        2  collective-permute, synchronous\n"
        "   64 B            0 B           1        0  all-gather\n"
        "  bytes   each  executions  exposed\n"
        "  128 B  128 B           1  large parameter 0\n"
        "   64 B                     in 2 more\n"
        "  exposed  cause\n"
        "  large    nothing else can run meanwhile"
    )


def test_collective_in_fusions_is_asynchronous() -> None:
    found = async_operations(_dump(FUSED_COLLECTIVE).files[0].module)
    assert found is not None
    assert [(one.kind, one.done.name, one.bytes, one.target_space, one.work) for one in found] == [
        ("all-gather", "async-collective-done", 64, 1, 1)
    ]
    hidden = FUSED_COLLECTIVE.replace("  %y = f32[8]{0} sine(%x)\n", "").replace(
        "tuple(%y", "tuple(%a"
    )
    found = async_operations(_dump(hidden).files[0].module)
    assert found is not None
    assert [one.is_exposed for one in found] == [True]


def test_collectives_in_fusions_are_listed() -> None:
    lines = list(text_lines(overlap_content(overlap_of(_dump(FUSED_COLLECTIVE)), 10, "jit_f")))
    assert lines[-3:] == [
        "1 collective of them in fusions, 64 B",
        "  bytes  work meanwhile  in fusions",
        "   64 B   1 instruction  all-gather async-collective-start -> async-collective-done",
    ]


@pytest.mark.parametrize(
    ("user", "kind", "sent"), [("dynamic-slice", "reduce-scatter", 24), ("sort", "all-reduce", 48)]
)
def test_collective_in_one_fusion_is_synchronous(user: str, kind: str, sent: int) -> None:
    dump = _dump(REDUCE_SCATTER.replace("dynamic-slice(", f"{user}("))
    module = dump.files[0].module
    found = {one.name for one in module.instructions.records() if is_communication(module, one)}
    assert found == {"all-reduce", "fusion"}
    overlap = overlap_of(dump, chips()["v5e"])
    assert [(one.start.name, one.kind, one.bytes) for one in overlap.synchronous] == [
        ("fusion", kind, 8)
    ]
    assert overlap.network is not None
    (collective,) = overlap.network
    assert (collective.wire_bytes, collective.work_ps) == (sent, 0)


def test_slices_of_the_elements_of_a_combined_collective_are_slices() -> None:
    text = REDUCE_SCATTER.replace(
        "= f32[8]{0} all-reduce(%p)", "= (f32[8], f32[8]) all-reduce(%p, %p)"
    )
    text = text.replace(
        "  %id", "  %e = f32[8]{0} get-tuple-element(%all-reduce), index=1\n  %id"
    ).replace("dynamic-slice(%all-reduce", "dynamic-slice(%e")
    (collective,) = overlap_of(_dump(text), chips()["v5e"]).network or ()
    assert collective.wire_bytes == 2 * 24


_COMMUNICATION = """\
HloModule m, is_scheduled=true

%wrapped (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %r = f32[4]{0} reduce-scatter(%p), dimensions={0}, to_apply=%add
}

ENTRY %e (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %g = f32[8]{0} all-gather(%a), dimensions={0}
  %s = (f32[4]{0}, f32[4]{0}) collective-permute-start(%a), source_target_pairs={{0,1}}
  %d = f32[4]{0} collective-permute-done(%s)
  %w = ((f32[4]{0}), f32[4]{0}) async-start(%a), calls=%wrapped
  %v = f32[4]{0} async-done(%w)
  %c = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(%a)
  ROOT %n = f32[4]{0} negate(%v)
}
"""


def test_collectives_and_their_parts_communicate() -> None:
    module = _dump(_COMMUNICATION).files[0].module
    found = {one.name for one in module.instructions.records() if is_communication(module, one)}
    assert found == {"r", "g", "s", "d", "w", "v"}


def test_collective_is_compared_with_the_work_meanwhile() -> None:
    text = FUSED_COLLECTIVE.replace("8]", "8000000]").replace("16]", "16000000]")
    overlap = overlap_of(_dump(text), chips()["v5e"])
    assert overlap.network is not None
    (collective,) = overlap.network
    assert (collective.start.name, collective.wire_bytes) == ("async-collective-start", 32_000_000)
    assert collective.least_ps == pytest.approx(32e18 / 200e9)
    assert collective.work_ps == pytest.approx(64e18 / 819e9)  # of the sine
    assert collective.uncovered_ps == pytest.approx(32e18 / 200e9 - 64e18 / 819e9)
    assert list(text_lines(overlap_content(overlap, 10, "jit_f")))[-3:] == [
        "network of TPU v5e: at least 160 µs, 81.9 µs more than the least time of the work"
        " meanwhile",
        "  network  longer by  work meanwhile  collective",
        "   160 µs    81.9 µs         78.1 µs  async-collective-start -> async-collective-done",
    ]


def test_synchronous_collective_has_no_work_meanwhile() -> None:
    text = (
        "HloModule m, is_scheduled=true\n\nENTRY %e {\n  %p = f32[8] parameter(0)\n"
        "  ROOT %g = f32[32] all-gather(%p), replica_groups={{0,1,2,3}}, dimensions={0}\n}\n"
    )
    overlap = overlap_of(_dump(text), chips()["v5e"])
    assert overlap.network is not None
    (collective,) = overlap.network
    assert (collective.done, collective.work_ps) == (None, 0)
    assert collective.uncovered_ps == collective.least_ps == pytest.approx(96e12 / 200e9)
    assert overlap_of(_dump(text), chips()["v4"]).network is None  # its links are unknown
