"""Tests for the cost of modules as they run."""

import pytest

from cost.costs import cost_of_text, module
from fused_collective import FUSED_COLLECTIVE
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hostile.deep import DEEP

LOOP = """\
HloModule m, is_scheduled=true

%body {
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8] get-tuple-element(%p), index=1
  %y = f32[8] multiply(%x, %x)
  ROOT %t = (s32[], f32[8]) tuple(%i, %y)
}

%condition {
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  ROOT %c = pred[] compare(%i, %i), direction=LT
}

ENTRY %e {
  %p = (s32[], f32[8]) parameter(0)
  ROOT %w = (s32[], f32[8]) while(%p), condition=%condition, body=%bodyCONFIG
}
"""
TRIP_COUNT = ', backend_config={"known_trip_count":{"n":"5"}}'


def test_loop_counts_each_iteration() -> None:
    program = cost_of_text(LOOP.replace("CONFIG", TRIP_COUNT))
    assert program.xla == Cost(9, 0, 105 + 16)  # with the table of the tuple
    assert program.total.cost == Cost(5 * 8 + 6, 0, 5 * 96 + 6 * 9)
    assert program.executed.complete


@pytest.mark.parametrize("count", [0, 1, 2])
def test_condition_runs_once_more_than_the_body(count: int) -> None:
    config = TRIP_COUNT.replace('"5"', f'"{count}"')
    program = cost_of_text(LOOP.replace("CONFIG", config))
    assert program.total.cost == Cost(count * 8 + count + 1, 0, count * 96 + (count + 1) * 9)


def test_unknown_trip_count_is_a_lower_bound() -> None:
    program = cost_of_text(LOOP.replace("CONFIG", ""))
    assert program.total.cost == Cost(9, 0, 105)
    assert not program.executed.complete
    assert program.executed.unknown_loops == ("w",)


@pytest.mark.parametrize(
    ("branch", "flops", "unknown"),
    [
        ("while(%p), condition=%c, body=%b, " + TRIP_COUNT, 320, {}),
        ('custom-call(%p), custom_call_target="huge"', 128, {"huge": 1}),
    ],
)
def test_branches_compare_what_they_execute(
    branch: str, flops: int, unknown: dict[str, int]
) -> None:
    program = cost_of_text(
        f"""HloModule m, is_scheduled=true

%b {{
  %p = f32[64] parameter(0)
  ROOT %y = f32[64] add(%p, %p)
}}

%c {{
  %p = f32[64] parameter(0)
  ROOT %r = pred[] constant(true)
}}

%b0 {{
  %p = f32[64] parameter(0)
  ROOT %r = f32[64] {branch}
}}

%b1 {{
  %p = f32[64] parameter(0)
  %n = f32[64] negate(%p)
  ROOT %r = f32[64] negate(%n)
}}

ENTRY %e {{
  %a = f32[64] parameter(0)
  %i = s32[] parameter(1)
  ROOT %c2 = f32[64] conditional(%i, %a, %a), branch_computations={{%b0, %b1}}
}}
"""
    )
    assert (program.total.cost.flops, program.executed.unknown_calls) == (flops, unknown)


def test_conditional_counts_the_most_expensive_branch() -> None:
    branch = "%b{0} {{\n  %p = f32[{1}] parameter(0)\n  ROOT %n = f32[{1}] negate(%p)\n}}\n\n"
    text = (
        "HloModule m\n\n"
        + branch.format(0, 4)
        + branch.format(1, 64)
        + module(
            *("%i = s32[] parameter(0)", "%a = f32[4] parameter(1)", "%b = f32[64] parameter(2)"),
            "ROOT %c = f32[64] conditional(%i, %a, %b), branch_computations={%b0, %b1}",
        ).partition("\n\n")[2]
    )
    program = cost_of_text(text)
    assert (program.total.cost.flops, program.executed.conditionals) == (64, 1)


def test_asynchronous_copy_counts_once() -> None:
    text = module(
        "%p = f32[8] parameter(0)",
        "%s = (f32[8], f32[8], u32[]) copy-start(%p)",
        "ROOT %d = f32[8] copy-done(%s)",
    )
    assert cost_of_text(text).total.cost == Cost(0, 0, 64)


