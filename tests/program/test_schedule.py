"""The schedule according to the module text."""

from pathlib import Path

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.schedule import scheduled_instructions, thunk_instruction
from hlo_lsp.syntax.scanners import ThunkRow

HEADER = "HloModule jit_f, is_scheduled=true, entry_computation_layout={(s32[])->s32[]}\n"


def test_entry_is_scheduled_in_text_order() -> None:
    text = """
%fused (q: s32[]) -> s32[] {
  %q = s32[] parameter(0)
  ROOT %inside = s32[] negate(%q)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %fusion = s32[] fusion(%p), kind=kLoop, calls=%fused
  ROOT %out = s32[] add(%fusion, %p)
}
"""
    assert _schedule(text) == ["p", "fusion", "out"]


WHILE = """
%body (b: s32[]) -> s32[] {
  ROOT %b = s32[] parameter(0)
}

%condition (c: s32[]) -> pred[] {
  %c = s32[] parameter(0)
  ROOT %less = pred[] compare(%c, %c), direction=LT
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  ROOT %while = s32[] while(%p), condition=%condition, body=%body
}
"""


def test_condition_and_body_precede_while() -> None:
    assert _schedule(WHILE) == ["p", "c", "less", "b", "while"]


def test_condition_precedes_body() -> None:
    swapped = WHILE.replace("condition=%condition, body=%body", "body=%body, condition=%condition")
    assert _schedule(swapped) == ["p", "c", "less", "b", "while"]


def test_computation_called_twice_is_scheduled_once() -> None:
    text = """
%callee (q: s32[]) -> s32[] {
  ROOT %q = s32[] parameter(0)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %call.1 = s32[] call(%p), to_apply=%callee
  ROOT %call.2 = s32[] call(%call.1), to_apply=%callee
}
"""
    assert _schedule(text) == ["p", "q", "call.1", "call.2"]


ASYNC = """
%wrapped (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %sum = s32[] add(%a, %b)
}

ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = ((s32[], s32[]), s32[], u32[]) async-start(OF_START), calls=%wrapped
  %update = ((s32[], s32[]), s32[], u32[]) async-update(%startOF_UPDATE)
  ROOT %done = s32[] async-done(%update)
}
"""


@pytest.mark.parametrize(
    ("of_start", "of_update", "expected"),
    [
        ("%p, %p", "", ["p", "a", "b", "sum", "start", "update", "done"]),
        ("", ", %p, %p", ["p", "start", "a", "b", "sum", "update", "done"]),
        ("%p", ", %p", ["p", "start", "a", "b", "sum", "update", "done"]),
    ],
)
def test_async_computation_runs_when_operands_are_complete(
    of_start: str, of_update: str, expected: list[str]
) -> None:
    text = ASYNC.replace("OF_START", of_start).replace("OF_UPDATE", of_update)
    assert _schedule(text) == expected


def test_omitted_async_computation_is_scheduled() -> None:
    text = """
ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = ((s32[]), s32[], u32[]) negate-start(%p)
  ROOT %done = s32[] negate-done(%start)
}
"""
    body = ["start.calls.param_0", "start.calls.negate"]
    assert _schedule(text) == ["p", *body, "start", "done"]


def test_plain_start_opcodes_keep_the_schedule() -> None:
    text = """
ENTRY %main (p: s32[]) -> s32[] {
  %p = s32[] parameter(0)
  %start = (s32[], s32[], u32[]) copy-start(%p)
  ROOT %done = s32[] copy-done(%start)
}
"""
    assert _schedule(text) == ["p", "start", "done"]


def test_unscheduled_module_has_no_schedule() -> None:
    module = DumpFile.of_text(HEADER.replace("is_scheduled=true, ", "") + WHILE).module
    assert scheduled_instructions(module) is None


def test_recursive_computation_is_scheduled_once() -> None:
    damaged = WHILE.replace(
        "ROOT %b = s32[] parameter(0)", "ROOT %b = s32[] call(), to_apply=%body"
    )
    assert _schedule(damaged) == ["p", "c", "less", "b", "while"]


def test_missing_callee_is_skipped() -> None:
    assert _schedule(WHILE.replace("%body (b", "%other (b")) == ["p", "c", "less", "while"]


def _schedule(text: str) -> list[str] | None:
    found = scheduled_instructions(DumpFile.of_text(HEADER + text).module)
    return None if found is None else [instruction.name for instruction in found]


