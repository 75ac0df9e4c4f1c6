"""Queries over all files of one compile."""

from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind

_ASSIGNMENT = """BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[2]| at ShapeIndex {}:
 value: <1 a @0> (size=512,offset=0): f32[2]{0:T(128)}
allocation 1: size 1024, color 1, preallocated-temp:
 value: <3 f{0} @1> (size=512,offset=0): f32[2]{0:T(128)S(1)}
 value: <4 f{1} (phi) @1> (size=512,offset=512): s8[3]{0:T(512)S(1)}
"""
_VALUES = """
Total bytes used: 1536 (1.5KiB)

Used values:
<1 a @0>
 positions:
  a
 uses:
  f, operand 0
 from instruction: %a = f32[2]{0:T(128)} parameter(0), metadata={op_name="a"}
<3 f{0} @1>
 positions:
  f {0}
  g
 uses:
  (none)
 from instruction: %f = (f32[2]{0:T(128)S(1)}, s8[3]{0:T(512)S(1)}) fusion(%a), calls=%c
"""
_LIVE = """HloLiveRange (max 2):
  InstructionSequence:
    0:a
    1:f
  BufferLiveRange:
    a{}:0-2
    f{0}:1-2
    f{1}:1-1
  Live ranges at 1 (peak):
    a{}: 8 bytes (cumulative: 8 bytes)
"""


def _set(*texts: str, name: str = "dump.txt") -> Compile:
    return Compile([DumpFile.of_text(text, f"/dumps/{n}/{name}") for n, text in enumerate(texts)])


@pytest.fixture(params=["split", "one file", "reversed"])
def dump(request: pytest.FixtureRequest) -> Compile:
    """Return a compile as split files, as one file, and in another order."""
    if request.param == "one file":
        return _set(_ASSIGNMENT + _VALUES + "\n\n" + _LIVE)
    texts = [_ASSIGNMENT, _VALUES, _LIVE]
    return _set(*(reversed(texts) if request.param == "reversed" else texts))


def test_value_joins_all_files(dump: Compile) -> None:
    value = dump.value(3)
    assert value is not None
    assert (value.id, value.name, value.index, value.color) == (3, "f", "{0}", 1)
    assert (value.key, value.mention) == ("f{0}", "<3 f{0} @1>")
    assert value.assigned is not None
    assert value.assigned.record.size == 512
    assert value.allocation is not None
    assert value.allocation.record.number == 1
    assert value.entry is not None
    assert [position.name for position in value.entry.record.positions] == ["f", "g"]
    assert value.live is not None
    assert (value.live.record.start_step, value.live.record.end_step) == (1, 2)


def test_missing_facts_are_none(dump: Compile) -> None:
    value = dump.value(4)
    assert value is not None
    assert value.entry is None
    assert value.mention == "<4 f{1} (phi) @1>"
    assert dump.value(2) is None
    assert dump.value_of_key("f{2}") is None
    assert dump.value_of_key("f{}") is None


def test_values_are_found_by_key(dump: Compile) -> None:
    found = [dump.value_of_key(key) for key in ("a{}", "f{0}", "f{1}")]
    assert [value.id for value in found if value is not None] == [1, 3, 4]
    assert dump.value_ids() == [1, 3, 4]


def test_value_is_known_from_its_entry_alone() -> None:
    value = _set(_VALUES).value_of_key("a{}")
    assert value is not None
    assert (value.assigned, value.allocation, value.live) == (None, None, None)
    assert value.mention == "<1 a @0>"


def test_allocations_and_their_values(dump: Compile) -> None:
    first, second = dump.allocations()
    assert (first.record.number, second.record.number) == (0, 1)
    assert [value.id for value in dump.assigned_to(second)] == [3, 4]
    found = dump.allocation(1)
    assert found is not None
    assert found.record is second.record
    assert dump.allocation(2) is None


def test_values_stay_below_a_broken_allocation() -> None:
    dump = _set(_ASSIGNMENT.replace("allocation 1: size", "allocation 1 size"))
    value = dump.value(3)
    assert value is not None
    assert value.allocation is None
    [only] = dump.allocations()
    assert [each.id for each in dump.assigned_to(only)] == [1]


