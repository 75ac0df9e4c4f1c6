"""The size target of a dump set: backend and tuple granule."""

import pytest

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import Target, target_of

TPU = "module_0000.f.cl_7.after_optimizations-buffer-assignment.txt"
CPU = "module_0000.f.cpu_after_optimizations-buffer-assignment.txt"
GPU = "module_0000.f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
TUPLE = " value: <{id} t.{id}{{}} @0> (size={size},offset=0): (f32[2]{{0}}, f32[2]{{0}})\n"


def _file(path: str, *sizes: int) -> DumpFile:
    values = "".join(TUPLE.format(id=number, size=size) for number, size in enumerate(sizes))
    return DumpFile.of_text("BufferAssignment:\nallocation 0: size 9999:\n" + values, path)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (TPU, Target(Backend.TPU, 512)),
        (CPU, Target(Backend.CPU)),
        (GPU, Target(Backend.GPU)),
        ("renamed.txt", Target(Backend.UNKNOWN)),
    ],
)
def test_only_tpu_has_a_granule(path: str, target: Target) -> None:
    assert target_of(DumpSet([_file(path, 512, 512)])) == target


def test_most_tuples_decide() -> None:
    assert target_of(DumpSet([_file(TPU, 512, 32, 512)])) == Target(Backend.TPU, 512)
    assert target_of(DumpSet([_file(TPU, 512, 32, 32)])) == Target(Backend.TPU, 32)


def test_without_tuples_the_granule_is_not_known() -> None:
    assert target_of(DumpSet([_file(TPU)])) == Target(Backend.TPU)
    assert target_of(DumpSet([])) == Target(Backend.UNKNOWN)


def test_edit_of_the_majority_changes_the_target() -> None:
    file = _file(TPU, 512, 32)
    dump = DumpSet([file])
    before = target_of(dump)
    for size, line in ((32, 2), (32, 3)):
        text = TUPLE.format(id=line - 2, size=size).rstrip("\n")
        file.changed(file.document.edit((line, 0), (line, 999), text))
        file.refresh()
    assert before.granule in {32, 512}
    assert target_of(dump) == Target(Backend.TPU, 32)
    text = "\n".join(TUPLE.format(id=number, size=512).rstrip("\n") for number in range(5, 9))
    file.changed(file.document.edit((4, 0), (4, 0), text))
    file.refresh()
    assert target_of(dump) == Target(Backend.TPU, 512)


def test_companion_name_determines_the_backend() -> None:
    dump = DumpSet([_file("renamed.txt", 16), DumpFile.of_text("HloModule m\n", CPU)])
    assert target_of(dump) == Target(Backend.CPU)