MODULE = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %loop.add = f32[2]{0} fusion(%a), kind=kLoop, calls=%fused
  %loop_add.1 = f32[2]{0} fusion(%loop.add), kind=kLoop, calls=%fused
  %x.y = f32[2]{0} fusion(%loop_add.1), kind=kLoop, calls=%fused
  ROOT %x_y = f32[2]{0} fusion(%x.y), kind=kLoop, calls=%fused
}
"""
THUNKS = """\
001: kCustomKernel [source       | next=002 (1)] loop_add grid: [1, 1, 1] threads: [2, 1, 1]
002: kCustomKernel [prev=001 (1) | next=003 (1)] loop_add grid: [1, 1, 1] threads: [2, 1, 1]
003: kCustomKernel [prev=002 (1) | next=004 (1)] x_y grid: [1, 1, 1] threads: [2, 1, 1]
004: kCopy         [prev=003 (1) | sink        ] kCopy
"""
METADATA = """\
thunk_metadata {
  thunk_info {
    profile_annotation: "loop.add"
    thunk_id: 1
  }
  thunk_kind: "kCustomKernel"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "loop_add.1"
    thunk_id: 2
  }
  thunk_kind: "kCustomKernel"
}
thunk_metadata {
  thunk_info {
    profile_annotation: "command_buffer_7"
  }
  thunk_kind: "kCommandBuffer"
}
"""


def _instructions(dump: Compile, file: DumpFile) -> list[str | None]:
    rows = [record for record in file.records if isinstance(record, ThunkRow)]
    return [thunk_instruction(dump, row) for row in rows]


def _in_memory(thunks: str) -> tuple[Compile, DumpFile]:
    file = DumpFile.of_text(thunks, "thunks.txt")
    return Compile([DumpFile.of_text(MODULE, "module.txt"), file]), file


def _on_disk(folder: Path, **texts: str) -> tuple[Compile, DumpFile]:
    for name, text in texts.items():
        (folder / f"module_0001.jit_f.{name}.txt").write_text(text)
    stem = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations"
    (folder / f"{stem}.txt").write_text(MODULE)
    library = DumpWorkspace()
    file = library.file(folder / "module_0001.jit_f.thunk_sequence.txt")
    return library.compile_of(file), file


def test_metadata_file_resolves_shared_kernel(tmp_path: Path) -> None:
    dump, file = _on_disk(tmp_path, thunk_sequence=THUNKS, thunk_metadata=METADATA)
    assert _instructions(dump, file) == ["loop.add", "loop_add.1", None, None]


def test_unique_kernel_name_resolves_without_metadata(tmp_path: Path) -> None:
    dump, file = _on_disk(tmp_path, thunk_sequence="\n".join(THUNKS.split("\n")[1:]))
    # `loop_add` fits `loop.add` alone, `x_y` fits two.
    assert _instructions(dump, file) == ["loop.add", None, None]


def test_shared_kernel_without_metadata_is_unknown(
    tmp_path: Path,
) -> None:
    dump, file = _on_disk(tmp_path, thunk_sequence=THUNKS)
    assert _instructions(dump, file) == [None, None, None, None]


def test_row_annotation_takes_precedence(tmp_path: Path) -> None:
    row = "001: kKernel [source | sink] , kernel = loop_add, profile_annotation = x.y, launch"
    dump, file = _on_disk(tmp_path, thunk_sequence=row, thunk_metadata=METADATA)
    assert _instructions(dump, file) == ["x.y"]


def test_old_rows_resolve_by_kernel() -> None:
    dump, file = _in_memory("kKernel\t, kernel = loop_add_1, launch dimensions\nkGemm  \t\n")
    assert _instructions(dump, file) == ["loop_add.1", None]


def test_unmatched_kernel_is_unknown() -> None:
    dump, file = _in_memory("kKernel\t, kernel = sort_7, launch dimensions\n")
    assert _instructions(dump, file) == [None]


def test_invalid_metadata_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "module_0001.jit_f.thunk_metadata.txt").write_bytes(b"\0\0\0")
    dump, file = _on_disk(tmp_path, thunk_sequence=THUNKS.split("\n", maxsplit=1)[0])
    assert _instructions(dump, file) == ["loop.add"]
