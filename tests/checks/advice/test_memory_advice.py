"""Tests for ``memory-advice``: the advice of the memory summary as findings."""

from checks.advised import GPU, advice

_SIZE = 1 << 22
_MODULE = f"""\
HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[{_SIZE // 4}]) -> f32[{_SIZE // 4}] {{
  %x = f32[{_SIZE // 4}]{{0}} parameter(0)
  %s = f32[{_SIZE // 4}]{{0}} sine(%x)
  ROOT %r = f32[{_SIZE // 4}]{{0}} cosine(%s)
}}
"""
_ASSIGNMENT = f"""\
BufferAssignment:
allocation 0: size {_SIZE}, parameter 0, shape |f32[{_SIZE // 4}]| at ShapeIndex {{}}:
 value: <1 x @0> (size={_SIZE},offset=0): f32[{_SIZE // 4}]{{0}}
allocation 1: size {_SIZE}, output shape is |f32[{_SIZE // 4}]|, maybe-live-out:
 value: <3 r @0> (size={_SIZE},offset=0): f32[{_SIZE // 4}]{{0}}
allocation 2: size {_SIZE}, preallocated-temp:
 value: <2 s @0> (size={_SIZE},offset=0): f32[{_SIZE // 4}]{{0}}
"""
_RANGES = """\
HloLiveRange (max 3):
  InstructionSequence:
    0:x
    1:s
    2:r
  BufferLiveRange:
    x{}:0-3
    s{}:1-2
    r{}:2-3
  Live ranges at 1 (peak):
    x{}: 4194304 bytes (cumulative: 4194304 bytes)
  Stack trace breakdown for peak usage: 4 194 304 bytes
    f (100.0%, total: 4 194 304 bytes, current: 0 bytes, remaining: 4 194 304 bytes)
      └── x (100.0%, total: 4 194 304 bytes, current: 4 194 304 bytes, remaining: 0 bytes)
"""
_TEXTS = (_MODULE, _ASSIGNMENT, _RANGES)


def test_advice_of_the_summary_is_a_finding() -> None:
    assert advice("memory-advice", *_TEXTS, stem=GPU) == [
        (
            "memory-advice",
            f"7:  value: <2 s @0> (size=»{_SIZE}«,offset=0): f32[{_SIZE // 4}]{{0}}",
            "Compute f32 temporaries in bf16: saves at most 2.00 MiB",
        )
    ]


def test_donation_is_found_if_the_summary_advises_it() -> None:
    assert len(advice("unused-donation", *_TEXTS, stem=GPU)) == 1
    large = _ASSIGNMENT.replace(f"2: size {_SIZE}", f"2: size {1000 * _SIZE}")
    large = large.replace(f"<2 s @0> (size={_SIZE}", f"<2 s @0> (size={1000 * _SIZE}")
    assert advice("unused-donation", _MODULE, large, _RANGES, stem=GPU) == []
    assert advice("unused-donation", _MODULE, large, _RANGES, stem=GPU, with_negligible=True)