def test_bytes_are_padded_and_off_chip_bytes_apart() -> None:
    text = module(
        "%p = bf16[9,130]{1,0:T(8,128)(2,1)} parameter(0)",
        "ROOT %n = bf16[9,130]{1,0:T(8,128)(2,1)S(1)} negate(%p)",
    )
    program = cost_of_text(text, path="module_0001.f.cl_1.after_optimizations.txt")
    assert program.xla.bytes_accessed == 2 * 2340
    assert program.total.cost.bytes_accessed == 2 * 8192
    assert program.total.memory_bytes == 8192


_GEMM = (
    '%g = (f32[8,4], s8[64]) custom-call(%a, %b), custom_call_target="__cublas$gemm",'
    ' backend_config={"gemm_backend_config":{"dot_dimension_numbers":{'
    '"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}'
)
_CONVOLUTION = (
    '%g = (f32[{2}], u8[0]) custom-call(%a, %b), custom_call_target="__cudnn$conv{0}",'
    " window={{size=3x3}}, dim_labels=b01f_01io->b01f"
)
_IMAGE, _KERNEL, _OUTPUT = "2,6,6,4", "3,3,4,5", "2,4,4,5"
_CONVOLUTION_FLOPS = 2 * 4 * 5 * 2 * (3 * 4) ** 2


@pytest.mark.parametrize(
    ("call", "a", "b", "expected"),
    [
        (_GEMM, "8,16", "16,4", Cost(2 * 8 * 4 * 16, 0, 4 * (128 + 64 + 32))),
        (
            _CONVOLUTION.format("Forward", "", _OUTPUT),
            *(_IMAGE, _KERNEL, Cost(_CONVOLUTION_FLOPS, 0, 4 * (288 + 180 + 160))),
        ),
        (
            _CONVOLUTION.format("BackwardFilter", "", _KERNEL),
            *(_IMAGE, _OUTPUT, Cost(_CONVOLUTION_FLOPS, 0, 4 * (288 + 180 + 160))),
        ),
        (
            _CONVOLUTION.format("BackwardInput", "", _IMAGE),
            *(_OUTPUT, _KERNEL, Cost(_CONVOLUTION_FLOPS, 0, 4 * (288 + 180 + 160))),
        ),
        (
            '%g = (f32[1,2], s32[1,2]) custom-call(%a), custom_call_target="TopK"',
            *("1,8", "1", Cost(8 * 2, 0, 32 + 8 + 8)),
        ),
        (
            '%g = f32[8] custom-call(%a), custom_call_target="tpu_custom_call", backend_config='
            '{"cost_estimate":{"flops":"12","transcendentals":"3","bytes_accessed":"40"}}',
            *("8", "8", Cost(12, 3, 40)),
        ),
        ('%g = f32[8] custom-call(%a), custom_call_target="Sharding"', "8", "8", Cost()),
        (
            '%g = f32[8] custom-call(%a), custom_call_target="tpu_custom_call", backend_config='
            + '{"cost_estimate":' * 60_000  # whose work would be quadratic
            + '{"cost_estimate":{"flops":"12"}}',
            *("8", "8", Cost(12, 0, 0)),
        ),
    ],
)
def test_library_calls_have_costs(call: str, a: str, b: str, expected: Cost) -> None:
    text = module(f"%a = f32[{a}] parameter(0)", f"%b = f32[{b}] parameter(1)", call)
    program = cost_of_text(text)
    assert program.executed.complete
    assert program.total.cost == expected


def test_unknown_custom_call_is_listed() -> None:
    call = '%c = f32[8] custom-call(%p), custom_call_target="my_kernel"'
    program = cost_of_text(module("%p = f32[8] parameter(0)", call))
    assert (program.xla.flops, program.xla.bytes_accessed) == (-1, -1)
    assert program.total.cost == Cost()
    assert program.executed.unknown_calls == {"my_kernel": 1}
    assert not program.executed.complete
    assert program.total.unknown == 1


