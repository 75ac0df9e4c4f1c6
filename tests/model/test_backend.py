"""Backends by file names, and the names of their memory spaces."""

import pytest

from hlo_lsp.model.backend import Backend, backend_from_file_name, report_space_name, space_name


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("module_0000.jit_f.cl_1003875606.after_optimizations-buffer-assignment.txt", Backend.TPU),
        ("module_0000.jit_f.cl_1003875606.before_optimizations.txt", Backend.TPU),
        ("module_0001.jit_f.cpu_after_optimizations.txt", Backend.CPU),
        ("module_0001.jit_f.cpu_after_optimizations-live-range.txt", Backend.CPU),
        ("module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", Backend.GPU),
        ("module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt", Backend.GPU),
        ("module_0001.jit_f.sm_10.0f_gpu_after_optimizations.txt", Backend.GPU),
        ("module_0001.jit_f.gfx942_gpu_after_optimizations.txt", Backend.GPU),
        ("module_0001.jit_f.gfx90a_gpu_after_optimizations.txt", Backend.GPU),
        ("module_0001.jit_f.gpu_after_optimizations.txt", Backend.GPU),
        ("module_0001.jit_f.thunk_sequence.txt", Backend.GPU),
        ("module_0001.jit_f.thunk_sequence_after_thunk_passes.txt", Backend.GPU),
        ("module_0001.jit_f.gpu_target_config.pbtxt", Backend.GPU),
        ("module_0001.jit_f.before_optimizations.txt", Backend.UNKNOWN),
        ("sample_001.txt", Backend.UNKNOWN),
        ("cl_12.txt", Backend.UNKNOWN),
    ],
)
def test_file_name_implies_the_backend(name: str, backend: Backend) -> None:
    assert backend_from_file_name(name) is backend


def test_labels_of_reports_are_the_same_everywhere() -> None:
    labels = [report_space_name(number) for number in range(8)]
    assert labels == ["default", "vmem", "smem", "hbm", "host", "cmem", "color_6", "color_7"]


@pytest.mark.parametrize(
    ("number", "backend", "name"),
    [
        (0, Backend.TPU, "HBM"),
        (1, Backend.TPU, "VMEM"),
        (2, Backend.TPU, "semaphores"),
        (5, Backend.TPU, "host memory"),
        (1, Backend.GPU, "collective memory"),
        (2, Backend.GPU, "separate temp buffer"),
        (5, Backend.GPU, "pinned host memory"),
        (5, Backend.CPU, "host memory"),
        (12, Backend.TPU, None),
        (1, Backend.CPU, None),
        (1, Backend.UNKNOWN, None),
    ],
)
def test_memory_space_name_depends_on_backend(
    number: int, backend: Backend, name: str | None
) -> None:
    assert space_name(number, backend) == name
