"""The declared peak: which moment is right, and which list belongs to it."""

import pytest

from hlo_lsp.analysis.live.peak import Peak, peak, sizes_fit
from hlo_lsp.analysis.live.peak_list import Flaw
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet

# At step 1 live a and b, at step 2 b and c, at step 3 c alone. XLA counts until one step behind.
DUMP = """\
BufferAssignment:
allocation 0: size 48, preallocated-temp:
 value: <1 a @0> (size=8,offset=0): f32[2]{0}
 value: <2 b @0> (size=16,offset=16): f32[4]{0}
 value: <3 c @0> (size=16,offset=32): f32[4]{0}

Used values:
<1 a @0>
 positions:
  a
 uses:
  b, operand 0
 from instruction: %a = f32[2]{0} iota(), iota_dimension=0
<2 b @0>
 positions:
  b
 uses:
  c, operand 0
 from instruction: %b = f32[4]{0} concatenate(%a, %a), dimensions={0}
<3 c @0>
 positions:
  c
 uses:
  d, operand 0
 from instruction: %c = f32[4]{0} negate(%b)


HloLiveRange (max 4):
  InstructionSequence:
    0:a
    1:b
    2:c
    3:d
  BufferLiveRange:
    a{}:0-1
    b{}:1-2
    c{}:2-3
"""
RIGHT = """\
  Live ranges at 2 (peak):
    b{}: 16 bytes (cumulative: 16 bytes)
    c{}: 16 bytes (cumulative: 32 bytes)
"""
AT_1 = """\
  Live ranges at 1 (peak):
    b{}: 16 bytes (cumulative: 16 bytes)
    a{}: 8 bytes (cumulative: 24 bytes)
"""


PATH = "module_0001.f.cpu_after_optimizations-buffer-assignment.txt"  # tells the backend


def _peak(text: str) -> Peak | None:
    return peak(DumpSet([DumpFile.of_text(text, PATH)]))


def _moment(text: str) -> int | None:
    found = _peak(text)
    assert found is not None
    return found.moment


def test_a_peak_that_is_right() -> None:
    assert _peak(DUMP + RIGHT) == Peak(
        moment=None, weight=0, printed_weight=40, at=2, flaws=(), is_foreign=False
    )


def test_where_there_is_no_peak_or_no_range_nothing_is_told() -> None:
    assert _peak(DUMP) is None
    assert _peak(RIGHT) is None


@pytest.mark.parametrize(("step", "weight"), [(0, 8), (1, 24), (3, 32)])
def test_a_moment_that_the_list_was_not_made_for(step: int, weight: int) -> None:
    text = DUMP + RIGHT.replace("at 2", f"at {step}")
    assert _peak(text) == Peak(
        moment=2, weight=40, printed_weight=weight, at=2, flaws=(), is_foreign=False
    )


def test_a_moment_with_its_list_is_wrong_if_no_shape_is() -> None:
    found = _peak(DUMP + AT_1)
    assert found is not None
    assert (found.moment, found.weight, found.printed_weight) == (2, 40, 24)
    assert (found.at, found.flaws) == (1, ())
    damaged = (DUMP + AT_1).replace(": f32[2]{0}\n", ": f32[5]{0}\n")
    assert damaged != DUMP + AT_1
    found = _peak(damaged)
    assert found is not None
    assert (found.moment, found.weight, found.at) == (None, 0, 1)


def test_a_list_that_fits_neither_moment_says_nothing_of_the_moment() -> None:
    text = DUMP + AT_1.replace("    b{}: 16 bytes (cumulative: 16 bytes)\n", "")
    found = _peak(text)
    assert found is not None
    assert (found.moment, found.at) == (None, 1)
    assert [(flaw.flaw, flaw.row, flaw.keys) for flaw in found.flaws] == [
        (Flaw.MISSING, 0, ("b{}",))
    ]


def test_a_list_that_is_that_of_another_dump_is_foreign() -> None:
    rows = [f"    x.{number}{{}}: 4 bytes (cumulative: {number}4 bytes)\n" for number in range(5)]
    found = _peak(DUMP + RIGHT + "".join(rows[:4]))
    assert found is not None
    assert (len(found.flaws), found.is_foreign) == (4, False)
    found = _peak(DUMP + RIGHT + "".join(rows))
    assert found is not None
    assert len(found.flaws) > 4
    assert found.is_foreign


OLD = """\
  Live ranges at 2 (peak):
    b: 16 bytes
    c: 16 bytes
"""


@pytest.mark.parametrize(
    ("old", "new", "flaws"),
    [
        ("", "", []),
        ("    b: 16", "    b: 17", [(Flaw.BYTES, 0)]),
        ("    b: 16", "    a: 16", [(Flaw.EXTRA, 0)]),
        ("    b: 16", "    x: 16", [(Flaw.UNKNOWN, 0)]),
        ("    c: 16 bytes\n", "    b: 16 bytes\n", [(Flaw.DOUBLED, 1)]),
        # Rows of both forms are no list of any compiler.
        ("    b: 16 bytes\n", "    x{}: 16 bytes (cumulative: 16 bytes)\n", []),
    ],
)
def test_the_form_of_jax_0_4(old: str, new: str, flaws: list[tuple[Flaw, int]]) -> None:
    found = _peak(DUMP + (OLD.replace(old, new, 1) if old else OLD))
    assert found is not None
    assert found.moment is None
    assert [(flaw.flaw, flaw.row) for flaw in found.flaws] == flaws


def test_the_moment_above_a_list_of_jax_0_4() -> None:
    assert _moment(DUMP + OLD.replace("at 2", "at 1")) == 2
    assert _moment(DUMP + OLD.replace("at 2", "at 1").replace("    c: 16", "    a: 8")) == 2


@pytest.mark.parametrize("lost", ["    b{}:1-2\n", "    c{}:2-3\n", "    c{}:2-3"])
def test_where_a_range_is_missing_no_moment_is_wrong(lost: str) -> None:
    text = DUMP.replace(lost, "    ???\n" if lost.endswith("\n") else "    c{}:3-2")
    assert text != DUMP
    found = _peak(text + RIGHT)
    assert found is not None
    assert (found.moment, found.flaws) == (None, ())


def test_whether_all_sizes_fit_their_shapes() -> None:
    def fits(text: str) -> bool:
        return sizes_fit(DumpSet([DumpFile.of_text(text, PATH)]))

    assert fits(DUMP)
    assert fits("")
    assert not fits(DUMP.replace(": f32[4]{0}\n", ": f32[3]{0}\n"))
    assert not fits(DUMP.replace("size=16,offset=32", "size=17,offset=32"))
    # Of the first nothing is known, the second is wrong.
    unknown = DUMP.replace(": f32[2]{0}\n", ": new[2]{0}\n")
    assert fits(unknown)
    assert not fits(unknown.replace("size=16,offset=32", "size=17,offset=32"))