def test_unknown_custom_call_in_fusion_is_listed() -> None:
    fused = (
        "%f {\n  %p = f32[8] parameter(0)\n"
        '  ROOT %c = f32[8] custom-call(%p), custom_call_target="my_kernel"\n}\n\n'
    )
    text = module("%p = f32[8] parameter(0)", "%r = f32[8] fusion(%p), kind=kLoop, calls=%f")
    head, _, entry = text.partition("\n\n")
    executed = cost_of_text(f"{head}\n\n{fused}{entry}").executed
    assert executed.unknown_calls == {"my_kernel": 1}


@pytest.mark.parametrize(
    ("collective", "result", "sent"),
    [
        ("all-gather(%p), replica_groups={{0,1},{2,3}}, dimensions={0}", 16, 32),
        ("all-gather(%p), replica_groups=[1,4]<=[4], dimensions={0}", 32, 96),
        ("all-reduce(%p), replica_groups={{0,1,2,3}}, to_apply=%f", 8, 48),
        ("all-reduce(%p), replica_groups={}, channel_id=1, to_apply=%f", 8, 48),
        ("reduce-scatter(%p), replica_groups=[2,2]<=[4], dimensions={0}, to_apply=%f", 4, 16),
        ("all-to-all(%p), replica_groups=mesh['a'=2,'b'=2] {'a'}, dimensions={0}", 8, 16),
        ("collective-permute(%p), source_target_pairs={{0,1}}", 8, 32),
    ],
)
def test_collectives_send_bytes(collective: str, result: int, sent: int) -> None:
    text = module("%p = f32[8] parameter(0)", f"%c = f32[{result}] {collective}")
    assert cost_of_text(text).total.wire_bytes == sent


def test_collective_in_several_fusions_sends_once() -> None:
    program = cost_of_text(FUSED_COLLECTIVE)
    sent = {one.instruction.name: one.wire_bytes for one in program.executed.instructions}
    assert sent["async-collective-start"] == 32
    assert program.total.wire_bytes == 32


_MIDDLE = """\
%middle {
  %p.2 = f32[8]{0} parameter(0)
  %q.1 = f32[16]{0:S(1)} parameter(1)
  %z = f32[8]{0} parameter(2)
  %n = f32[8]{0} negate(%z)
  %all-gather.2 = f32[16]{0:S(1)} all-gather(%p.2), channel_id=3, dimensions={0}
  ROOT %t = (f32[8]{0}, f32[8]{0}, f32[16]{0:S(1)}, f32[16]{0:S(1)}) tuple(%n, %p.2, %q.1, %all-gather.2)
}

"""  # noqa: E501
_MIDDLE_FUSION = (
    "  %m = (f32[8]{0}, f32[8]{0}, f32[16]{0:S(1)}, f32[16]{0:S(1)}) fusion(%a, %b, %y),"
    " kind=kOutput, calls=%middle,"
    " output_to_operand_aliasing={{1}: (0, {}), {2}: (1, {}), {3}: (1, {})}\n"
)


def test_collective_in_several_fusions_moves_its_arrays_once() -> None:
    head, entry, main = FUSED_COLLECTIVE.partition("ENTRY")
    before, done, after = main.partition("  %async-collective-done")
    text = head + _MIDDLE + entry + before + _MIDDLE_FUSION + done + after
    program = cost_of_text(text)
    moved = {
        one.instruction.name: one.cost.bytes_accessed
        for one in program.executed.instructions
        if one.cost is not None
    }
    assert moved["async-collective-start"] == 32 + 64
    assert moved["m"] == 32 + 32  # the operand and the result of the negation
    assert moved["async-collective-done"] == 0


def test_fusion_copies_an_operand_to_another_buffer() -> None:
    fused = (
        "%f {\n  %p = f32[8] parameter(0)\n  %n = f32[8] negate(%p)\n"
        "  ROOT %t = (f32[8], f32[8]) tuple(%n, %p)\n}\n\n"
    )
    head, _, entry = module(
        "%a = f32[8] parameter(0)", "ROOT %r = (f32[8], f32[8]) fusion(%a), kind=kLoop, calls=%f"
    ).partition("\n\n")
    assert cost_of_text(f"{head}\n\n{fused}{entry}").total.cost == Cost(8, 0, 3 * 32)