def test_broken_value_keeps_others_in_the_allocation() -> None:
    dump = _set(_ASSIGNMENT.replace("(size=512,offset=0): f32[2]{0:T(128)S(1)}", "(size=512"))
    value = dump.value(4)
    assert value is not None
    assert value.allocation is not None
    assert value.allocation.record.number == 1


def test_schedule_and_the_totals(dump: Compile) -> None:
    step, at = dump.step("f"), dump.at_step(1)
    assert step is not None
    assert at is not None
    assert (step.record.step, at.record.name) == (1, "f")
    assert dump.step("g") is None
    assert dump.at_step(2) is None
    assert (dump.last_step, dump.declared_peak, dump.total_bytes) == (2, 1, 1536)


def test_instruction_text_falls_back_to_an_entry(
    dump: Compile,
) -> None:
    text = dump.text_of("f")
    assert text is not None
    assert (text.name.text, [span.text for span in text.operands]) == ("f", ["a"])
    assert dump.text_of("g") is None
    assert dump.instruction("f") is None


def test_instruction_text_prefers_the_module() -> None:
    module = "HloModule m\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  ROOT %a = f32[2] negate(%z)\n}\n"
    text = _set(_VALUES, module).text_of("a")
    assert text is not None
    assert text.opcode.text == "negate"


def test_entries_by_position_and_use(dump: Compile) -> None:
    assert [found.record.id for found in dump.entries_at("g")] == [3]
    assert [found.record.id for found in dump.entries_used_by("f")] == [1]
    assert list(dump.entries_used_by("g")) == []


def test_shape_of_a_value() -> None:
    both, entries = _set(_ASSIGNMENT, _VALUES), _set(_VALUES)
    for dump in (both, entries):
        value = dump.value(3)
        assert value is not None
        assert dump.shape_text(value) == "f32[2]{0:T(128)S(1)}"


_TEXT = """\
HloModule m, entry_computation_layout={(f32[8]{0:T(128)})->f32[8]{0:T(128)}}

ENTRY e {
  ROOT a = f32[8]{0:T(128)} parameter(0)
}
"""


_GPU_TEXT = """\
HloModule m, frontend_attributes={fingerprint_before_lhs="ab"}

ENTRY e {
  ROOT a = f32[8]{0} parameter(0)
}
"""


@pytest.mark.parametrize(
    ("text", "name", "backend"),
    [
        (_ASSIGNMENT, "sample_001.txt", Backend.TPU),
        (_ASSIGNMENT.replace("T(", "E("), "sample_001.txt", Backend.UNKNOWN),
        (_ASSIGNMENT, "module_0001.f.cpu_after_optimizations-buffer-assignment.txt", Backend.CPU),
        (_LIVE, "module_0001.f.cl_12.after_optimizations-live-range.txt", Backend.TPU),
        (_TEXT, "compiled.txt", Backend.TPU),
        (_TEXT.replace(":T(128)", ""), "compiled.txt", Backend.UNKNOWN),
        (_GPU_TEXT, "compiled.txt", Backend.GPU),
    ],
)
def test_names_or_texts_determine_the_backend(text: str, name: str, backend: Backend) -> None:
    assert _set(text, name=name).backend is backend


def test_stack_of_a_real_instruction(corpus_small: Path) -> None:
    library = DumpWorkspace()
    [path] = [
        path
        for path in files_of(corpus_small / "flags_pass_dumps", FileKind.VALUES)
        if "while_fn" in path.name
    ]
    dump = library.compile_of(library.file(path))
    text = dump.text_of("dot_general.0")
    assert text is not None
    inner, outer, *_ = dump.stack_of(text.metadata)
    name = "whileloop.<locals>.while_fn"
    assert inner == SourceLine("/home/user/models/programs.py", 53, f"{name}.<locals>.body")
    assert outer == SourceLine("/home/user/models/programs.py", 54, name)


def test_older_compilers_print_the_line_itself(corpus_small: Path) -> None:
    library = DumpWorkspace()
    folder = corpus_small / "gpu_h100_jax_0.4.38"
    [path] = [p for p in files_of(folder, FileKind.MODULE) if "0020.jit_condp.sm" in p.name]
    dump = library.compile_of(library.file(path))
    text = dump.text_of("wrapped_convert")
    assert text is not None
    assert dump.stack_of(text.metadata) == [SourceLine("/home/user/models/programs_gpu.py", 77)]
