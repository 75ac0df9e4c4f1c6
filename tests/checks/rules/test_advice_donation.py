"""``unused-donation``: buffers of parameters that outputs could take."""

from checks.advised import GPU, advice
from checks.damage import replaced

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


def test_an_output_and_a_parameter_of_one_shape() -> None:
    said = (
        "1 output could take the buffer of a parameter, 1,048,576 B (1.00 MiB) in all: "
        "`f32[512,512]{1,0}` of parameter 0 and 1 more for 1 of 1 output. Donate the arguments "
        "that the caller does not need afterwards (`donate_argnums` of `jax.jit`)"
    )
    ((code, place, sentence),) = advice("unused-donation", MODULE, stem=GPU)
    assert (code, place[:8], sentence) == ("unused-donation", "4:   %»a", said)
    ((_, place, sentence),) = advice("unused-donation", MODULE, ASSIGNMENT, stem=GPU)
    assert (place[:30], sentence) == ("2: allocation 0: size 1048576,"[:30], said)
    assert "parameter »0«" in place


def test_what_is_donated_is_not_advised() -> None:
    alias = f"{SCHEDULED}, input_output_alias={{ {{0}}: (1, {{}}, may-alias) }}"
    assert advice("unused-donation", replaced(MODULE, SCHEDULED, alias), stem=GPU) == []


def test_small_buffers_and_other_layouts_are_not_worth_a_word() -> None:
    assert advice("unused-donation", MODULE, stem=GPU, donation_bytes=1048577) == []
    other = MODULE.replace(f"%sum = {BIG}", "%sum = f32[512,512]{0,1}").replace(
        f"t = ({BIG}", "t = (f32[512,512]{0,1}"
    )
    assert advice("unused-donation", other, stem=GPU) == []


def test_before_the_passes_nothing_is_decided() -> None:
    text = replaced(MODULE, f"{SCHEDULED}, ", "")
    assert advice("unused-donation", text, stem=GPU) == []


def _refused(module: str) -> str:
    donor = f"{SCHEDULED}, buffer_donor={{ (0, {{}}) }}"
    said = advice("unused-donation", replaced(module, SCHEDULED, donor), stem=GPU)
    found = [sentence for _, _, sentence in said if "buffer_donor" in sentence]
    assert len(found) == 1
    assert found[0].startswith(
        "1 buffer may be taken (`buffer_donor`) and no output lies in it, 1,048,576 B (1.00 MiB) "
    )
    return found[0].partition("of parameter 0: ")[2].partition(". ")[0]


def test_why_a_donated_buffer_was_not_taken() -> None:
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
    assert _refused(replaced(MODULE, SCHEDULED, taken)) == (
        "every output of this shape takes another buffer, {0} first"
    )
    assert _refused(MODULE) == "output {0} has its shape and layout, but is made elsewhere"
