"""Hovers of values."""

from pathlib import Path

import marked_dump
from hlo_lsp.ide.hover.values import value_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.text import disk
from ide.hover.facts import dump_of, facts, value_facts


def test_value_card_shows_all_facts() -> None:
    assert value_facts(marked_dump.one_file().dump, 5) == {
        "value": "5, leaf {0} of `fusion`",
        "shape": "`f32[16,64]{1,0:T(8,128)S(1)}`: f32 (float), 16 x 64 (1,024 elements), "
        "row-major (dim 1 fastest), tiles (8,128)",
        "logical size": "4,096 B (4.0 KiB)",
        "padded size": "8,192 B (8.0 KiB): padded to T(8,128)",
        "padding": "4,096 B (4.0 KiB), 50.0%: dim 1: 64 -> 128 by T(8,128)",
        "memory space": "1, VMEM on TPU",
        "allocation": "4, preallocated-temp, 8,704 B (8.5 KiB), bytes 0 to 8,192",
        "shares memory with": "1 value over time: `negate.7` 4-5",
        "live range": "1-4 (3 steps): `fusion` -> `negate.7`, at VMEM's peak (step 1)",
        "uses": "1: `negate.7`",
        "op_name": "`jit(f)/mul`",
        "source": "/home/user/model.py:7",
    }


def test_title_is_name_with_index() -> None:
    dump = marked_dump.split().dump
    titles = [value_card(dump, value).title for value in map(dump.value, (3, 4, 6)) if value]
    assert titles == ["`x.1`", "`fusion{}`", "`fusion{1}`"]


def test_source_fact_has_link_target() -> None:
    dump = marked_dump.split().dump
    value = dump.value(5)
    assert value is not None
    sources = {fact.label: fact.source for fact in value_card(dump, value).facts if fact.source}
    assert sources == {"source": SourceLine("/home/user/model.py", 7)}


def test_tuple_is_a_pointer_table() -> None:
    shown = value_facts(marked_dump.split().dump, 4)
    assert shown["value"] == "4, result of `fusion`"
    assert shown["shape"].endswith(": tuple of 2 (stored as a table of pointers to its elements)")
    assert shown["logical size"] == "16 B"
    assert (
        shown["padded size"] == "32 B: a table of 4-byte pointers, rounded up to 32 B on this chip"
    )
    assert shown["padding"] == "16 B, 50.0%"


def test_value_live_at_the_peak() -> None:
    live = value_facts(marked_dump.split().dump, 3)["live range"]
    assert live == (
        "0-6 (6 steps): `x.1` -> the end of the program; its bytes are occupied "
        "during the whole program"
    )


def test_thread_local_value_has_no_live_range() -> None:
    shown = value_facts(marked_dump.split().dump, 0)
    assert shown["live range"].startswith("thread-local: ")
    assert shown["allocation"] == "0, thread-local, 512 B, bytes 0 to 512"
    assert shown["value"] == "0, result of `add.9` (add)"
    assert not shown.keys() & {"shares memory with", "uses"}


def test_custom_call_runs_its_computation_once() -> None:
    module = """\
HloModule m

%called (q: f32[8]) -> f32[8] {
  %q = f32[8] parameter(0)
  ROOT %n = f32[8] negate(%q)
}

ENTRY %e (p: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  ROOT %c = f32[8] OPCODE
}
"""
    assignment = """\
BufferAssignment:
allocation 0: size 32, thread-local:
 value: <0 n @0> (size=32,offset=0): f32[8]{0}
"""
    custom = 'custom-call(%p), custom_call_target="t", called_computations={%called}'
    for call, how in (
        (custom, "in a custom call"),
        ("map(%p), dimensions={0}, to_apply=%called", "per element"),
    ):
        files = [DumpFile.of_text(text) for text in (assignment, module.replace("OPCODE", call))]
        expected = f"thread-local: the computation runs {how} and is not scheduled"
        assert value_facts(Compile(files), 0)["live range"] == expected


def test_missing_files_omit_their_facts() -> None:
    shown = value_facts(marked_dump.split(marked_dump.VALUES).dump, 5)
    assert not shown.keys() & {"allocation", "shares memory with", "live range"}
    assert shown["logical size"] == "4,096 B (4.0 KiB)"
    assert shown["padded size"].startswith("8,192 B")
    shown = value_facts(marked_dump.split(marked_dump.ASSIGNMENT).dump, 5)
    assert not shown.keys() & {"uses", "op_name", "source"}


def test_missing_live_range_has_no_fact() -> None:
    text = marked_dump.LIVE.text.replace("    fusion{0}:1-4\n", "")
    dump = dump_of(marked_dump.ASSIGNMENT.text + text)
    assert "live range" not in value_facts(dump, 5)


def test_merged_value_is_a_phi() -> None:
    dump = dump_of(" value: <47 while.5{1,0} (phi) @0> (size=4,offset=0): s32[]")
    shown = value_facts(dump, 47)
    assert shown["value"] == "47, leaf {1,0} of `while.5`, merged by control flow (phi)"


def test_nested_tuple_is_an_element() -> None:
    dump = dump_of(" value: <47 start{0} @0> (size=512,offset=0): (f32[4]{0})")
    assert value_facts(dump, 47)["value"] == "47, element {0} of `start`"


def test_uses_beyond_limit_are_counted() -> None:
    uses = "".join(f"  user.{number}, operand 0\n" for number in range(1200))
    dump = dump_of(
        f"<1 a @0>\n positions:\n  a\n uses:\n{uses} from instruction: %a = f32[] add(%b)\n"
    )
    listed = ", ".join(f"`user.{number}`" for number in range(6))
    assert value_facts(dump, 1)["uses"] == f"1,200: {listed} and 1,194 more"


def test_printed_size_is_shown_with_expected_size() -> None:
    text = marked_dump.ASSIGNMENT.text.replace(
        "<6 fusion{1} @1> (size=512", "<6 fusion{1} @1> (size=640"
    )
    shown = value_facts(dump_of(text), 6)
    assert shown["padded size"] == "640 B as printed, but 512 B by rule: padded to T(128)"


def test_both_causes_of_padding_are_shown() -> None:
    line = " value: <1 a @0> (size=8192,offset=0): bf16[9,130]{1,0:T(8,128)(2,1)}"
    shown = value_facts(dump_of(line), 1)
    assert shown["logical size"] == "2,340 B (2.3 KiB)"
    assert shown["padding"] == (
        "5,852 B (5.7 KiB), 71.4%: dim 0: 9 -> 16 by T(8,128); dim 1: 130 -> 256 by T(8,128)"
    )


def test_stack_frames_resolve_to_python_line(corpus_small: Path) -> None:
    stem = "module_0092.jit_don.cl_1003875606.after_optimizations"
    files = [
        DumpFile.of_text(disk.read_document(corpus_small / "tpu_v5e" / name).text, name)
        for name in (f"{stem}-buffer-assignment-values.txt", f"{stem}.txt")
    ]
    dump = Compile(files)
    value = dump.value(19)
    assert value is not None
    shown = facts(value_card(dump, value))
    assert shown["op_name"] == "`jit(don)/scatter`"
    assert shown["source"] == "/home/user/models/programs.py:121 in `donate.<locals>.don`"
