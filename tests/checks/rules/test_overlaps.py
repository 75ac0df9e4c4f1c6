"""``overlap``: who is accused of being in the bytes of another one."""

import shutil
from pathlib import Path

import pytest

from checks.damage import Told, findings, found_in, related, replaced, tell

FUSION_1 = "<75 multiply_reduce_fusion{1} @1> (size=8192,offset="
FUSION_2 = "<78 fusion.2 @1> (size=512,offset="


def test_an_offset_into_another_value(sample: str) -> None:
    text = replaced(sample, FUSION_2 + "49152", FUSION_2 + "33000")
    assert tell(text) == [
        (
            "overlap",
            "42:  value: <78 fusion.2 @1> (size=512,offset=»33000«): f32[16]{0:T(128)S(1)}",
            "`fusion.2{}` and `multiply_reduce_fusion{1}` both take bytes 33,000 to 33,511 of "
            "allocation 15, and both live from step 11 to 13",
        )
    ]
    (finding,) = findings(text)
    assert [message for _, message in related(finding)] == [
        "the other value",
        "`fusion.2{}` lives from 11 to 13",
        "`multiply_reduce_fusion{1}` lives from 5 to 13",
    ]


def test_who_overlaps_with_several_is_told_once(sample: str) -> None:
    ((code, place, sentence),) = tell(replaced(sample, FUSION_1 + "32768", FUSION_1 + "41000"))
    assert (code, place[:4]) == ("overlap", "39: ")
    assert sentence == (
        "`multiply_reduce_fusion{1}` and `multiply_reduce_fusion{0}` both take bytes 45,056 to "
        "45,567 of allocation 15, and both live from step 5 to 9; it overlaps with 3 more"
    )


SHORT = """\
BufferAssignment:
allocation 0: size 16, preallocated-temp:
 value: <1 a @0> (size=8,offset=0): f32[2]{0}
 value: <2 b @0> (size=16,offset=0): f32[4]{0}

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


HloLiveRange (max 4):
  InstructionSequence:
    0:a
    1:b
    2:d
    3:c
  BufferLiveRange:
    a{}:0-1
    b{}:1-3
  Live ranges at 1 (peak):
    b{}: 16 bytes (cumulative: 16 bytes)
    a{}: 8 bytes (cumulative: 24 bytes)
"""


ASYNC = """\
BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 gather{2,0} @0> (size=32,offset=0): s32[8]{0}
 value: <2 scatter{2,0} @0> (size=64,offset=0): s32[16]{0}

Used values:
<1 gather{2,0} @0>
 positions:
  gather {2,0}
 uses:
  gather_done, operand 0 {2,0}
 from instruction: %gather = ((), (), (s32[8]{0})) async-start(), calls=%a
<2 scatter{2,0} @0>
 positions:
  scatter {2,0}
 uses:
  scatter_done, operand 0 {2,0}
 from instruction: %scatter = ((), (), (s32[16]{0})) async-start(), calls=%b


HloLiveRange (max 4):
  InstructionSequence:
    0:gather
    1:scatter
    2:gather_done
    3:scatter_done
  BufferLiveRange:
    gather{2,0}:0-2
    scatter{2,0}:1-3
  Live ranges at 1 (peak):
    scatter{2,0}: 64 bytes (cumulative: 64 bytes)
    gather{2,0}: 32 bytes (cumulative: 96 bytes)
"""


def test_calls_that_wait_for_one_another_share_what_they_keep() -> None:
    def codes(text: str) -> set[str]:
        return {code for code, _, _ in tell(text)}

    assert "overlap" not in codes(ASYNC)
    assert "overlap" in codes(ASYNC.replace("async-start()", "custom-call()"))


def test_a_life_that_goes_on_after_the_last_use() -> None:
    def overlap(text: str) -> list[Told]:
        return [one for one in tell(text) if one[0] == "overlap"]

    assert overlap(SHORT) == []
    assert overlap(replaced(SHORT, "a{}:0-1", "a{}:0-2")) == [
        (
            "overlap",
            "28:     a{}:0-»2«",
            "`a{}` and `b{}` both take bytes 0 to 7 of allocation 0, and both live from step 1 to "
            "2",
        )
    ]
    (finding,) = [
        one for one in findings(replaced(SHORT, "a{}:0-1", "a{}:0-2")) if one.code == "overlap"
    ]
    assert related(finding) == [
        ("4:  value: <2 b @0> (size=16,offset=»0«): f32[4]{0}", "the other value"),
        ("29:     »b{}:1-3«", "`b{}` lives from 1 to 3"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        # It lives in another place, too, or is used by nobody.
        [(" positions:\n  a\n", " positions:\n  a\n  t {0}\n")],
        [(" uses:\n  b, operand 0\n", " uses:\n")],
        # Another computation gets it, or nobody knows who.
        [("%b = f32[4]{0} concatenate(%a, %a), dimensions={0}", "%b = f32[4]{0} call(%a)")],
        [("    1:b\n", "    1:e\n")],
        [(" uses:\n  b, operand 0\n", " uses:\n  e, operand 0\n"), ("    2:d\n", "    2:e\n")],
        # It lives to the end of the program.
        [("a{}:0-2", "a{}:0-4"), ("b{}:1-3", "b{}:1-4")],
        # It is merged from several, or the entry is broken.
        [("<1 a @0>\n", "<1 a (phi) @0>\n")],
        [(" positions:\n  a\n", " positons:\n  a\n")],
    ],
)
def test_a_life_that_may_be_right_is_not_accused(changes: list[tuple[str, str]]) -> None:
    text = replaced(SHORT, "a{}:0-1", "a{}:0-2")
    for old, new in changes:
        text = replaced(text, old, new)
    places = [place for code, place, _ in tell(text) if code == "overlap"]
    assert [place for place in places if "offset=»" not in place] == []


def test_the_report_tells_which_of_two_has_moved_and_is_not_accused_itself(
    corpus_small: Path, tmp_path: Path
) -> None:
    for path in (corpus_small / "cpu_jax_0.6.2").glob("module_0074.jit_f.*after_optimizations*"):
        shutil.copy(path, tmp_path / path.name)
    (path,) = tmp_path.glob("*-buffer-assignment.txt")
    value = "<18 tanh.0.clone @0> (size=1048576,offset="
    path.write_text(replaced(path.read_text(), f"{value}10485888)", f"{value}12583040)"))
    ((name, found),) = found_in(tmp_path)
    assert (name, found.code, found.spot.line) == ("-buffer-assignment.txt", "overlap", 30)
    assert found.message.startswith("`tanh.0.clone{}` and `add.28{}` both take bytes")


def test_what_lives_at_other_times_may_take_the_same_bytes(sample: str) -> None:
    text = replaced(sample, FUSION_2 + "49152", FUSION_2 + "0")
    assert tell(text) == []


def test_without_live_ranges_nothing_is_told(sample: str) -> None:
    text = sample[: sample.index("HloLiveRange")].rstrip("\n") + "\n"
    assert tell(replaced(text, FUSION_2 + "49152", FUSION_2 + "33000")) == []