def test_recursive_and_missing_computations_have_no_cost() -> None:
    text = module("%a = f32[] call(), to_apply=%e", "%b = f32[] call(), to_apply=%f")
    program = cost_of_text(text)
    assert program.total.cost == Cost()
    assert program.xla == Cost()


# 8 x 128 elements of f32, in the memory space of `%s`: a slice in VMEM of an array in HBM.
_PARTS = [
    ("ROOT %r = f32[8,128]{1,0:T(8,128)S(1)} slice(%a), slice={[0:8],[0:128]}", 4096),
    ("ROOT %r = f32[8,128]{1,0:T(8,128)} slice(%v), slice={[0:8],[0:128]}", 4096),
    (
        "ROOT %r = f32[8,128]{1,0:T(8,128)S(1)} dynamic-slice(%a, %i, %i),"
        " dynamic_slice_sizes={8,128}",
        4096,
    ),
    ("ROOT %r = f32[64,128]{1,0:T(8,128)} dynamic-update-slice(%a, %u, %i, %i)", 4096),
    ("ROOT %r = f32[8,128]{1,0:T(8,128)S(1)} fusion(%a), kind=kLoop, calls=%part", 4096),
    ("ROOT %r = f32[8,128]{1,0:T(8,128)S(1)} fusion(%v), kind=kLoop, calls=%local", 0),
]
_FUSED = """HloModule m, is_scheduled=true

%part {
  %p = f32[64,128]{1,0:T(8,128)} parameter(0)
  ROOT %s = f32[8,128]{1,0:T(8,128)S(1)} slice(%p), slice={[0:8],[0:128]}
}

%local {
  %p = f32[64,128]{1,0:T(8,128)S(1)} parameter(0)
  ROOT %s = f32[8,128]{1,0:T(8,128)S(1)} slice(%p), slice={[0:8],[0:128]}
}

"""


@pytest.mark.parametrize(("root", "off_chip"), _PARTS, ids=lambda one: str(one)[5:40])
def test_part_is_read_and_written_in_the_memory_space_of_its_array(
    root: str, off_chip: int
) -> None:
    text = (
        _FUSED
        + module(
            "%a = f32[64,128]{1,0:T(8,128)} parameter(0)",
            "%v = f32[64,128]{1,0:T(8,128)S(1)} parameter(1)",
            "%u = f32[8,128]{1,0:T(8,128)S(1)} parameter(2)",
            "%i = s32[]{:T(128)S(6)} parameter(3)",
            root,
        ).partition("\n\n")[2]
    )
    program = cost_of_text(text, path="module_0001.f.cl_1.after_optimizations.txt")
    assert program.total.memory_bytes == off_chip


def test_fusion_that_is_a_root_reads_its_operands_as_it_runs() -> None:
    text = (
        "HloModule m, is_scheduled=true\n\n"
        "%inner {\n  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)\n}\n\n"
        "%outer {\n  %p = f32[8] parameter(0)\n"
        "  ROOT %f = f32[8] fusion(%p), kind=kLoop, calls=%inner\n}\n\n"
        + module(
            "%a = f32[8] parameter(0)", "ROOT %r = f32[8] fusion(%a), kind=kLoop, calls=%outer"
        ).partition("\n\n")[2]
    )
    program = cost_of_text(text)
    assert program.xla == Cost(8, 0, 32)  # XLA counts no reads of such a fusion
    assert program.total.cost == Cost(8, 0, 64)


def test_asynchronous_fusion_has_the_cost_of_its_computation() -> None:
    text = (
        "HloModule m, is_scheduled=true\n\n"
        "%f {\n  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)\n}\n\n"
        + module(
            "%a = f32[8] parameter(0)",
            "%s = ((f32[8]), f32[8], u32[]) fusion-start(%a), kind=kLoop, calls=%f",
            "ROOT %d = f32[8] fusion-done(%s)",
        ).partition("\n\n")[2]
    )
    assert cost_of_text(text).total.cost == Cost(8, 0, 64)


def test_fusions_nested_deeply_have_a_cost() -> None:
    dump = Compile([DumpFile.of_text(DEEP["chain of fusions"](2000))])
    assert program_cost(dump, None) is not None
