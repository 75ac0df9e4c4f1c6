"""Tests for ``unused-donation``: parameters with buffers that outputs can reuse."""

from checks.advised import GPU, advice
from checks.damage import replace_once

BIG = "f32[512,512]{1,0}"
MODULE = f"""\
HloModule m, is_scheduled=true, entry_computation_layout={{({BIG}, {BIG})->({BIG}, f32[])}}

ENTRY %main (a: f32[512,512], b: f32[512,512]) -> (f32[512,512], f32[]) {{
  %a = {BIG} parameter(0)
  %b = {BIG} parameter(1)
  %sum = {BIG} add(%a, %b)
  %zero = f32[] constant(0)
  ROOT %t = ({BIG}, f32[]) tuple(%sum, %zero)
}}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 1048576, parameter 0, shape |f32[512,512]| at ShapeIndex {}:
 value: <0 a @0> (size=1048576,offset=0): f32[512,512]{1,0}
"""
SCHEDULED = "is_scheduled=true"


def test_output_with_shape_of_parameter_has_advice() -> None:
    reported = (
        "1 output could reuse the buffer of a parameter, 1,048,576 B (1.00 MiB) in total: "
        "`f32[512,512]{1,0}` of parameter 0 or 1 other for output {0}. Donate the arguments "
        "that the caller does not need afterwards (`donate_argnums` of `jax.jit`)"
    )
    ((code, place, sentence),) = advice("unused-donation", MODULE, stem=GPU)
    assert (code, place[:8], sentence) == ("unused-donation", "4:   %»a", reported)
    ((_, place, sentence),) = advice("unused-donation", MODULE, ASSIGNMENT, stem=GPU)
    assert (place[:30], sentence) == ("2: allocation 0: size 1048576,"[:30], reported)
    assert "parameter »0«" in place


def test_advice_has_the_name_of_the_argument() -> None:
    named = MODULE.replace("parameter(0)", "parameter(0), metadata={op_name=\"p[\\'w\\']\"}", 1)
    ((_, _, sentence),) = advice("unused-donation", named, stem=GPU)
    assert "`f32[512,512]{1,0}` of `p['w']` or 1 other for output {0}" in sentence


def test_donated_parameter_has_no_advice() -> None:
    alias = f"{SCHEDULED}, input_output_alias={{ {{0}}: (1, {{}}, may-alias) }}"
    assert advice("unused-donation", replace_once(MODULE, SCHEDULED, alias), stem=GPU) == []


def test_part_of_a_program_has_no_advice() -> None:
    assert advice("unused-donation", replace_once(MODULE, "e m,", "e called_computation,")) == []


def test_small_buffers_and_other_layouts_are_ignored() -> None:
    assert advice("unused-donation", MODULE, stem=GPU, size=1048577) == []
    other = MODULE.replace(f"%sum = {BIG}", "%sum = f32[512,512]{0,1}").replace(
        f"t = ({BIG}", "t = (f32[512,512]{0,1}"
    )
    assert advice("unused-donation", other, stem=GPU) == []


def test_text_before_the_passes_has_no_advice() -> None:
    text = replace_once(MODULE, f"{SCHEDULED}, ", "")
    assert advice("unused-donation", text, stem=GPU) == []


def _refused(module: str) -> str:
    donor = f"{SCHEDULED}, buffer_donor={{ (0, {{}}) }}"
    reported = advice("unused-donation", replace_once(module, SCHEDULED, donor), stem=GPU)
    found = [sentence for _, _, sentence in reported if "buffer_donor" in sentence]
    assert len(found) == 1
    assert found[0].startswith(
        "1 donated buffer (`buffer_donor`) is not used by an output, 1,048,576 B (1.00 MiB) "
    )
    return found[0].partition("of parameter 0: ")[2].partition(". ")[0]


def test_unused_donation_states_the_reason() -> None:
    assert _refused(MODULE.replace(f"t = ({BIG}", "t = (f32[8,512]{1,0}")) == (
        "no output has its type and dimensions"
    )
    assert _refused(MODULE.replace(f"t = ({BIG}", "t = (f32[512,512]{0,1}")) == (
        "output {0} has another layout: `f32[512,512]{0,1}`"
    )
    assert _refused(MODULE.replace(f"t = ({BIG}", "t = (f32[512,512]{1,0:S(5)}")) == (
        "output {0} has another memory space: `f32[512,512]{1,0:S(5)}`"
    )
    taken = f"{SCHEDULED}, input_output_alias={{ {{0}}: (1, {{}}) }}"
    assert _refused(replace_once(MODULE, SCHEDULED, taken)) == (
        "every output of this shape uses another buffer, for example {0}"
    )
    assert _refused(MODULE) == "output {0} has its shape and layout, but is made elsewhere"


