"""Why a buffer is alive, as a card and as JSON."""

from dataclasses import replace

from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.program.donation import DonationStatus
from hlo_lsp.reports.why_alive_text import describe_donation, lifetime_card, lifetime_json
from reports.example import ASSIGNMENT, MODULE, RANGES, example


def _facts(name: str, *texts: str) -> dict[str, str]:
    dump = example(*texts)
    value = dump.value_at(name)
    assert value is not None
    card = lifetime_card(dump, value, lifetime_of(dump, value))
    return {fact.label: fact.text.replace("`", "") for fact in card.facts}


def test_card_names_origin_and_last_consumer() -> None:
    assert _facts("b") == {
        "buffer": "1,024 B (1.0 KiB) in memory space 0, steps 2-4 of 5, live at the peak",
        "computed by": "step 2, b (slice)",
        "op_name": "jit(f)/cos",
        "source": "/home/user/model.py:7",
        "kept for": "step 4, r (add, /home/user/model.py:7)",
        "which waits for": "step 3, c (cosine, /home/user/model.py:7)",
        "uses": "2 instructions: 3 c, 4 r",
        "rematerialized": "no",
        "offloaded": "no",
    }


def test_output_is_kept_for_the_caller() -> None:
    facts = _facts("r")
    assert facts["kept for"] == "the caller: it is an output"
    assert facts["uses"] == "none"


def test_argument_names_its_donation() -> None:
    facts = _facts("x")
    assert facts["holds"] == "argument p['w']"
    assert facts["kept for"].startswith("the caller, which owns the buffer")
    assert "which waits for" not in facts
    assert facts["donated"] == "no, although it fits output {}: donate it with donate_argnums"


def test_donated_buffer_of_an_output_names_its_parameter() -> None:
    module = MODULE.replace(
        "is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    )
    moved = " value: <5 r @0> (size=1024,offset=0): f32[256]{0}\n"
    first = " value: <1 x @0> (size=1024,offset=0): f32[256]{0}\n"
    lines = ASSIGNMENT.replace(moved, "").replace(first, first + moved).splitlines()
    assignment = "\n".join(line for line in lines if not line.startswith("allocation 1:"))
    donated = [
        _facts(name, assignment.replace("{}:\n", "{}, maybe-live-out:\n") + "\n", RANGES, module)
        for name in ("x", "r")
    ]
    assert [facts["donated"] for facts in donated] == [
        "yes, to output {}",
        "yes, to output {}; the buffer is that of parameter 0",
    ]


def test_unused_donation_names_the_reason() -> None:
    status = DonationStatus(True, None, None, "no output has its type and dimensions")
    assert describe_donation(status) == (
        "yes, but no output uses the buffer: no output has its type and dimensions"
    )


def test_card_without_module_text_says_so() -> None:
    facts = _facts("b", ASSIGNMENT, RANGES)
    assert facts["uses"] == "unknown: the module text and the list of used values are missing"


def test_card_without_live_ranges_says_so() -> None:
    assert _facts("b", ASSIGNMENT, MODULE)["buffer"].endswith("live range unknown")


def test_json_is_null_without_module_text() -> None:
    dump = example(ASSIGNMENT, RANGES)
    value = dump.value_at("b")
    assert value is not None
    facts = lifetime_json(dump, value, lifetime_of(dump, value))
    assert (facts["size"], facts["live_range"], facts["uses"]) == (1024, [2, 4], None)


def test_element_has_the_step_of_its_omitted_instruction() -> None:
    module = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0)
  %k = (f32[256]{0}) infeed(%x)
  ROOT %r = f32[256]{0} cosine(%k#0)
}
"""
    values = """\
Used values:
<1 k{} @0>
 positions:
  k {}
 uses:
  g, operand 0 {}
 from instruction: %k = (f32[256]{0}) infeed(%x)
<2 k{0} @0>
 positions:
  k {0}
  g
 uses:
  r, operand 0
 from instruction: %k = (f32[256]{0}) infeed(%x)
"""
    steps = "HloLiveRange (max 9):\n  InstructionSequence:\n    6:k\n    7:g\n    8:r\n"
    dump = example(module, values, steps)
    value, element = dump.value_at("g"), dump.instruction("g")
    assert value is not None
    assert element is not None
    lifetime = lifetime_of(dump, value)
    assert lifetime is not None
    assert lifetime.origin is not None
    # As in a loop that only passes its values on.
    origin = replace(lifetime.origin, instruction=element)
    card = lifetime_card(dump, value, replace(lifetime, origin=origin))
    computed = next(fact for fact in card.facts if fact.label == "computed by")
    assert computed.text == "step 7, `k#0` (get-tuple-element)"