# The scale is replicated, but XLA shards an output without a sharding.
_BEFORE = """\
HloModule jit_step, buffer_donor={ (0, {}) }, num_partitions=4

ENTRY %main.3 (scale.1: f32[512], w.1: f32[512,256]) -> (f32[512], f32[512,256]) {
  %scale.1 = f32[512]{0} parameter(0), sharding={replicated}
  %w.1 = f32[512,256]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}
  %sub.2 = f32[512]{0} negate(%scale.1)
  %sub.3 = f32[512,256]{1,0} negate(%w.1)
  ROOT %tuple.1 = (f32[512]{0}, f32[512,256]{1,0}) tuple(%sub.2, %sub.3)
}
"""
_AFTER = """\
HloModule jit_step, is_scheduled=true, input_output_alias={ {1}: (1, {}, may-alias) }, buffer_donor={ (0, {}) }, num_partitions=4

ENTRY %main.0_spmd (param: f32[512], param.2: f32[128,256]) -> (f32[128], f32[128,256]) {
  %param = f32[512]{0} parameter(0), sharding={replicated}
  %param.2 = f32[128,256]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}
  %slice = f32[128]{0} slice(%param), slice={[0:128]}
  %sub.6 = f32[128]{0} negate(%slice)
  %sub.7 = f32[128,256]{1,0} negate(%param.2)
  ROOT %tuple.3 = (f32[128]{0}, f32[128,256]{1,0}) tuple(%sub.6, %sub.7)
}
"""  # noqa: E501
_REFUSED = (
    "1 donated buffer (`buffer_donor`) is not used by an output, 2,048 B (2.0 KiB) in total: "
    "`f32[512]{0}` of parameter 0: "
)
_SHAPE_ADVICE = (
    _REFUSED + "no output has its type and dimensions. Return an array of the same shape, layout, "
    "and memory space, or do not donate"
)


def _sharding_advice(output: str) -> str:
    return (
        _REFUSED + "it and output {0} are both `f32[512]` before partitioning, but one device "
        "holds `f32[128]{0}` of the output (sharding of the parameter: `{replicated}`, of the "
        f"output: {output}). Give the output the sharding of the parameter (`out_shardings` of "
        "`jax.jit`), or do not donate"
    )


def test_output_cut_by_propagation_needs_a_sharding() -> None:
    ((_, _, sentence),) = advice("unused-donation", _AFTER, stem=GPU, before=_BEFORE, size=1)
    assert sentence == _sharding_advice("none, chosen by XLA")


def test_output_cut_by_its_own_sharding_names_it() -> None:
    before = replace_once(
        _BEFORE, "(%sub.2, %sub.3)", "(%sub.2, %sub.3), sharding={{devices=[4]<=[4]}, {replicated}}"
    )
    ((_, _, sentence),) = advice("unused-donation", _AFTER, stem=GPU, before=before, size=1)
    assert sentence == _sharding_advice("`{devices=[4]<=[4]}`")


def test_donation_without_text_before_optimizations_needs_a_shape() -> None:
    ((_, _, sentence),) = advice("unused-donation", _AFTER, stem=GPU, size=1)
    assert sentence == _SHAPE_ADVICE


def test_text_before_optimizations_with_other_parameters_is_ignored() -> None:
    before = replace_once(_BEFORE, "  %sub.2 =", "  %new.1 = f32[] parameter(2)\n  %sub.2 =")
    ((_, _, sentence),) = advice("unused-donation", _AFTER, stem=GPU, before=before, size=1)
    assert sentence == _SHAPE_ADVICE


def test_two_obstacles_have_two_remedies() -> None:
    after = _AFTER.replace("buffer_donor={ (0, {}) }", "buffer_donor={ (0, {}), (2, {}) }")
    line, more = "  %sub.6 =", "  %new = f32[8]{0} parameter(2)\n  %sub.6 ="
    before = _BEFORE.replace("  %sub.2 =", "  %new.1 = f32[8]{0} parameter(2)\n  %sub.2 =")
    ((_, _, sentence),) = advice(
        "unused-donation",
        replace_once(after, line, more),
        stem=GPU,
        before=before,
        size=1,
    )
    assert sentence.endswith(
        "`f32[8]{0}` of parameter 2: no output has its type and dimensions. Return an array of the "
        "same shape, layout, and memory space, give the output the sharding of the parameter "
        "(`out_shardings` of `jax.jit`), or do not donate"
    )


def test_refused_donation_of_negligible_size_is_ignored() -> None:
    assignment = """\
BufferAssignment:
allocation 0: size 2048, parameter 0, shape |f32[512]| at ShapeIndex {}:
 value: <0 param @0> (size=2048,offset=0): f32[512]{0}
allocation 1: size 1073741824, preallocated-temp:
"""
    assert advice("unused-donation", _AFTER, assignment, stem=GPU) == []
    assert advice("unused-donation", _AFTER, assignment, stem=GPU, with_negligible=True)


def test_refused_donation_below_the_threshold_is_ignored() -> None:
    # Without a buffer assignment the peak is unknown, and only the threshold decides.
    assert advice("unused-donation", _AFTER, stem=GPU) == []
    assert advice("unused-donation", _AFTER, stem=GPU, with_negligible=True)


def test_common_reason_is_stated_once() -> None:
    donors = ", ".join(f"({number}, {{}})" for number in range(5))
    header = f"{SCHEDULED}, buffer_donor={{ {donors} }}"
    parameters = "".join(f"  %p.{number} = {BIG} parameter({number})\n" for number in range(5))
    module = f"""\
HloModule m, {header}

ENTRY %main (p.0: f32[512,512]) -> f32[] {{
{parameters}  ROOT %zero = f32[] constant(0)
}}
"""
    ((_, _, sentence),) = advice("unused-donation", module, stem=GPU)
    assert sentence.count("no output has its type and dimensions") == 1
    assert f"`{BIG}` of parameter 2; 2 more: no output has its type" in sentence
